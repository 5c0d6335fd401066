import cluster, { type Worker } from 'node:cluster'
import { UsageError } from '../cli/command.js'
import type { Log } from './log.js'
import type { PolicyText } from './policy-source.js'
import { ScrapeRound } from './scrape-round.js'
import type { Failure, FromWorker, Listening, ToWorker } from './to-worker.js'

/** After a worker dies, the next starts so much later; twice as much after each further death, up to the most. */
const FIRST_PAUSE_MS = 100
const MOST_PAUSE_MS = 10_000
/** A worker that lived so long was well: its death is not one of a series. */
const WELL_MS = 30_000
/** A worker that does not end so long after its deadline is killed. */
const OVERTIME_MS = 1_000

/**
 * Processes that serve one port together. This process accepts connections and deals them out, watches the policy file
 * and replaces workers that die. It decides nothing. A worker gets its policy from here, never from the file: so a worker
 * that starts while the file is bad has the policy of all others.
 */
export class WorkerFleet {
  readonly #port: number
  readonly #log: Log
  readonly #workers = new Set<Worker>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  readonly #scrapes = new Map<number, ScrapeRound>()
  #lastScrape = 0
  #policy: PolicyText
  #pauseMs = FIRST_PAUSE_MS
  #isClosing = false

  /** `port` is where all workers listen, also those that start later: not 0. */
  constructor(port: number, policy: PolicyText, log: Log) {
    this.#port = port
    this.#policy = policy
    this.#log = log
  }

  /** Starts the workers, and resolves when all of them listen. If one cannot, all end, and it rejects with its reason. */
  async start(count: number): Promise<Listening> {
    try {
      const started = await Promise.all(Array.from({ length: count }, () => this.#startOne()))
      return started[0]
    } catch (error) {
      await this.close(0)
      throw error
    }
  }

  /** Puts another policy in force in all workers. */
  use(policy: PolicyText): void {
    this.#policy = policy
    for (const worker of this.#workers) tell(worker, { policy, port: this.#port })
  }

  /** Tells all workers that a policy file could not be used, for their metrics. */
  refuse(): void {
    for (const worker of this.#workers) tell(worker, { refused: true })
  }

  /** Shuts all workers down. Resolves when they have ended: those that take longer than `deadlineMs` are killed. */
  async close(deadlineMs: number): Promise<void> {
    this.#isClosing = true
    for (const pause of this.#pauses) clearTimeout(pause)
    const ended = [...this.#workers].map((worker) => new Promise((resolve) => worker.once('exit', resolve)))
    for (const worker of this.#workers) tell(worker, { close: true })
    const overtime = setTimeout(() => this.kill(), deadlineMs + OVERTIME_MS)
    await Promise.all(ended)
    clearTimeout(overtime)
  }

  /** Ends all workers at once. */
  kill(): void {
    for (const worker of this.#workers) worker.process.kill('SIGKILL')
  }

  #startOne(): Promise<Listening> {
    const worker = cluster.fork()
    this.#workers.add(worker)
    const startedMs = performance.now()
    return new Promise((resolve, reject) => {
      let isListening = false
      let failure: Failure = { message: 'a worker ended before it listened', exitCode: 1 }
      worker.on('message', (message: FromWorker) => {
        if ('awake' in message) tell(worker, { policy: this.#policy, port: this.#port })
        else if ('failed' in message) failure = message.failed
        else if ('scrape' in message) this.#scrape(worker, message.scrape)
        else if ('reported' in message) this.#scrapes.get(message.reported)?.report(`${worker.id}`, message.text)
        else {
          isListening = true
          this.#log.info({ worker: worker.id, pid: worker.process.pid }, 'a worker listens')
          resolve(message.listening)
        }
      })
      worker.once('exit', (code, signal) => {
        this.#workers.delete(worker)
        for (const round of this.#scrapes.values()) round.report(`${worker.id}`)
        if (!isListening) reject(new UsageError(failure.message, failure.exitCode))
        if (this.#isClosing) return
        if (isListening && performance.now() - startedMs > WELL_MS) this.#pauseMs = FIRST_PAUSE_MS
        if (isListening) this.#replace(worker, { code, signal })
      })
    })
  }

  /** Asks all workers for their metrics, and tells `asker`. */
  #scrape(asker: Worker, scraped: number): void {
    const report = ++this.#lastScrape
    const workers = [...this.#workers]
    const round = new ScrapeRound(
      workers.map(({ id }) => `${id}`),
      (text) => {
        this.#scrapes.delete(report)
        tell(asker, { scraped, text })
      },
    )
    this.#scrapes.set(report, round)
    for (const worker of workers) tell(worker, { report })
  }

  /** Starts another worker after a pause, and once more if that cannot start. */
  #replace(worker: Worker, how: object): void {
    const inMs = this.#pauseMs
    this.#pauseMs = Math.min(2 * inMs, MOST_PAUSE_MS)
    this.#log.error({ worker: worker.id, ...how, inMs }, 'a worker ended; another takes its place')
    const pause = setTimeout(() => {
      this.#pauses.delete(pause)
      this.#startOne().catch((error: Error) => {
        if (!this.#isClosing) this.#replace(worker, { reason: error.message })
      })
    }, inMs)
    this.#pauses.add(pause)
  }
}

/** A worker that has just died cannot be told: its successor is told instead. */
function tell(worker: Worker, message: ToWorker): void {
  worker.send(message, () => {})
}
