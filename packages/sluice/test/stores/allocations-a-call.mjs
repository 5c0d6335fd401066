// Counts the objects that a call of tryAcquire allocates, except boxed numbers. Takes the limit as JSON and prints
// { allowed, peeked, denied }. It is a process of its own, so that nothing else allocates.
import { Session } from 'node:inspector'
import { createLimiter, parseLimit } from 'sluice'

const CALLS = 20_000
/** The size of one or two boxed numbers. Every object that a call could allocate is larger. */
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

function objectsACall(call) {
  for (let i = 0; i < 200_000; i++) call()
  const includeCollected = { includeObjectsCollectedByMinorGC: true, includeObjectsCollectedByMajorGC: true }
  post('HeapProfiler.startSampling', { samplingInterval: 16, ...includeCollected })
  for (let i = 0; i < CALLS; i++) call()
  const { samples } = post('HeapProfiler.stopSampling').profile
  return samples.filter(({ size }) => size > BOXES_BYTES).length / CALLS
}

const limiter = createLimiter({ limit: parseLimit(JSON.parse(process.argv[2])) })
const allowed = objectsACall(() => limiter.tryAcquire('user:1234567'))
const peeked = objectsACall(() => limiter.peek('user:1234567'))
limiter.charge('user:1234567', { cost: 1_000_000 })
const denied = objectsACall(() => limiter.tryAcquire('user:1234567'))
process.stdout.write(JSON.stringify({ allowed, peeked, denied }))
