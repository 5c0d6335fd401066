// `sluice serve --envoy-config` as a process, on free ports.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Starts it and waits until it listens. `address` is that of the gRPC door. */
export async function startService(command, folder) {
  const args = ['serve', '--envoy-config', folder, '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--log', 'json']
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  try {
    for await (const line of lines) {
      const { msg, grpc } = JSON.parse(line)
      if (msg === 'the service listens') return { address: grpc.split('://')[1], stop: () => stop(child, ended) }
    }
  } finally {
    child.stdout.resume()
  }
  throw new Error('sluice serve does not start')
}

async function stop(child, ended) {
  child.kill()
  await ended
}
