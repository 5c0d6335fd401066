import type { Clock } from '../clock.js'
import type { Limit } from '../limits/index.js'
import type { Awaitable } from './awaitable.js'
import { TextFilter } from './text-filter.js'

/**
 * Limits that stand in for those of a policy's levels, each for one key, until they are removed or their time is over. A
 * store keeps them, so that all who share the store share them.
 */
export interface Overrides {
  /** How many are known here; those whose time is over may be among them. */
  readonly size: number
  /** The limits in force for a key, as far as is known here. */
  get(level: string, key: string): readonly Limit[] | undefined
  /** Sets the limits of a key, until a time in epoch milliseconds if one is given, or removes them. */
  set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs: number | undefined): Awaitable<void>
  /**
   * Brings what is known up to date. True if `get` knows of everything that was set a while ago, on Redis about two
   * seconds; false if it does not. A promise if there is something to wait for first, which is not for longer than the
   * store's deadline.
   */
  refresh(): Awaitable<boolean>
}

/** Overrides of a store that answers at once. */
export interface SyncOverrides extends Overrides {
  set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs: number | undefined): void
  refresh(): true
}

interface Entry {
  readonly limits: readonly Limit[]
  readonly untilMs: number
}

/** From so many keys on, a filter is faster than a map. */
const MANY = 1_000
/** How many are looked at whenever one is set. */
const SWEPT = 4

/** What is known of the overrides of one policy, by level and key. */
export class OverrideTable {
  readonly #levels = new Map<string, Map<string, Entry>>()
  #size = 0
  #filter: TextFilter | undefined
  #filtered = 0
  #swept: Generator<[string, string, Entry], undefined> | undefined

  get size(): number {
    return this.#size
  }

  /** The clock is read only for those that end. */
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

  /** A filter knows so many texts, and then is made anew; what was removed stays in it until then. */
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

  /** Looks at the next few and drops those whose time is over, so that they do not pile up. */
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
