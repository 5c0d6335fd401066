import cluster from 'node:cluster'
import type { FirstChannel, FleetWorker } from './fleet-worker.js'

/**
 * Starts a worker that is a process. The first process accepts connections and deals them out. A worker reads the command
 * line by itself; an admin token that was made up for this run is not on it.
 */
export function startWorkerProcess(demoToken?: string): FleetWorker {
  const worker = cluster.fork(demoToken === undefined ? {} : { SLUICE_ADMIN_TOKEN: demoToken })
  return {
    id: worker.id,
    facts: { pid: worker.process.pid },
    send: (message) => void worker.send(message, () => {}),
    onMessage: (hear) => void worker.on('message', hear),
    onEnd: (hear) => void worker.once('exit', (code, signal) => hear({ code, signal })),
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

/** The channel of a worker process. */
export function processChannel(): FirstChannel {
  return {
    send: (message, done = () => {}) => void process.send?.(message, undefined, undefined, done),
    onMessage: (hear) => void process.on('message', hear),
    close: () => process.disconnect?.(),
  }
}
