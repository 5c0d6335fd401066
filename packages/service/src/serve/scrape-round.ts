import { mergeScrapes } from '../recorder/merge-scrapes.js'

/** A worker that has not reported by then is left out: it may be busy or dead. */
const LONGEST_MS = 1_000

/**
 * One scrape of all workers. A scrape reaches one worker, by chance; counts that came from another worker each time would
 * jump up and down. So that worker asks the first process, and the first process asks all workers.
 */
export class ScrapeRound {
  readonly #texts = new Map<string, string>()
  readonly #missing: Set<string>
  readonly #done: (text: string) => void
  readonly #timer: NodeJS.Timeout

  /** Calls `done` once, when all workers have reported or after a second. */
  constructor(workers: Iterable<string>, done: (text: string) => void) {
    this.#missing = new Set(workers)
    this.#done = done
    this.#timer = setTimeout(() => this.#end(), LONGEST_MS)
  }

  /** A worker has reported its metrics; without a text, it has ended. */
  report(worker: string, text?: string): void {
    if (!this.#missing.delete(worker)) return
    if (text !== undefined) this.#texts.set(worker, text)
    if (this.#missing.size === 0) this.#end()
  }

  #end(): void {
    this.#missing.clear()
    clearTimeout(this.#timer)
    this.#done(mergeScrapes(this.#texts))
  }
}
