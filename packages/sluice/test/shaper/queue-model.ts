/** A shaper's queue by its laws, written as a plain list and without any of its code. Times are in milliseconds. */
export interface Joined {
  readonly name: number
  readonly cost: number
  readonly priority: number
  readonly maxWaitMs: number
}

export type Outcome = { readonly leftMs: number } | 'full' | 'too long' | 'aborted'

interface Waiting extends Joined {
  readonly rank: number
  readonly expiresMs: number
}

/** If two events are closer together than this, rounding may decide which one is first. */
const NEAR_MS = 0.004
const EQUAL_MS = 1e-6

export class QueueModel {
  readonly outcomes = new Map<number, Outcome>()
  /** Did rounding decide the order of any two events? */
  isUnclear = false
  #nowMs = 0
  #freeMs = -Infinity
  /** The ends of the pause of this key and of the pause of all keys. */
  readonly #pausedMs = { key: -Infinity, all: -Infinity }
  #running = 0
  #waiting: Waiting[] = []
  #joined = 0
  readonly #unitMs: number
  readonly #capacity: number
  readonly #concurrency: number

  /** A `unitMs` of 0 is a queue without a rate. */
  constructor(unitMs: number, capacity: number, concurrency = Infinity) {
    this.#unitMs = unitMs
    this.#capacity = capacity
    this.#concurrency = concurrency
  }

  join(nowMs: number, { name, cost, priority, maxWaitMs }: Joined): void {
    const startMs = this.#startMs(nowMs)
    if (this.#waiting.length === 0 && this.#running < this.#concurrency) {
      if (startMs <= nowMs) {
        if (cost > this.#capacity) this.outcomes.set(name, 'full')
        else this.#depart(name, cost, nowMs)
        return
      }
    }
    const waiting = this.#waiting.reduce((sum, each) => sum + each.cost, 0)
    const left = this.#unitMs === 0 ? 0 : Math.max(0, this.#freeMs - nowMs) / this.#unitMs
    const offMs = Math.abs(left - Math.round(left)) * this.#unitMs
    if (offMs < NEAR_MS && offMs > EQUAL_MS) this.isUnclear = true
    if (waiting + Math.max(0, Math.ceil(left - EQUAL_MS / this.#unitMs)) + cost > this.#capacity) {
      this.outcomes.set(name, 'full')
      return
    }
    const rank = this.#joined - priority * this.#capacity
    const before = this.#waiting.reduce((sum, each) => (each.rank <= rank ? sum + each.cost : sum), 0)
    // A pause without an end may end now.
    const knownMs = startMs === Infinity ? Math.max(nowMs, this.#freeMs) : startMs
    const waitMs = knownMs - nowMs + before * this.#unitMs
    if (Math.abs(waitMs - maxWaitMs) < NEAR_MS) this.isUnclear = true
    if (waitMs > maxWaitMs) {
      this.outcomes.set(name, 'too long')
      return
    }
    this.#joined++
    this.#waiting.push({ name, cost, priority, maxWaitMs, rank, expiresMs: nowMs + maxWaitMs })
    // The sort is stable: among equals, the first to come is first.
    this.#waiting.sort((one, other) => one.rank - other.rank)
  }

  abort(name: number): void {
    this.#noteEnds((each) => each.name === name)
    if (this.#remove(name)) this.outcomes.set(name, 'aborted')
  }

  pause(untilMs: number, which: 'key' | 'all' = 'key'): void {
    this.#pausedMs[which] = Math.max(this.#pausedMs[which], untilMs)
  }

  resume(nowMs: number, which: 'key' | 'all'): void {
    this.#pausedMs[which] = -Infinity
    this.#letGo(nowMs)
  }

  /** A piece of work is over. */
  finish(nowMs: number): void {
    this.#running--
    this.#letGo(nowMs)
  }

  /** Plays all events from one moment to another. */
  advance(fromMs: number, toMs: number): void {
    let nowMs = fromMs
    this.#nowMs = toMs
    for (;;) {
      const [first] = this.#waiting
      if (first === undefined) return
      const departsMs = this.#running < this.#concurrency ? this.#startMs(nowMs) : Infinity
      const expiring = this.#waiting.reduce((next, each) => (each.expiresMs < next.expiresMs ? each : next))
      if (Math.abs(departsMs - toMs) < NEAR_MS || Math.abs(departsMs - expiring.expiresMs) < NEAR_MS)
        this.isUnclear = true
      nowMs = Math.min(departsMs, expiring.expiresMs)
      if (nowMs > toMs || nowMs === Infinity) return
      if (departsMs <= expiring.expiresMs) {
        this.#remove(first.name)
        this.#depart(first.name, first.cost, departsMs)
      } else {
        this.#remove(expiring.name)
        this.outcomes.set(expiring.name, 'too long')
      }
    }
  }

  /** Lets waiters leave that may leave now. */
  #letGo(nowMs: number): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const startMs = this.#startMs(nowMs)
      if (startMs > nowMs && startMs < nowMs + NEAR_MS) this.isUnclear = true
      if (startMs > nowMs || this.#running === this.#concurrency) return
      this.#noteEnds(({ name }) => name === first.name)
      this.#remove(first.name)
      this.#depart(first.name, first.cost, nowMs)
    }
  }

  /** A waiter whose longest wait ends just now may have left the queue already. */
  #noteEnds(which: (waiting: Waiting) => boolean): void {
    const isEnding = ({ expiresMs }: Waiting) => Math.abs(expiresMs - this.#nowMs) < NEAR_MS
    if (this.#waiting.some((each) => which(each) && isEnding(each))) this.isUnclear = true
  }

  #startMs(nowMs: number): number {
    return Math.max(nowMs, this.#freeMs, this.#pausedMs.key, this.#pausedMs.all)
  }

  #depart(name: number, cost: number, atMs: number): void {
    this.#running++
    this.outcomes.set(name, { leftMs: atMs })
    this.#freeMs = atMs + cost * this.#unitMs
  }

  #remove(name: number): boolean {
    const { length } = this.#waiting
    this.#waiting = this.#waiting.filter((each) => each.name !== name)
    return this.#waiting.length < length
  }
}
