import type { Decision } from '../../limits/index.js'
import type { Appointment } from '../../waiting/agenda.js'

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

/** Those who wait for units of one key, in the order in which they came. Anybody leaves in a few steps. */
export class Line<A> implements Appointment {
  readonly key: string
  first: Waiter<A> | undefined
  last: Waiter<A> | undefined

  /** How many questions the store has not answered yet: all for `askedCost`. */
  underway = 0
  askedCost = 0
  /** Units may have come back since the store was asked. */
  hasNews = false
  /** What the store has said to what it was asked last, if it was no. */
  denial: Decision | undefined
  /** How often in a row it has said no. */
  denials = 0
  /** What it has left, as far as is known. */
  remaining = 0
  /** Until then nobody here gets anything, as far as is known. */
  nothingUntilMs = 0
  /** From then on the first gets what it wants at the latest, if nobody else does before, as far as is known. */
  readyMs = 0
  /** Those whose time was over while the store was being asked: what it says still counts. */
  overdue: Waiter<A>[] = []

  // Its appointment is when to ask for the first in line again.
  atMs = 0
  readonly rank = 0
  order = 0
  place = -1

  constructor(key: string) {
    this.key = key
  }

  push(waiter: Waiter<A>): void {
    waiter.previous = this.last
    if (this.last === undefined) this.first = waiter
    else this.last.next = waiter
    this.last = waiter
  }

  remove(waiter: Waiter<A>): void {
    const { previous, next } = waiter
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
    waiter.previous = undefined
    waiter.next = undefined
  }
}
