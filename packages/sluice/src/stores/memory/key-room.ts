import type { TableSet } from './table.js'

/** A new key in a full store looks at 64 entries for one to drop, and at up to 256 as long as that finds some. */
const ENTRIES_FOR_ROOM = 64
const SWEEPS_FOR_ROOM = 4

/** The room that a store has for keys: at most `maxKeys` entries in all of its tables. */
export class KeyRoom {
  readonly maxKeys: number
  readonly #tables: TableSet
  #found = true

  constructor(tables: TableSet, maxKeys: number) {
    this.#tables = tables
    this.maxKeys = maxKeys
  }

  /** Is there room for so many new keys? */
  has(newKeys: number): boolean {
    return this.#tables.counts.keys + newKeys <= this.maxKeys
  }

  /** Drops whole states until there is room for so many new keys, for a bounded time. Returns whether there is. */
  make(newKeys: number, nowUs: number): boolean {
    if (this.has(newKeys)) return true
    const sweeps = this.#found ? SWEEPS_FOR_ROOM : 1
    for (let i = 0; i < sweeps && !this.has(newKeys); i++) this.#tables.sweep(ENTRIES_FOR_ROOM, nowUs)
    this.#found = this.has(newKeys)
    return this.#found
  }
}
