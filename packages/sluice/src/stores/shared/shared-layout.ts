import type { TableCells } from './shared-table.js'

/** So many entries are looked through for a new key, and so many keys may meet in a group. */
const GROUP_SIZE = 64
/** Keys without an entry share at most this many states. */
const OVERFLOW_ENTRIES = 1_024
/** A table has this many entries for each key, so that no group is full before the table is. */
const ENTRIES_A_KEY = 2
/** Names are spread over this many cells, each with the end of the last block of its names. */
export const BLOCK_CELLS = 64

/** Which cell of a shared memory holds what. */
export interface SharedLayout {
  /** Entries that have had a key. */
  readonly keys: number
  /** See `SharedStoreStats`. */
  readonly dropped: number
  readonly shared: number
  readonly refused: number
  /** Entries of the overflow table that have had a key. */
  readonly overflowKeys: number
  /** The first of the cells with the end of the last block. */
  readonly blocks: number
  readonly table: TableCells
  readonly overflow: TableCells
  /** How many cells there are in all. */
  readonly cells: number
}

/** The layout for so many keys. All threads compute the same. */
export function sharedLayout(maxKeys: number): SharedLayout {
  const groups = Math.ceil((maxKeys * ENTRIES_A_KEY) / GROUP_SIZE)
  const overflowGroups = OVERFLOW_ENTRIES / GROUP_SIZE
  let next = 0
  const reserve = (cells: number) => {
    const first = next
    // Whole cache lines, so that a counter does not slow down its neighbours.
    next += Math.ceil(cells / 8) * 8
    return first
  }
  const [keys, dropped, shared, refused, overflowKeys] = Array.from({ length: 5 }, () => reserve(1))
  const blocks = reserve(BLOCK_CELLS)
  const tableOf = (count: number) => ({
    groups: count,
    groupSize: GROUP_SIZE,
    insertions: reserve(count),
    entries: reserve(count * GROUP_SIZE * 2),
  })
  const table = tableOf(groups)
  const overflow = tableOf(overflowGroups)
  return { keys, dropped, shared, refused, overflowKeys, blocks, table, overflow, cells: next }
}
