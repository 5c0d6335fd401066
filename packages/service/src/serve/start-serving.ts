import { DemoRun } from '../demo/demo-run.js'
import { adviseOnPolicy } from './advise-on-policy.js'
import { freePort } from './free-port.js'
import type { Log } from './log.js'
import { PolicySource } from './policy-source.js'
import type { ServeOptions } from './serve-options.js'
import type { ServedPolicy } from './served-policy.js'
import { policyPlaceOf, startService } from './start-service.js'
import { startWorkerProcess } from './start-worker-process.js'
import { findUnkeptLimits } from './threads/find-unkept-limits.js'
import { FirstThread } from './threads/first-thread.js'
import { workerThreads } from './threads/worker-threads.js'
import type { Listening } from './to-worker.js'
import { WorkerFleet } from './worker-fleet.js'

/** A service in one or several processes or threads, whose policy follows its file. */
export interface Serving extends Listening {
  /** The policy at the start. */
  readonly file: ServedPolicy
  /** Reads the policy file again. Never rejects: a bad file is logged, and the last good policy stays. */
  reload(): Promise<void>
  /** Stops accepting, waits for the requests in flight until the deadline, and ends. */
  close(): Promise<void>
  /** Ends all other processes and threads at once. */
  kill(): void
}

/** Starts the service of a command line. Rejects with a `UsageError` or a `PolicyFileError` if it cannot. */
export async function startServing(options: ServeOptions, log: Log): Promise<Serving> {
  const first = options.workers > 1 && options.store === 'memory' ? new FirstThread(log) : undefined
  const source = await PolicySource.open(policyPlaceOf(options), log, (levels) =>
    first === undefined ? [] : findUnkeptLimits(levels, first.table),
  )
  const started =
    options.workers > 1 ? await startWorkers(options, log, source, first) : await startAlone(options, log, source)
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
  const { service, url, grpcUrl, store, close } = await startService(options, log, source.file)
  source.watch(
    (file) => {
      service.use(file)
      adviseOnPolicy(file, options, log)
    },
    (refused) => service.refuse(refused),
  )
  const demo = beginDemo(options, url, (isRunning) => service.recorder.board.hear({ demo: { isRunning } }))
  service.switchDemo = demo && ((isRunning) => demo.run(isRunning))
  return {
    url,
    grpcUrl,
    store,
    close: () => {
      demo?.close()
      return close()
    },
    kill: () => {},
  }
}

/** Starts processes or, with a first thread, threads. */
async function startWorkers(
  options: ServeOptions,
  log: Log,
  source: PolicySource,
  first: FirstThread | undefined,
): Promise<Started> {
  const fleet = new WorkerFleet({
    startWorker:
      first === undefined ? () => startWorkerProcess(options.demoToken) : workerThreads(options, first.table.handle),
    ...(await portsOf(options, first !== undefined)),
    policy: source.file,
    log,
    centre: first,
  })
  const { url, grpcUrl, store } = await fleet.start(options.workers)
  source.watch(
    (file) => {
      fleet.use(file)
      adviseOnPolicy(file, options, log)
    },
    (refused) => fleet.refuse(refused),
  )
  const demo = beginDemo(options, url, (isRunning) => fleet.tellDemo({ isRunning }))
  fleet.switchDemo = (isRunning) => demo?.run(isRunning)
  return {
    url,
    grpcUrl,
    store,
    close: () => {
      demo?.close()
      return fleet.close(options.shutdownMs)
    },
    kill: () => fleet.kill(),
  }
}

/** The demo runs here and in no worker: so there is one, and it outlives workers. */
function beginDemo(options: ServeOptions, url: string, tell: (isRunning: boolean) => void): DemoRun | undefined {
  return options.demo ? new DemoRun({ url, hasWorkers: options.workers > 1, tell }) : undefined
}

/** Where all workers listen. */
async function portsOf({ host, port, grpc, reusePort }: ServeOptions, isThreaded: boolean) {
  // Threads that do not share a port have one each.
  if (isThreaded && !reusePort) return { port, grpcPort: grpc?.port }
  // Node gives all processes of port 0 the same port, but not a process that starts after all others have died.
  const free = async (at: { readonly host: string; readonly port: number }, option: string) =>
    reusePort || at.port === 0 ? await freePort(at.host, at.port, option) : at.port
  const found = await free({ host, port }, 'http')
  let grpcPort = grpc && (await free(grpc, 'grpc'))
  // A port that was free a moment ago is free again.
  while (grpc?.port === 0 && grpcPort === found) grpcPort = await free(grpc, 'grpc')
  return { port: found, grpcPort }
}
