/** The program of a worker thread of `sluice serve`. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { FirstChannel } from '../fleet-worker.js'
import { createLog } from '../log.js'
import { runWorker } from '../run-worker.js'
import type { ToThread, ToWorker } from '../to-worker.js'
import { FirstLink } from './first-link.js'
import { openThreadStore } from './thread-store.js'
import type { ThreadData } from './worker-threads.js'

const { id, options, handle } = workerData as ThreadData
const port = parentPort as MessagePort
const link = new FirstLink((message) => port.postMessage(message))

const channel: FirstChannel = {
  send: (message, done) => {
    port.postMessage(message)
    done?.()
  },
  onMessage: (hear) =>
    void port.on('message', (message: ToWorker | ToThread) => {
      if ('facts' in message || 'answered' in message) link.hear(message)
      else hear(message)
    }),
  close: () => port.close(),
}

const log = createLog('json', { write: (line: string) => link.log(line) }).child({ worker: id })
process.on('warning', ({ message, name, code }: Error & { code?: string }) => log.warn({ name, code }, message))
// Signals reach the first thread, which tells this one to shut down.
const never = new Promise<never>(() => {})

/** Resolves when the thread has shut down. */
export const threadMain: Promise<void> = runWorker(options, log, {
  channel,
  ended: never,
  opened: openThreadStore(handle, link),
})
