import type { Cells } from './cells.js'
import type { SharedLayout } from './shared-layout.js'
import { SharedTable } from './shared-table.js'

/** Adds to counters that all threads share. */
export interface Counters {
  increment(cell: number): void
}

/** The tables and counters of a store, as one thread sees them. */
export class SharedMemory {
  readonly layout: SharedLayout
  readonly cells: Cells
  /** The states and blocks of keys. */
  readonly table: SharedTable
  /** States that keys without an entry share. */
  readonly overflow: SharedTable
  readonly #counters: Counters

  constructor(cells: Cells & Counters, layout: SharedLayout) {
    this.layout = layout
    this.cells = cells
    this.#counters = cells
    this.table = new SharedTable(cells, layout.table, {
      inserted: (isFirst) => cells.increment(isFirst ? layout.keys : layout.dropped),
    })
    this.overflow = new SharedTable(cells, layout.overflow, {
      inserted: (isFirst) => isFirst && cells.increment(layout.overflowKeys),
    })
  }

  /** Counts a decision of a key that shares a state. */
  countShared(): void {
    this.#counters.increment(this.layout.shared)
  }

  /** Counts a refusal for lack of memory. */
  countRefused(): void {
    this.#counters.increment(this.layout.refused)
  }

  /** Has any key ever shared a state? */
  get hasOverflow(): boolean {
    this.cells.load(this.layout.overflowKeys)
    return this.cells.lo !== 0
  }
}
