import type { Reminder } from './agenda.js'

/** How a caller waits. */
export interface WaitRequest {
  readonly cost: number
  /** Waiters of a higher priority leave first. */
  readonly priority: number
  /** When it is aborted, the wait ends. */
  readonly signal: AbortSignal | undefined
  /** After so many milliseconds the wait ends. `Infinity`: never. */
  readonly maxWaitMs: number
}

/** A caller that waits. `Owner` is the object in whose line it stands. */
export class Waiter<Owner, Result> {
  readonly owner: Owner
  readonly request: WaitRequest
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void

  /** Only the room changes it: rings at the deadline, or when a result that the waiter already has may be used. */
  reminder: Reminder | undefined = undefined
  // Only the line changes the following fields.
  arrival = 0
  samePriority: SamePriority<this> | undefined = undefined
  next: this | undefined = undefined
  previous: this | undefined = undefined

  constructor(owner: Owner, request: WaitRequest, resolve: (result: Result) => void, reject: (error: unknown) => void) {
    this.owner = owner
    this.request = request
    this.resolve = resolve
    this.reject = reject
  }

  get cost(): number {
    return this.request.cost
  }

  get isInLine(): boolean {
    return this.samePriority !== undefined
  }
}

/** The waiters of one priority, first come first. */
interface SamePriority<W> {
  readonly priority: number
  first: W | undefined
  last: W | undefined
  /** The costs of all of them. */
  units: number
}

/**
 * Waiters in the order in which they leave: by priority, and first come first within a priority. A waiter may leave from
 * anywhere in the line, in constant time.
 *
 * No waiter starves. A waiter's rank is its number of arrival less `step` for each step of priority, and the lowest rank
 * leaves first. So a waiter of priority 1 overtakes those of priority 0 among the last `step` arrivals, and no others.
 */
export class Line<W extends Waiter<unknown, never>> {
  readonly #step: number
  readonly #priorities: SamePriority<W>[] = []
  #arrivals = 0
  #size = 0

  constructor(step: number) {
    this.#step = step
  }

  get size(): number {
    return this.#size
  }

  /** The costs of all waiters. */
  get units(): number {
    return this.unitsBefore(-Infinity)
  }

  get first(): W | undefined {
    return this.#best(({ first }) => first, 1)
  }

  get last(): W | undefined {
    return this.#best(({ last }) => last, -1)
  }

  /** How many leave before this waiter. Takes time in proportion to that number. */
  countBefore(waiter: W): number {
    let count = 0
    for (const { first } of this.#priorities)
      for (let other = first; other !== undefined && this.#compare(other, waiter) < 0; other = other.next) count++
    return count
  }

  /** The costs of all waiters that would leave before a caller that comes now. */
  unitsBefore(priority: number): number {
    const rank = this.#arrivals - priority * this.#step
    let units = 0
    for (const same of this.#priorities) {
      if (same.priority >= priority) units += same.units
      else for (let other = same.first; other && this.#rank(other) <= rank; other = other.next) units += other.cost
    }
    return units
  }

  add(waiter: W): void {
    const same = this.#samePriority(waiter.request.priority)
    waiter.arrival = this.#arrivals++
    waiter.samePriority = same
    waiter.previous = same.last
    if (same.last === undefined) same.first = waiter
    else same.last.next = waiter
    same.last = waiter
    same.units += waiter.cost
    this.#size++
  }

  remove(waiter: W): void {
    const { previous, next } = waiter
    const same = waiter.samePriority as SamePriority<W>
    if (previous === undefined) same.first = next
    else previous.next = next
    if (next === undefined) same.last = previous
    else next.previous = previous
    waiter.samePriority = undefined
    waiter.previous = undefined
    waiter.next = undefined
    same.units -= waiter.cost
    this.#size--
  }

  #samePriority(priority: number): SamePriority<W> {
    for (const same of this.#priorities) if (same.priority === priority) return same
    const same = { priority, first: undefined, last: undefined, units: 0 }
    this.#priorities.push(same)
    return same
  }

  /** Of one waiter of each priority, the earliest (`sign` 1) or the latest (`sign` -1) to leave. */
  #best(pick: (same: SamePriority<W>) => W | undefined, sign: number): W | undefined {
    let best: W | undefined
    for (const same of this.#priorities) {
      const waiter = pick(same)
      if (waiter !== undefined && (best === undefined || sign * this.#compare(waiter, best) < 0)) best = waiter
    }
    return best
  }

  #compare(one: W, other: W): number {
    return this.#rank(one) - this.#rank(other) || one.arrival - other.arrival
  }

  #rank({ arrival, samePriority }: W): number {
    return arrival - (samePriority?.priority ?? 0) * this.#step
  }
}
