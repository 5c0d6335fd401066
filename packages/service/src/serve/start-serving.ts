import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { PolicyFile } from '../policy-file/parse-policy-file.js'
import { adviseOnPolicy } from './advise-on-policy.js'
import type { Log } from './log.js'
import { PolicySource } from './policy-source.js'
import type { ServeOptions } from './serve-options.js'
import { EXAMPLE_POLICY, startService } from './start-service.js'
import type { Listening } from './to-worker.js'
import { WorkerFleet } from './worker-fleet.js'

/** A service in one or several processes, whose policy follows its file. */
export interface Serving extends Listening {
  /** The policy at the start. */
  readonly file: PolicyFile
  /** Reads the policy file again. Never rejects: a bad file is logged, and the last good policy stays. */
  reload(): Promise<void>
  /** Stops accepting, waits for the requests in flight until the deadline, and ends. */
  close(): Promise<void>
  /** Ends all other processes at once. */
  kill(): void
}

/** Starts the service of a command line. Rejects with a `UsageError` or a `PolicyFileError` if it cannot. */
export async function startServing(options: ServeOptions, log: Log): Promise<Serving> {
  const source = await PolicySource.open(options.policy ?? EXAMPLE_POLICY, log)
  const started =
    options.workers > 1 ? await startWorkers(options, log, source) : await startAlone(options, log, source)
  adviseOnPolicy(source.file, options, log)
  return {
    ...started,
    file: source.file,
    reload: () => source.reload(),
    close: async () => {
      source.close()
      await started.close()
    },
  }
}

type Started = Omit<Serving, 'file' | 'reload'>

async function startAlone(options: ServeOptions, log: Log, source: PolicySource): Promise<Started> {
  const { service, url, store, close } = await startService(options, log, source.file)
  source.watch(
    (file) => {
      service.use(file)
      adviseOnPolicy(file, options, log)
    },
    () => service.recorder.reloaded('refused'),
  )
  return { url, store, close, kill: () => {} }
}

async function startWorkers(options: ServeOptions, log: Log, source: PolicySource): Promise<Started> {
  // Node gives all workers of port 0 the same port, but not a worker that starts after all others have died.
  const port = options.port === 0 ? await freePort(options.host) : options.port
  const fleet = new WorkerFleet(port, source.text, log)
  const { url, store } = await fleet.start(options.workers)
  source.watch(
    (file, text) => {
      fleet.use(text)
      adviseOnPolicy(file, options, log)
    },
    () => fleet.refuse(),
  )
  return { url, store, close: () => fleet.close(options.shutdownMs), kill: () => fleet.kill() }
}

/** A port that is free now. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
