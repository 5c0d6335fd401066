import { parsePolicyFile } from '../../../dist/policy-file/parse-policy-file.js'
import type { FleetWorker } from '../../../dist/serve/fleet-worker.js'
import { createLog } from '../../../dist/serve/log.js'
import { readServeOptions } from '../../../dist/serve/serve-options.js'
import { FirstThread } from '../../../dist/serve/threads/first-thread.js'
import { workerThreads } from '../../../dist/serve/threads/worker-threads.js'
import { WorkerFleet } from '../../../dist/serve/worker-fleet.js'
import type { LogLine } from '../serve-process.js'

const ADMIN_TOKEN = 'the-admin-token-of-tests'

/** Options of a service with threads that listen on ports of their own, which any version of Node.js can do. */
export function threadOptions(values: Readonly<Record<string, string>> = {}) {
  const given = { http: '127.0.0.1:0', workers: '3', 'admin-token': ADMIN_TOKEN, ...values }
  return { ...readServeOptions(given, {}, '22.12.0'), reusePort: false }
}

/** A policy with these levels. */
function policyOf(levels: readonly object[]) {
  return parsePolicyFile(JSON.stringify({ version: 1, levels }), { file: 'policy.json' })
}

/** An answer of the service in JSON. */
export interface Answer {
  readonly status: number
  readonly body: Record<string, unknown> & {
    readonly levels?: readonly { readonly quota: number; readonly remaining: number }[]
  }
}

/** The fleet of `sluice serve --workers 3`, each thread on a port of its own: a test chooses which one it asks. */
export class ThreadService {
  readonly logged: LogLine[] = []
  readonly fleet: WorkerFleet
  readonly #workers = new Map<number, FleetWorker>()

  private constructor(levels: readonly object[]) {
    const log = createLog('json', { write: (line: string) => void this.logged.push(JSON.parse(line)) })
    const centre = new FirstThread(log)
    const start = workerThreads(threadOptions(), centre.table.handle)
    const startWorker = () => {
      const worker = start()
      this.#workers.set(worker.id, worker)
      return worker
    }
    this.fleet = new WorkerFleet({
      startWorker,
      port: 0,
      policy: policyOf(levels),
      log,
      centre,
    })
  }

  /** Puts another policy in force in all threads. */
  use(levels: readonly object[]): void {
    this.fleet.use(policyOf(levels))
  }

  static async start(levels: readonly object[], count = 3): Promise<ThreadService> {
    const service = new ThreadService(levels)
    await service.fleet.start(count)
    return service
  }

  /** The ids of the threads that listen, in their order. */
  get threads(): readonly number[] {
    const named = (message: string) => this.logged.filter(({ msg }) => msg === message).map(({ worker }) => worker)
    const ended = named('a worker ended; another takes its place')
    return named('a worker listens')
      .filter((worker) => !ended.includes(worker))
      .map(Number)
      .sort((one, other) => one - other)
  }

  urlOf(thread: number): string {
    return String(this.logged.find(({ msg, worker }) => msg === 'a worker listens' && worker === thread)?.url)
  }

  /** Ends a thread at once. */
  kill(thread: number): void {
    this.#workers.get(thread)?.kill()
  }

  /** Makes a thread fail: it gets a policy that it cannot read. */
  crash(thread: number): void {
    this.#workers
      .get(thread)
      ?.send({ policy: { file: 'broken.json', text: '{' }, port: 0, fleet: { maskSecret: '', pid: 1, startedMs: 0 } })
  }

  /** Asks one thread: with a body by POST, otherwise by GET. */
  async ask(thread: number, path: string, body?: object, key?: string): Promise<Answer> {
    const headers = {
      Authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(key !== undefined && { 'Idempotency-Key': key }),
    }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(this.urlOf(thread) + path, init)
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }

  /** What a user has left of the first level, asked of one thread. */
  async left(thread: number, user: string): Promise<number | undefined> {
    const { body } = await this.ask(thread, '/v1/check', { attributes: { user }, cost: 0 })
    return body.levels?.[0].remaining
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.fleet.close(10_000)
  }
}
