// Counts the objects that a decision allocates, except boxed numbers, without and with a recorder. Prints
// { tryAcquire: [without, with], denied: […], check: […] }. It is a process of its own, so that nothing else allocates.
import { Session } from 'node:inspector'
import { createLimiter, createPolicy, tokenBucket } from 'sluice'
import { createRecorder } from 'sluice/metrics'

const CALLS = 5_000
/** So many calls first, with and without a recorder, for the compiler. */
const WARM_UP = 100_000
/** The size of one or two boxed numbers. Every object that a decision could allocate is larger. */
const BOXES_BYTES = 32

const session = new Session()
session.connect()

function post(method, options) {
  let result
  session.post(method, options, (error, value) => {
    if (error) throw error
    result = value
  })
  return result
}

function repeat(times, call) {
  for (let i = 0; i < times; i++) call()
}

function objectsACall(call) {
  repeat(WARM_UP, call)
  const includeCollected = { includeObjectsCollectedByMinorGC: true, includeObjectsCollectedByMajorGC: true }
  post('HeapProfiler.startSampling', { samplingInterval: 16, ...includeCollected })
  repeat(CALLS, call)
  const { samples } = post('HeapProfiler.stopSampling').profile
  return samples.filter(({ size }) => size > BOXES_BYTES).length / CALLS
}

const ample = tokenBucket({ capacity: 1e9, refill: '1000000/s' })
const limiter = createLimiter({ name: 'allowed', limit: ample })
const exhausted = createLimiter({ name: 'denied', limit: tokenBucket({ capacity: 1, refill: '1/h' }) })
const policy = createPolicy({
  name: 'api',
  levels: [
    { name: 'global', limit: ample },
    { name: 'merchant', key: ['merchant'], limit: ample },
    { name: 'ip', key: ['ip'], limit: ample },
  ],
})
const request = { merchant: 'acct_1234567', ip: '192.0.2.7' }
const calls = {
  tryAcquire: () => limiter.tryAcquire('user:1234567'),
  denied: () => exhausted.tryAcquire('user:1234567'),
  check: () => policy.check(request),
}

const first = createRecorder()
for (const call of Object.values(calls)) repeat(WARM_UP, call)
first.close()
const without = Object.entries(calls).map(([name, call]) => [name, objectsACall(call)])
const recorder = createRecorder()
const both = without.map(([name, objects]) => [name, [objects, objectsACall(calls[name])]])
const counted = recorder.read().series.every(({ allowed, denied }) => allowed + denied === WARM_UP + CALLS)
process.stdout.write(JSON.stringify({ ...Object.fromEntries(both), counted }))
