// Imported, so that a test that replaces the global timers does not stop decisions.
import { setImmediate, setTimeout } from 'node:timers'
import type { Turn } from './call.js'

const { performance } = globalThis

/** A timer that is so late says that the process was busy, and for so long nothing is held against Redis then. */
const BUSY_MS = 5
const GRACE_MS = 10

interface Ending<T> {
  readonly turn: T
  readonly endsMs: number
}

/** Lets turns expire that are still open, all by one timer: they end in the order in which they began. */
export class Deadlines<T extends { readonly open: number } = Turn> {
  readonly #deadlineMs: number
  readonly #expire: (turn: T) => void
  readonly #turns: Ending<T>[] = []
  #timer: NodeJS.Timeout | undefined
  #isHeld = false

  constructor(deadlineMs: number, expire: (turn: T) => void) {
    this.#deadlineMs = deadlineMs
    this.#expire = expire
  }

  /** Somebody waits for an answer: the process must not end before it is there. */
  hold(): void {
    this.#isHeld = true
    this.#timer?.ref()
  }

  /** Nobody waits any more, and nothing is left to keep a process alive for. */
  release(): void {
    this.#isHeld = false
    this.#timer?.unref()
  }

  add(turn: T): void {
    while (this.#turns.length > 0 && this.#turns[0].turn.open === 0) this.#turns.shift()
    this.#turns.push({ turn, endsMs: performance.now() + this.#deadlineMs })
    if (this.#timer === undefined) this.#wait(this.#deadlineMs)
  }

  #wait(ms: number): void {
    const dueMs = performance.now() + ms
    this.#run(ms, () => {
      // A reply may have come while the process was busy. It is read before the immediate runs; and a client that could
      // not even send gets a moment to do so.
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
    const turns = this.#turns
    let past = 0
    // A millisecond is what timers can be early by.
    while (past < turns.length && (turns[past].turn.open === 0 || turns[past].endsMs <= nowMs + 1)) past++
    const ended = turns.splice(0, past)
    if (turns.length > 0) this.#wait(turns[0].endsMs - nowMs)
    else this.#timer = undefined
    for (const { turn } of ended) if (turn.open > 0) this.#expire(turn)
  }
}
