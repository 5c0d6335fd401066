import type { Clock } from '../clock.js'
import type { Limit } from '../limits/index.js'
import type { Awaitable } from './awaitable.js'
import { TextFilter } from './text-filter.js'

/**
 * Run-time overrides: limits that replace those of a policy's level for one key, until they are removed or end. A store
 * keeps them, so every process that uses the store has the same ones.
 */
export interface Overrides {
  /** How many are known here, perhaps with some that have ended. */
  readonly size: number
  /** The limits in force for a key, as far as this process knows. */
  get(level: string, key: string): readonly Limit[] | undefined
  /** Sets the limits of a key, until a time in epoch milliseconds if one is given, or removes them. */
  set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs: number | undefined): Awaitable<void>
  /**
   * Reads changes from the store. True if `get` then knows every override that was set more than about two seconds ago;
   * false if it does not. Returns a promise if it must wait, for at most the store's deadline.
   */
  refresh(): Awaitable<boolean>
}

/** Overrides of a synchronous store. */
export interface SyncOverrides extends Overrides {
  set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs: number | undefined): void
  refresh(): true
}

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
      this.#swept ??= this.#entries()
      const { done, value } = this.#swept.next()
      if (done) {
        this.#swept = undefined
        return
      }
      const [level, key, { untilMs }] = value
      if (untilMs <= nowMs) this.remove(level, key)
    }
  }

  *#entries(): Generator<[level: string, key: string, entry: Entry], undefined> {
    for (const [level, keys] of this.#levels) for (const [key, entry] of keys) yield [level, key, entry]
  }

  remove(level: string, key: string): void {
    if (this.#levels.get(level)?.delete(key.toWellFormed())) this.#size--
  }
}
