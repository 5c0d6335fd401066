// Imported, so that a test that replaces the global timers does not stop decisions.
import { setImmediate, setTimeout } from 'node:timers'

// Held for the same reason.
const { performance } = globalThis

/** A timer that is this late shows that the process was busy. Then the server gets this much more time to answer. */
const BUSY_MS = 5
const GRACE_MS = 10

/** Something that expires at `endsMs` (set by `add`) if it is still open then. */
export interface Expiring {
  /** 0 once nothing waits for it any more. */
  readonly open: number
  endsMs: number
}

/** Expires each open entry `deadlineMs` after it was added. One timer serves all, because they end in order. */
export class Deadlines<T extends Expiring> {
  readonly #deadlineMs: number
  readonly #expire: (entry: T) => void
  readonly #entries: T[] = []
  #timer: NodeJS.Timeout | undefined
  #isHeld = false

  constructor(deadlineMs: number, expire: (entry: T) => void) {
    this.#deadlineMs = deadlineMs
    this.#expire = expire
  }

  /** A caller waits for an answer: the timer keeps the process alive from now on. */
  hold(): void {
    this.#isHeld = true
    this.#timer?.ref()
  }

  /** No caller waits any more: the timer keeps the process alive no longer. */
  release(): void {
    this.#isHeld = false
    this.#timer?.unref()
  }

  add(entry: T): void {
    while (this.#entries.length > 0 && this.#entries[0].open === 0) this.#entries.shift()
    entry.endsMs = performance.now() + this.#deadlineMs
    this.#entries.push(entry)
    if (this.#timer === undefined) this.#wait(this.#deadlineMs)
  }

  #wait(ms: number): void {
    const dueMs = performance.now() + ms
    this.#run(ms, () => {
      // A reply may have come while the process was busy: it is read before the immediate runs. A client that could not
      // even send its call gets a moment to do so.
      if (performance.now() - dueMs > BUSY_MS) this.#run(GRACE_MS, () => setImmediate(() => this.#check()))
      else setImmediate(() => this.#check())
    })
  }

  #run(ms: number, then: () => void): void {
    this.#timer = setTimeout(then, Math.max(1, ms))
    if (!this.#isHeld) this.#timer.unref()
  }

  #check(): void {
    const nowMs = performance.now()
    const entries = this.#entries
    let past = 0
    // Timers can be up to a millisecond early.
    while (past < entries.length && (entries[past].open === 0 || entries[past].endsMs <= nowMs + 1)) past++
    const ended = entries.splice(0, past)
    if (entries.length > 0) this.#wait(entries[0].endsMs - nowMs)
    else this.#timer = undefined
    for (const entry of ended) if (entry.open > 0) this.#expire(entry)
  }
}
