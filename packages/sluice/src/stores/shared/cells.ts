import { type CellsProgram, cellsProgram, type ThreadMemory } from './cells-program.js'

/**
 * Cells of 64 bits that threads share. All reads and changes of shared states go through these methods, so a test can decide
 * which thread makes the next step. An entry is two cells: a tag, and after it a word.
 *
 * A cell is handled as two halves, because a JavaScript number does not hold 64 bits and BigInts take twice as long
 * ([why](../../../../../docs/decisions/0019-a-shared-state-is-one-word.md)).
 */
export interface Cells {
  /** The signed upper half that `load` or `glance` saw last. */
  hi: number
  /** The signed lower half that `load` or `glance` saw last. */
  lo: number
  /**
   * Reads a cell into `hi` and `lo`. Another thread may write between the two halves, so code that acts on them confirms
   * them, by `holds` or by `compareExchange`.
   */
  load(cell: number): void
  /**
   * Like `load`, but an ordinary read, which takes a tenth of the time: `Atomics.load` is a call, and this is one instruction.
   * The processor may have made it a little earlier than the accesses before it. So code that acts on the halves confirms
   * them by `entryHolds` or `exchangeEntry`, which read the tag again.
   */
  glance(cell: number): void
  /** Does the cell hold exactly this now? */
  holds(cell: number, hi: number, lo: number): boolean
  /** Writes the new halves if the cell holds the expected ones, in one step. Returns whether it did. */
  compareExchange(cell: number, hi: number, lo: number, newHi: number, newLo: number): boolean
  /** Three steps: is the tag before the cell this one, does the cell hold exactly this, and is the tag still this one? */
  entryHolds(cell: number, tagHi: number, tagLo: number, hi: number, lo: number): boolean
  /**
   * Three steps: if the tag before the cell is this one, `compareExchange`, and a second look at the tag. Returns whether all
   * was as expected. If only the tag of the second look was not, the word of another tag was changed.
   */
  exchangeEntry(
    cell: number,
    tagHi: number,
    tagLo: number,
    hi: number,
    lo: number,
    newHi: number,
    newLo: number,
  ): boolean
}

/** How many bytes a cell has. */
export const CELL_BYTES = 8

/** Cells in memory that other threads may share. */
export class SharedCells implements Cells {
  hi = 0
  lo = 0
  readonly #halves: Int32Array
  readonly #program: CellsProgram

  constructor(memory: ThreadMemory) {
    this.#halves = new Int32Array(memory.buffer)
    this.#program = cellsProgram(memory)
  }

  load(cell: number): void {
    const at = cell * 2
    this.lo = Atomics.load(this.#halves, at)
    this.hi = Atomics.load(this.#halves, at + 1)
  }

  glance(cell: number): void {
    const at = cell * 2
    this.lo = this.#halves[at]
    this.hi = this.#halves[at + 1]
  }

  holds(cell: number, hi: number, lo: number): boolean {
    return this.#program.holds(cell * CELL_BYTES, hi, lo) === 1
  }

  compareExchange(cell: number, hi: number, lo: number, newHi: number, newLo: number): boolean {
    return this.#program.compareExchange(cell * CELL_BYTES, hi, lo, newHi, newLo) === 1
  }

  entryHolds(cell: number, tagHi: number, tagLo: number, hi: number, lo: number): boolean {
    return this.#program.entryHolds((cell - 1) * CELL_BYTES, tagHi, tagLo, hi, lo) === 1
  }

  exchangeEntry(
    cell: number,
    tagHi: number,
    tagLo: number,
    hi: number,
    lo: number,
    newHi: number,
    newLo: number,
  ): boolean {
    return this.#program.exchangeEntry((cell - 1) * CELL_BYTES, tagHi, tagLo, hi, lo, newHi, newLo) === 1
  }

  /** Adds 1 to a cell that counts. */
  increment(cell: number): void {
    this.#program.increment(cell * CELL_BYTES)
  }

  /** The value of a cell that counts. */
  count(cell: number): number {
    this.load(cell)
    return this.hi * 2 ** 32 + (this.lo >>> 0)
  }
}
