// One thread of the task `threads`: fills the store, waits for the others, asks for a while, and says how fast it was.
import { openSync, readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { createLimiter, memoryStore, tokenBucket } from 'sluice'
import { sharedStore } from 'sluice/shared'
import { askAll } from '../ask-all.mjs'
import { everyId, randomIds } from '../ids.mjs'

const WARM_UP_MS = 500
const MEASURED_MS = 1_500
const CALLS_A_PASS = 20_000
const MOST_PASSES = 100

const { handle, keys, seed, start } = workerData
const store = handle === undefined ? memoryStore() : sharedStore.attach(handle)
const limiter = createLimiter({ name: 'bench', limit: tokenBucket({ capacity: 1_000, refill: '1/h' }), store })
const subject = { ask: (key) => limiter.tryAcquire(key), isAllowed: (decision) => decision.allowed }
const schedstat = openSchedstat()

await askAll(subject, everyId(keys))
const ids = randomIds(keys, MOST_PASSES * CALLS_A_PASS, seed)
await askFor(WARM_UP_MS)
const ready = new Int32Array(start)
Atomics.sub(ready, 0, 1)
Atomics.notify(ready, 0)
for (let left = Atomics.load(ready, 0); left > 0; left = Atomics.load(ready, 0)) Atomics.wait(ready, 0, left)
parentPort.postMessage(await askFor(MEASURED_MS))

/** Asks in passes of many calls until this much time has passed. Returns calls a second. */
async function askFor(wantedMs) {
  const begin = workedMs()
  let calls = 0
  let ms = 0
  while (ms < wantedMs) {
    const from = calls % ids.length
    await askAll(subject, ids.subarray(from, from + CALLS_A_PASS))
    calls += CALLS_A_PASS
    ms = workedMs() - begin
  }
  return (calls / ms) * 1_000
}

/** The time of this thread, without that in which it waited for a busy CPU, as far as the system tells. */
function workedMs() {
  if (schedstat === undefined) return performance.now()
  const buffer = Buffer.alloc(128)
  const size = readSync(schedstat, buffer, 0, buffer.length, 0)
  return performance.now() - Number(buffer.latin1Slice(0, size).split(' ')[1]) / 1e6
}

function openSchedstat() {
  try {
    return openSync('/proc/thread-self/schedstat')
  } catch {
    return undefined
  }
}
