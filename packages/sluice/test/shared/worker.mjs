// A worker thread that takes as fast as it can. It says how many requests were admitted.
import { parentPort, workerData } from 'node:worker_threads'
import { createLimiter, parseLimit } from 'sluice'
import { sharedStore } from 'sluice/shared'

const { handle, limit, second, keys, tries, start } = workerData
const store = sharedStore.attach(handle)
const limiter = createLimiter({ name: 'test', limit: parseLimit(limit), store })
const demands = [limit, second].map((each, i) => ({ name: i ? 'second' : 'test', limit: each, key: 'key:0', cost: 1 }))
const ask = second === undefined ? (key) => limiter.tryAcquire(key) : () => store.decide(demands)
// All workers begin together.
const ready = new Int32Array(start)
Atomics.sub(ready, 0, 1)
Atomics.notify(ready, 0)
for (let left = Atomics.load(ready, 0); left > 0; left = Atomics.load(ready, 0)) Atomics.wait(ready, 0, left)

let admitted = 0
for (let i = 0; i < tries; i++) if (ask(`key:${(i * 7919) % keys}`).allowed) admitted++
parentPort.postMessage(admitted)
