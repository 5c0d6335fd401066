// `sluice serve` as a process, on free ports.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/**
 * Starts it and waits until it listens. `grpc` is the port of the gRPC door and `address` its host and port, `http` the URL
 * of the other door, `log` the lines until now.
 */
export async function startService(command, args, { port = 0 } = {}) {
  const doors = ['--http', '127.0.0.1:0', '--grpc', `127.0.0.1:${port}`, '--log', 'json']
  const stdio = ['ignore', 'pipe', 'pipe']
  const child = spawn(process.execPath, [command, 'serve', ...doors, ...args], { stdio })
  const ended = once(child, 'exit')
  const errors = []
  child.stderr.on('data', (data) => errors.push(String(data)))
  const log = []
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = JSON.parse(line)
      log.push(entry)
      if (entry.msg === 'the service listens') resolve(entry)
    })
    ended.then(() => reject(new Error(`sluice serve does not start: ${errors.join('')}${JSON.stringify(log)}`)))
  })
  const [host, grpc] = address.grpc.split('://')[1].split(':')
  return {
    address: `${host}:${grpc}`,
    grpc: Number(grpc),
    http: address.url,
    log,
    /** @param {NodeJS.Signals} signal */
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
    },
    signal: (signal) => child.kill(signal),
    ended,
  }
}
