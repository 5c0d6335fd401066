import { systemClock } from 'sluice'
import { LiveMaker } from '../live/live-maker.js'
import type { LiveSample } from '../live/live-sample.js'
import type { PolicyFile } from '../policy-file/parse-policy-file.js'
import type { FleetWorker } from './fleet-worker.js'

const ROUND_MS = 1_000
/** A worker that has not reported by then counts in the next round: it may be busy or dead. */
const LONGEST_MS = 500

/**
 * Once a second, asks all workers for their samples, and tells all of them what came of it. Workers are asked together: if
 * each chose its own time, a second would have two samples of one worker and none of another, and rates would jump.
 */
export class LiveRounds {
  readonly #maker: LiveMaker
  readonly #workers: ReadonlySet<FleetWorker>
  readonly #timer: NodeJS.Timeout
  #deadline: NodeJS.Timeout | undefined
  #round = 0
  /** The workers that the round waits for. */
  #missing = new Set<FleetWorker>()

  constructor(file: PolicyFile, workers: ReadonlySet<FleetWorker>) {
    this.#maker = new LiveMaker(file, systemClock.now())
    this.#workers = workers
    this.#timer = setInterval(() => this.#begin(), ROUND_MS)
    this.#timer.unref()
  }

  /** Another policy is in force. */
  use(file: PolicyFile): void {
    this.#maker.use(file)
  }

  /** Tells a worker that starts what has happened so far. */
  greet(worker: FleetWorker): void {
    worker.send({ news: this.#maker.past })
  }

  /** A worker has taken a sample. */
  report(worker: FleetWorker, round: number, sample: LiveSample): void {
    this.#maker.add(worker.id, sample)
    if (round === this.#round) this.ended(worker)
  }

  /** A worker has ended, or has nothing more to say in this round. */
  ended(worker: FleetWorker): void {
    if (this.#missing.delete(worker) && this.#missing.size === 0) this.#end()
  }

  close(): void {
    clearInterval(this.#timer)
    clearTimeout(this.#deadline)
    this.#missing.clear()
  }

  #begin(): void {
    const sample = ++this.#round
    const { wish } = this.#maker
    this.#missing = new Set(this.#workers)
    if (this.#missing.size === 0) return
    this.#deadline = setTimeout(() => this.#end(), LONGEST_MS)
    this.#deadline.unref()
    for (const worker of this.#workers) worker.send({ sample, wish })
  }

  #end(): void {
    clearTimeout(this.#deadline)
    this.#missing.clear()
    const news = this.#maker.make(systemClock.now())
    for (const worker of this.#workers) worker.send({ news })
  }
}
