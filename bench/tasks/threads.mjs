import { Worker } from 'node:worker_threads'
import { sharedStore } from 'sluice/shared'

const workerFile = new URL('./threads-worker.mjs', import.meta.url)

/**
 * Decisions a second of all worker threads together. Time in which a thread waited for a busy CPU does not count. With
 * `store: 'memory'` each thread has a memory store of its own.
 */
export async function threads({ store, keys, workers }) {
  const handle = store === 'shared' ? sharedStore({ maxKeys: keys }).handle : undefined
  const start = new SharedArrayBuffer(4)
  new Int32Array(start)[0] = workers
  const rates = Array.from({ length: workers }, (_, i) => rateOf({ handle, keys, seed: i + 1, start }))
  return { perSecond: (await Promise.all(rates)).reduce((sum, rate) => sum + rate) }
}

function rateOf(workerData) {
  return new Promise((resolve, reject) => {
    new Worker(workerFile, { workerData }).once('message', resolve).once('error', reject)
  })
}
