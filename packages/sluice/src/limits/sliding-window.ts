import { checkOptions } from '../checks/check-options.js'
import { checkQuota, checkUnits, checkValue } from '../checks/check-value.js'
import { invalidValue } from '../errors.js'
import { type Arithmetic, LARGEST_DEBT, type RemoteArithmetic, remember, type Taken, type Words } from './arithmetic.js'
import { ceilMs, type Decision } from './decision.js'
import { type Duration, durationText, durationUs } from './duration.js'
import type { Alignment, SlidingWindow } from './limit.js'
import { RemoteWords } from './remote-words.js'
import { SliceGrid } from './slice-grid.js'

/** The numbers of a sliding window. */
export interface SlidingWindowOptions {
  /** Units that any window gives, by the weighted count: a whole number from 0, which denies everything. */
  readonly quota: number
  /** The window's length: `'1m'`. */
  readonly window: Duration
  /** How finely time is cut: a whole number from 1 (default, the classic two counters) to 100. */
  readonly slices?: number
  /** Where slices begin: at multiples since the epoch (default), or at a key's first admitted request. */
  readonly align?: Alignment
}

/**
 * Counts each slice of the window, and weighs the oldest slice by how much of it is still inside. The weighted estimate
 * never exceeds `quota`. Takes `slices` + 1 counts for each key, and allows no burst at a boundary.
 *
 * @example
 * ```ts
 * import { slidingWindow } from 'sluice'
 *
 * const smooth = slidingWindow({ quota: 1000, window: '1s', slices: 10 })
 * ```
 */
export function slidingWindow(options: SlidingWindowOptions): SlidingWindow {
  return remember(new SlidingWindowArithmetic(options)).limit
}

const LATEST = 0
const ORIGIN = 1
const COUNTS = 2
const MOST_SLICES = 100

/**
 * State: [the last time that units were taken, the origin of the slices, `slices` + 1 counts in a ring].
 *
 *     estimate = the counts of the newest `slices` slices + the oldest count · (1 − elapsed share of the current slice)
 */
export class SlidingWindowArithmetic implements Arithmetic {
  readonly limit: SlidingWindow
  readonly quota: number
  readonly words: number
  readonly elastic = undefined
  readonly stateId: string
  readonly remote: RemoteArithmetic
  private readonly grid: SliceGrid
  private readonly slices: number
  private readonly first: boolean

  constructor(options: SlidingWindowOptions) {
    const given = checkOptions('slidingWindow', options, ['quota', 'window', 'slices', 'align'])
    this.quota = checkQuota('quota', given.quota)
    const windowUs = durationUs('window', given.window)
    this.slices = given.slices === undefined ? 1 : checkUnits('slices', given.slices, MOST_SLICES)
    if (windowUs * this.slices > Number.MAX_SAFE_INTEGER) {
      throw invalidValue(
        'slices',
        `at most ${Math.floor(Number.MAX_SAFE_INTEGER / windowUs)} for so long a window`,
        this.slices,
      )
    }
    this.first = checkValue('align', given.align === undefined ? 'epoch' : given.align, ['epoch', 'first']) === 'first'
    this.grid = new SliceGrid(windowUs, this.slices)
    this.words = COUNTS + this.slices + 1
    this.limit = Object.freeze({
      algorithm: 'sliding-window',
      quota: this.quota,
      window: durationText(windowUs),
      ...(this.slices > 1 && { slices: this.slices }),
      ...(this.first && { align: 'first' as const }),
    })
    const parameters = [windowUs, Number(this.first), this.quota, this.slices]
    this.remote = new RemoteWords(this, parameters, this.words, ({ numbers, at }, words) => {
      for (let i = 0; i < this.words; i++) words[i] = numbers[at + i]
    })
    this.stateId = `sliding-window/${this.limit.window}/${this.slices}${this.first ? '/first' : ''}`
  }

  start(words: Words, at: number, nowUs: number): void {
    words[at + LATEST] = nowUs
    words[at + ORIGIN] = this.first ? nowUs : 0
    words.fill(0, at + COUNTS, at + this.words)
  }

  fits(words: Words, at: number, nowUs: number, cost: number): boolean {
    return this.used(words, at, this.takenUs(words, at, nowUs)) <= this.quota - cost
  }

  take(words: Words, at: number, nowUs: number, cost: number): void {
    if (this.isWhole(words, at, nowUs)) this.start(words, at, nowUs)
    const laterUs = this.takenUs(words, at, nowUs)
    const slice = this.sliceAt(words, at, laterUs)
    for (let j = Math.max(this.newest(words, at) + 1, slice - this.slices); j <= slice; j++)
      words[this.indexOf(at, j)] = 0
    words[at + LATEST] = laterUs
    const index = this.indexOf(at, slice)
    words[index] = Math.min(words[index] + cost, this.quota + LARGEST_DEBT)
  }

