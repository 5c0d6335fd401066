import type { Table } from './table.js'

/** Goes round all tables of a store, a few slots at a time, and drops what is whole. */
export class Sweeper {
  readonly tables: Table[] = []
  #next = 0

  sweep(slots: number, nowUs: number): void {
    if (this.tables.length === 0) return
    if (this.tables[this.#next].sweep(slots, nowUs)) this.#next = (this.#next + 1) % this.tables.length
  }
}
