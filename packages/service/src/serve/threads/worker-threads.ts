import { Worker } from 'node:worker_threads'
import type { SharedStoreHandle } from 'sluice/shared'
import type { FleetWorker } from '../fleet-worker.js'
import type { ServeOptions } from '../serve-options.js'

/** What a thread is given when it starts. */
export interface ThreadData {
  readonly id: number
  readonly options: ServeOptions
  readonly handle: SharedStoreHandle
}

const ENTRY = new URL('./thread-main.js', import.meta.url)

/** A function that starts one more worker that is a thread, which joins the table of this handle. */
export function workerThreads(options: ServeOptions, handle: SharedStoreHandle): () => FleetWorker {
  let last = 0
  return () => {
    const id = ++last
    const worker = new Worker(ENTRY, { workerData: { id, options, handle } satisfies ThreadData })
    // A thread that dies of an exception or of too little memory says so here, and then ends.
    let reason: string | undefined
    worker.on('error', (error) => {
      reason = error.message
    })
    return {
      id,
      facts: { thread: worker.threadId },
      send: (message) => worker.postMessage(message),
      onMessage: (hear) => void worker.on('message', hear),
      onEnd: (hear) => void worker.once('exit', (code) => hear(reason === undefined ? { code } : { code, reason })),
      kill: () => void worker.terminate(),
    }
  }
}
