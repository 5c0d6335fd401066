import type { Clock } from '../clock.js'
import type { Limit } from '../limits/index.js'
import type { OverrideEntry } from './store.js'
import { TextFilter } from './text-filter.js'

interface Entry {
  readonly limits: readonly Limit[]
  readonly untilMs: number
}

/** From this many keys on, a filter in front of the map is faster. */
const MANY = 1_000
/** How many entries each `set` checks for overrides that have ended. */
const SWEPT = 4

/** The overrides of one policy that this process knows, by level and key. */
export class OverrideTable {
  readonly #levels = new Map<string, Map<string, Entry>>()
  #size = 0
  #filter: TextFilter | undefined
  #filtered = 0
  #swept: Generator<[string, string, Entry], undefined> | undefined

  get size(): number {
    return this.#size
  }

  /** Reads the clock only for an override that ends. */
  get(level: string, key: string, clock: Clock): readonly Limit[] | undefined {
    const text = key.toWellFormed()
    if (this.#filter !== undefined && !this.#filter.mayHave(text)) return undefined
    const entry = this.#levels.get(level)?.get(text)
    if (entry === undefined) return undefined
    if (entry.untilMs === Infinity || entry.untilMs > clock.now()) return entry.limits
    this.remove(level, key)
    return undefined
  }

  set(level: string, key: string, limits: readonly Limit[], untilMs: number, clock: Clock): void {
    this.#sweep(clock.now())
    let keys = this.#levels.get(level)
    if (keys === undefined) {
      keys = new Map()
      this.#levels.set(level, keys)
    }
    const text = key.toWellFormed()
    if (!keys.has(text)) this.#size++
    keys.set(text, { limits, untilMs })
    if (this.#size >= MANY) this.#addToFilter(text)
  }

  /** A filter is made anew when it is full. Until then it still knows texts that were removed. */
  #addToFilter(text: string): void {
    if (this.#filter !== undefined && this.#filtered < this.#filter.capacity) {
      this.#filter.add(text)
      this.#filtered++
      return
    }
    this.#filter = new TextFilter(this.#size * 2)
    this.#filtered = this.#size
    for (const keys of this.#levels.values()) for (const key of keys.keys()) this.#filter.add(key)
  }

  /** Drops those of the next few entries that have ended, so that they do not pile up. */
  #sweep(nowMs: number): void {
    for (let i = 0; i < SWEPT; i++) {
      this.#swept ??= this.#all()
      const { done, value } = this.#swept.next()
      if (done) {
        this.#swept = undefined
        return
      }
      const [level, key, { untilMs }] = value
      if (untilMs <= nowMs) this.remove(level, key)
    }
  }

  /** Those that are in force at this time. */
  *entries(nowMs: number): Generator<OverrideEntry, undefined> {
    for (const [level, key, { limits, untilMs }] of this.#all())
      if (untilMs > nowMs) yield { level, key, limits, untilMs }
  }

  *#all(): Generator<[level: string, key: string, entry: Entry], undefined> {
    for (const [level, keys] of this.#levels) for (const [key, entry] of keys) yield [level, key, entry]
  }

  remove(level: string, key: string): void {
    if (this.#levels.get(level)?.delete(key.toWellFormed())) this.#size--
  }
}