  tryTake(words: Words, at: number, nowUs: number, cost: number): Decision {
    const allowed = this.fits(words, at, nowUs, cost)
    if (allowed && cost > 0) this.take(words, at, nowUs, cost)
    return this.decision(words, at, nowUs, cost, allowed)
  }

  decision(words: Words, at: number, nowUs: number, cost: number, allowed: boolean): Decision {
    const laterUs = this.takenUs(words, at, nowUs)
    const remaining = Math.max(0, this.quota - this.used(words, at, laterUs))
    const taken = this.newestTaken(words, at, laterUs)
    // The newest units are gone when their slice has left the window.
    const untilGoneUs =
      taken === undefined ? 0 : this.grid.untilUs(taken + this.slices + 1, laterUs - words[at + ORIGIN])
    return {
      allowed,
      quota: this.quota,
      remaining,
      retryAfterMs: allowed ? 0 : this.waitMs(words, at, nowUs, cost),
      nextUnitAfterMs: taken === undefined ? 0 : this.waitMs(words, at, nowUs, Math.min(remaining + 1, this.quota)),
      resetAfterMs: taken === undefined ? 0 : ceilMs(laterUs - nowUs + untilGoneUs),
      delayMs: 0,
    }
  }

  level(words: Words, at: number, nowUs: number): number {
    return Math.max(0, this.quota - this.used(words, at, this.takenUs(words, at, nowUs)))
  }

  refund(words: Words, at: number, nowUs: number, units: number, taken: Taken | undefined): boolean {
    const newest = taken === undefined ? this.newest(words, at) : this.sliceAt(words, at, taken.atUs)
    const oldestInside = this.sliceAt(words, at, this.takenUs(words, at, nowUs)) - this.slices
    const oldest = taken === undefined ? oldestInside : Math.max(oldestInside, newest)
    let left = units
    for (let j = newest; j >= oldest && left > 0; j--) {
      const refunded = Math.min(left, this.countOf(words, at, j))
      if (refunded > 0) words[this.indexOf(at, j)] -= refunded
      left -= refunded
    }
    return left < units
  }

  isWhole(words: Words, at: number, nowUs: number): boolean {
    return this.newestTaken(words, at, this.takenUs(words, at, nowUs)) === undefined
  }

  /** The estimate, in whole units rounded up. */
  private used(words: Words, at: number, laterUs: number): number {
    const slice = this.sliceAt(words, at, laterUs)
    const inside = this.sum(words, at, slice)
    const leaving = this.countOf(words, at, slice - this.slices)
    return leaving === 0 ? inside : inside + this.grid.leftOf(leaving, slice, laterUs - words[at + ORIGIN])
  }

  /**
   * How long until `cost` fits, if no other request takes units; `Infinity` if it never does. The estimate only falls. At
   * the end of a slice it is the sum of the slices that are wholly inside. So the answer lies in the first slice that ends
   * low enough.
   */
  private waitMs(words: Words, at: number, nowUs: number, cost: number): number {
    if (cost > this.quota) return Infinity
    const laterUs = this.takenUs(words, at, nowUs)
    let slice = this.sliceAt(words, at, laterUs)
    while (this.sum(words, at, slice) > this.quota - cost) slice++
    const wanted = this.quota - cost - this.sum(words, at, slice)
    const count = this.countOf(words, at, slice - this.slices)
    const untilUs = this.grid.untilLeftUs(count, slice, wanted, laterUs - words[at + ORIGIN])
    return ceilMs(laterUs - nowUs + Math.max(0, untilUs))
  }

  /** The units of the slices that are wholly inside the window. */
  private sum(words: Words, at: number, slice: number): number {
    const newest = this.newest(words, at)
    let sum = 0
    for (let j = slice - this.slices + 1; j <= newest; j++) sum += words[this.indexOf(at, j)]
    return sum
  }

  /** The newest slice inside the window that has units. */
  private newestTaken(words: Words, at: number, laterUs: number): number | undefined {
    const oldest = this.sliceAt(words, at, laterUs) - this.slices
    for (let j = this.newest(words, at); j >= oldest; j--) if (words[this.indexOf(at, j)] > 0) return j
    return undefined
  }

  private countOf(words: Words, at: number, slice: number): number {
    const newest = this.newest(words, at)
    return slice > newest || slice < newest - this.slices ? 0 : words[this.indexOf(at, slice)]
  }

  private newest(words: Words, at: number): number {
    return this.sliceAt(words, at, words[at + LATEST])
  }

  private sliceAt(words: Words, at: number, us: number): number {
    return this.grid.sliceAt(us - words[at + ORIGIN])
  }

  /** Where in the ring a slice's count is. */
  private indexOf(at: number, slice: number): number {
    const ring = this.slices + 1
    return at + COUNTS + (slice - Math.floor(slice / ring) * ring)
  }

  takenUs(words: Words, at: number, nowUs: number): number {
    return Math.max(nowUs, words[at + LATEST])
  }
}
