import type { Appointment } from './agenda.js'
import type { Line } from './line.js'

/** How somebody waits. */
export interface Patience {
  readonly cost: number
  readonly signal: AbortSignal | undefined
  /** `Infinity` for as long as it takes. */
  readonly maxWaitMs: number
}

/** Somebody who waits: in a line for units, then perhaps for the slot that they are. */
export class Waiter<A> implements Appointment {
  readonly line: Line<A>
  readonly cost: number
  readonly signal: AbortSignal | undefined
  readonly maxWaitMs: number
  readonly deadlineMs: number
  readonly resolve: (answer: A) => void
  readonly reject: (reason: unknown) => void
  /** A slot that was given, and is waited for. */
  slot: A | undefined
  isDone = false
  /** The store is being asked for its units. */
  isAsked = false
  next: Waiter<A> | undefined
  previous: Waiter<A> | undefined

  // Its appointment is its slot or, as long as it has none, its deadline, which comes after all that is due by then.
  atMs = 0
  rank = 1
  order = 0
  place = -1

  constructor(
    line: Line<A>,
    { cost, signal, maxWaitMs }: Patience,
    nowMs: number,
    resolve: (answer: A) => void,
    reject: (reason: unknown) => void,
  ) {
    this.line = line
    this.cost = cost
    this.signal = signal
    this.maxWaitMs = maxWaitMs
    this.deadlineMs = nowMs + maxWaitMs
    this.resolve = resolve
    this.reject = reject
  }
}
