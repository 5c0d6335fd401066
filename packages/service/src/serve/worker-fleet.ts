import { systemClock } from 'sluice'
import { UsageError } from '../cli/command.js'
import { KeyMask } from '../live/key-mask.js'
import type { LiveDemo } from '../live/live-events.js'
import type { FleetCentre, FleetFacts, FleetWorker } from './fleet-worker.js'
import { LiveRounds } from './live-rounds.js'
import type { Log } from './log.js'
import type { RefusedPolicy } from './policy-source.js'
import { ScrapeRound } from './scrape-round.js'
import { type ServedPolicy, textToSend } from './served-policy.js'
import type { Failure, FromThread, FromWorker, Listening } from './to-worker.js'

/** After a worker dies, the next starts so much later; twice as much after each further death, up to the most. */
const FIRST_PAUSE_MS = 100
const MOST_PAUSE_MS = 10_000
/** A worker that lived so long was well: its death is not one of a series. */
const WELL_MS = 30_000
/** A worker that does not end so long after its deadline is killed. */
const OVERTIME_MS = 1_000
/** The label `worker` of what the first thread counts for all. */
const FIRST = 'first'

/** What a fleet is made of. */
interface FleetParts {
  /** Starts one more worker: a process or a thread. */
  readonly startWorker: () => FleetWorker
  /** Where all workers listen, also those that start later. */
  readonly port: number
  /** Where all workers answer over gRPC, if they do. */
  readonly grpcPort?: number | undefined
  /** The policy at the start. */
  readonly policy: ServedPolicy
  readonly log: Log
  /** Absent for workers that need nothing but their policy. */
  readonly centre?: FleetCentre | undefined
}

/**
 * Processes or threads that serve one port together. The first one, where this runs, watches the policy file and replaces
 * workers that die. It decides no request. A worker gets its policy from here, never from the file: so a worker that starts
 * while the file is bad has the policy of all others.
 */
export class WorkerFleet {
  readonly #startWorker: () => FleetWorker
  readonly #port: number
  readonly #grpcPort: number | undefined
  readonly #log: Log
  readonly #centre: FleetCentre | undefined
  readonly #workers = new Set<FleetWorker>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  readonly #scrapes = new Map<number, ScrapeRound>()
  readonly #live: LiveRounds
  readonly #facts: FleetFacts = {
    maskSecret: new KeyMask().secret,
    pid: process.pid,
    startedMs: systemClock.now(),
  }
  #lastScrape = 0
  #policy: ServedPolicy
  /** The text that was read after the policy in force, if it is bad. */
  #refused: RefusedPolicy | undefined
  #pauseMs = FIRST_PAUSE_MS
  #isClosing = false
  #demo: LiveDemo | undefined
  /** Hears that a worker was asked to begin or end the demo. */
  switchDemo: (isRunning: boolean) => void = () => {}

  constructor({ startWorker, port, grpcPort, policy, log, centre }: FleetParts) {
    this.#startWorker = startWorker
    this.#centre = centre
    this.#port = port
    this.#grpcPort = grpcPort
    this.#policy = policy
    this.#log = log
    this.#live = new LiveRounds(policy, this.#workers)
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
  use(policy: ServedPolicy): void {
    this.#policy = policy
    this.#refused = undefined
    for (const worker of this.#workers) this.#tellPolicy(worker)
    this.#live.use(policy)
  }

  /** Tells all workers that a policy file could not be used, for their metrics and for operators. */
  refuse(refused: RefusedPolicy): void {
    this.#refused = refused
    for (const worker of this.#workers) worker.send({ refused })
  }

  /** Tells all workers whether the demo runs. */
  tellDemo(demo: LiveDemo): void {
    this.#demo = demo
    for (const worker of this.#workers) worker.send({ news: { demo } })
  }

  /** Shuts all workers down. Resolves when they have ended: those that take longer than `deadlineMs` are killed. */
  async close(deadlineMs: number): Promise<void> {
    this.#isClosing = true
    this.#live.close()
    for (const pause of this.#pauses) clearTimeout(pause)
    const ended = [...this.#workers].map((worker) => new Promise((resolve) => worker.onEnd(resolve)))
    for (const worker of this.#workers) worker.send({ close: true })
    const overtime = setTimeout(() => this.kill(), deadlineMs + OVERTIME_MS)
    await Promise.all(ended)
    clearTimeout(overtime)
  }

  /** Ends all workers at once. */
  kill(): void {
    for (const worker of this.#workers) worker.kill()
  }

  #startOne(): Promise<Listening> {
    const worker = this.#startWorker()
    this.#workers.add(worker)
    const startedMs = performance.now()
    return new Promise((resolve, reject) => {
      let isListening = false
      let failure: Failure = { message: 'a worker ended before it listened', exitCode: 1 }
      worker.onMessage((message) => {
        if ('failed' in message) failure = message.failed
        else if ('listening' in message) {
          isListening = true
          const { url } = message.listening
          this.#log.info({ worker: worker.id, ...worker.facts, url }, 'a worker listens')
          resolve(message.listening)
        } else this.#hear(worker, message)
      })
      worker.onEnd((how) => {
        this.#workers.delete(worker)
        this.#live.ended(worker)
        for (const round of this.#scrapes.values()) round.report(`${worker.id}`)
        if (!isListening) reject(new UsageError(failure.message, failure.exitCode))
        if (this.#isClosing) return
        if (isListening && performance.now() - startedMs > WELL_MS) this.#pauseMs = FIRST_PAUSE_MS
        if (isListening) this.#replace(worker, how)
      })
    })
  }

  #hear(worker: FleetWorker, message: FromWorker | FromThread): void {
    if ('awake' in message) {
      // It was told to shut down while it woke up.
      if (this.#isClosing) return
      this.#centre?.greet(worker)
      this.#tellPolicy(worker)
      this.#live.greet(worker)
      if (this.#demo !== undefined) worker.send({ news: { demo: this.#demo } })
      if (this.#refused !== undefined) worker.send({ refused: this.#refused })
    } else if ('demo' in message) this.switchDemo(message.demo)
    else if ('scrape' in message) this.#scrape(worker, message.scrape)
    else if ('sampled' in message) this.#live.report(worker, message.sampled, message.sample)
    else if ('reported' in message) this.#scrapes.get(message.reported)?.report(`${worker.id}`, message.text)
    else if ('logged' in message || 'fact' in message || 'asked' in message)
      this.#centre?.hear(message, worker, this.#workers)
  }

  #tellPolicy(worker: FleetWorker): void {
    // A worker reads the text by itself.
    const policy = textToSend(this.#policy)
    worker.send({ policy, port: this.#port, grpcPort: this.#grpcPort, fleet: this.#facts })
  }

  /** Asks all workers for their metrics, and tells `asker`. */
  #scrape(asker: FleetWorker, scraped: number): void {
    const report = ++this.#lastScrape
    const workers = [...this.#workers]
    const names = workers.map(({ id }) => `${id}`)
    const round = new ScrapeRound(this.#centre === undefined ? names : [FIRST, ...names], (text) => {
      this.#scrapes.delete(report)
      asker.send({ scraped, text })
    })
    this.#scrapes.set(report, round)
    for (const worker of workers) worker.send({ report })
    if (this.#centre !== undefined) round.report(FIRST, this.#centre.metrics())
  }

  /** Starts another worker after a pause, and once more if that cannot start. */
  #replace(worker: FleetWorker, how: object): void {
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
