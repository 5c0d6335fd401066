import { COUNTS_OF_A_LEVEL, type LiveFrame } from '../../../service/src/live/live-events.js'

/** The numbers of a frame that a ring keeps. */
const COLUMNS = [
  'atMs',
  'elapsedMs',
  'allowed',
  'denied',
  'errors',
  'degraded',
  'p50Ms',
  'p99Ms',
  'worstDelayMs',
] as const

type Column = (typeof COLUMNS)[number]

/** The four counts of a level, in the order of a frame. */
export const LEVEL_COUNTS = { admitted: 0, denied: 1, deniedInShadow: 2, degraded: 3 } as const

export type LevelCount = keyof typeof LEVEL_COUNTS

/**
 * The last frames, in typed arrays that are made once: a frame of a thousand levels takes 16 KB, and nothing is left to collect
 * when the oldest makes way. Rows count from the oldest.
 */
export class FrameRing {
  readonly capacity: number
  readonly levels: number
  #size = 0
  #next = 0
  readonly #totals: Float64Array
  readonly #counts: Uint32Array
  /** 1 where the counts belong to the levels in force. */
  readonly #hasCounts: Uint8Array

  constructor(capacity: number, levels: number) {
    this.capacity = capacity
    this.levels = levels
    this.#totals = new Float64Array(capacity * COLUMNS.length)
    this.#counts = new Uint32Array(capacity * levels * COUNTS_OF_A_LEVEL)
    this.#hasCounts = new Uint8Array(capacity)
  }

  get size(): number {
    return this.#size
  }

  /** `counts` is absent if they belong to other levels. */
  push(totals: Readonly<Record<Column, number>>, counts?: ArrayLike<number>): void {
    const place = this.#next
    COLUMNS.forEach((column, at) => {
      this.#totals[place * COLUMNS.length + at] = totals[column]
    })
    const width = this.levels * COUNTS_OF_A_LEVEL
    const fits = counts !== undefined && counts.length === width
    this.#hasCounts[place] = fits ? 1 : 0
    if (fits) this.#counts.set(counts, place * width)
    else this.#counts.fill(0, place * width, (place + 1) * width)
    this.#next = (place + 1) % this.capacity
    this.#size = Math.min(this.#size + 1, this.capacity)
  }

  /** A number of a row. NaN for a row that is not there. */
  total(row: number, column: Column): number {
    if (row < 0 || row >= this.#size) return Number.NaN
    return this.#totals[this.#place(row) * COLUMNS.length + COLUMNS.indexOf(column)]
  }

  hasCounts(row: number): boolean {
    return this.#hasCounts[this.#place(row)] === 1
  }

  count(row: number, level: number, count: LevelCount): number {
    return this.#counts[(this.#place(row) * this.levels + level) * COUNTS_OF_A_LEVEL + LEVEL_COUNTS[count]]
  }

  /** Adds the counts of a row to sums, level by level. */
  addCountsTo(sums: Float64Array, row: number): void {
    const start = this.#place(row) * sums.length
    for (let at = 0; at < sums.length; at++) sums[at] += this.#counts[start + at]
  }

  /** The same rows for another list of levels. `comesFrom` has the former place of each level, or -1. */
  withLevels(comesFrom: readonly number[]): FrameRing {
    const next = new FrameRing(this.capacity, comesFrom.length)
    const counts = new Uint32Array(comesFrom.length * COUNTS_OF_A_LEVEL)
    for (let row = 0; row < this.#size; row++) {
      const start = this.#place(row) * this.levels
      comesFrom.forEach((from, level) => {
        const old = (start + from) * COUNTS_OF_A_LEVEL
        for (let at = 0; at < COUNTS_OF_A_LEVEL; at++)
          counts[level * COUNTS_OF_A_LEVEL + at] = from < 0 ? 0 : this.#counts[old + at]
      })
      next.push(this.#rowOf(row), this.hasCounts(row) ? counts : undefined)
    }
    return next
  }

  copy(): FrameRing {
    return this.withLevels(Array.from({ length: this.levels }, (_, level) => level))
  }

  #rowOf(row: number): Record<Column, number> {
    const totals = {} as Record<Column, number>
    for (const column of COLUMNS) totals[column] = this.total(row, column)
    return totals
  }

  #place(row: number): number {
    return (this.#next - this.#size + row + this.capacity) % this.capacity
  }
}

/** The numbers of a frame that a ring keeps, by name. */
export type FrameTotals = Pick<LiveFrame, Column>
