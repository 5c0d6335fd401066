import type { Clock } from 'sluice'

interface Event {
  readonly atUs: number
  /** Of events of the same time, the one that was added first runs first. */
  readonly order: number
  run: (() => void) | undefined
}

/** More events than this at one time: they lead to each other for ever. */
const MOST_AT_ONCE = 1_000_000

const START_US = 1_745_000_000_000_000

/**
 * The time of a simulation: events in order, and a clock that jumps from one to the next. It counts whole microseconds, so
 * that laws can be checked without rounding. No real timer is involved.
 */
export class EventQueue implements Clock {
  readonly startUs = START_US
  /** A heap: no event is later than those at twice its place plus 1 and plus 2. */
  readonly #heap: Event[] = []
  #nowUs = START_US
  #added = 0
  #isUnsettled = false

  get nowUs(): number {
    return this.#nowUs
  }

  /** The time in epoch milliseconds. */
  now(): number {
    return this.#nowUs / 1_000
  }

  /** How long the simulation has lasted. */
  get elapsedMs(): number {
    return (this.#nowUs - START_US) / 1_000
  }

  after(ms: number, run: () => void): void {
    this.#push(this.#nowUs + Math.max(0, Math.round(ms * 1_000)), run)
  }

  alarm(atMs: number, ring: () => void): () => void {
    const event = this.#push(Math.max(this.#nowUs, Math.ceil(atMs * 1_000)), ring)
    return () => {
      event.run = undefined
    }
  }

  /** Lets code that awaits promises run before the next event. An event that settles a promise, or starts to await one, calls it. */
  settle(): void {
    this.#isUnsettled = true
  }

  /** Runs all events until so long after the start. */
  async runUntil(elapsedMs: number): Promise<void> {
    const endUs = START_US + Math.round(elapsedMs * 1_000)
    let atOnce = 0
    while (this.#heap.length > 0 && this.#heap[0].atUs <= endUs) {
      const { atUs, run } = this.#pop()
      if (run === undefined) continue
      atOnce = atUs === this.#nowUs ? atOnce + 1 : 0
      if (atOnce > MOST_AT_ONCE) throw new Error(`time stands still, ${this.elapsedMs} ms after the start`)
      this.#nowUs = atUs
      run()
      if (!this.#isUnsettled) continue
      this.#isUnsettled = false
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#nowUs = endUs
  }

  #push(atUs: number, run: () => void): Event {
    const heap = this.#heap
    const event: Event = { atUs, order: this.#added++, run }
    let place = heap.push(event) - 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (isBefore(heap[parent], event)) break
      heap[place] = heap[parent]
      place = parent
    }
    heap[place] = event
    return event
  }

  #pop(): Event {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop() as Event
    if (heap.length === 0) return first
    let place = 0
    for (let child = 1; child < heap.length; child = 2 * place + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++
      if (isBefore(last, heap[child])) break
      heap[place] = heap[child]
      place = child
    }
    heap[place] = last
    return first
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atUs < other.atUs || (one.atUs === other.atUs && one.order < other.order)
}
