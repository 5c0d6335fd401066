import { checkOptions } from '../checks/check-options.js'
import { checkQuota, checkValue } from '../checks/check-value.js'
import { type Arithmetic, LARGEST_DEBT, type RemoteArithmetic, remember, type Taken, type Words } from './arithmetic.js'
import { ceilMs, type Decision } from './decision.js'
import { type Duration, durationText, durationUs } from './duration.js'
import type { Alignment, FixedWindow } from './limit.js'
import { RemoteWords } from './remote-words.js'

/** The numbers of a fixed window. */
export interface FixedWindowOptions {
  /** Units a window gives: a whole number from 0, which denies everything. */
  readonly quota: number
  /** The window's length: `'1m'`. */
  readonly window: Duration
  /**
   * `'epoch'` (default): windows begin on multiples of their length since the epoch. `'first'`: a key's window begins
   * at its first admitted request, so that keys do not all reset in the same instant.
   */
  readonly align?: Alignment
}

/**
 * One counter a window. At most `quota` in a window, and up to twice that around a boundary. If that matters, use a sliding
 * window or a token bucket.
 *
 * @example
 * ```ts
 * import { fixedWindow } from 'sluice'
 *
 * const perMinute = fixedWindow({ quota: 100, window: '1m' })
 * ```
 */
export function fixedWindow(options: FixedWindowOptions): FixedWindow {
  return remember(new FixedWindowArithmetic(options)).limit
}

const MARK = 0
const COUNT = 1

/**
 * State: [mark, count]. The mark is the last time that units were taken, or with `align: 'first'` the window's start.
 *
 *     start(now) = floor(now / window) · window
 */
export class FixedWindowArithmetic implements Arithmetic {
  readonly limit: FixedWindow
  readonly quota: number
  readonly words = 2
  readonly elastic = undefined
  readonly stateId: string
  readonly remote: RemoteArithmetic
  private readonly windowUs: number
  private readonly first: boolean

  constructor(options: FixedWindowOptions) {
    const given = checkOptions('fixedWindow', options, ['quota', 'window', 'align'])
    this.quota = checkQuota('quota', given.quota)
    this.windowUs = durationUs('window', given.window)
    this.first = checkValue('align', given.align === undefined ? 'epoch' : given.align, ['epoch', 'first']) === 'first'
    this.limit = Object.freeze({
      algorithm: 'fixed-window',
      quota: this.quota,
      window: durationText(this.windowUs),
      ...(this.first && { align: 'first' as const }),
    })
    const parameters = [this.windowUs, Number(this.first), this.quota]
    this.remote = new RemoteWords(this, parameters, 2, ({ numbers, at }, words) => {
      words[MARK] = numbers[at]
      words[COUNT] = numbers[at + 1]
    })
    this.stateId = `fixed-window/${this.limit.window}${this.first ? '/first' : ''}`
  }

  start(words: Words, at: number, nowUs: number): void {
    words[at + MARK] = nowUs
    words[at + COUNT] = 0
  }

  fits(words: Words, at: number, nowUs: number, cost: number): boolean {
    return this.used(words, at, nowUs) + cost <= this.quota
  }

  take(words: Words, at: number, nowUs: number, cost: number): void {
    const used = this.used(words, at, nowUs)
    words[at + MARK] = this.first ? this.startUs(words, at, nowUs) : this.takenUs(words, at, nowUs)
    words[at + COUNT] = Math.min(used + cost, this.quota + LARGEST_DEBT)
  }

  tryTake(words: Words, at: number, nowUs: number, cost: number): Decision {
    const startUs = this.startUs(words, at, nowUs)
    const used = words[at + MARK] >= startUs ? words[at + COUNT] : 0
    const allowed = used + cost <= this.quota
    if (!allowed || cost === 0) return this.describe(nowUs, startUs, used, cost, allowed)
    words[at + MARK] = this.first ? startUs : this.takenUs(words, at, nowUs)
    words[at + COUNT] = used + cost
    return this.describe(nowUs, startUs, used + cost, cost, true)
  }

  decision(words: Words, at: number, nowUs: number, cost: number, allowed: boolean): Decision {
    return this.describe(nowUs, this.startUs(words, at, nowUs), this.used(words, at, nowUs), cost, allowed)
  }

  level(words: Words, at: number, nowUs: number): number {
    return Math.max(0, this.quota - this.used(words, at, nowUs))
  }

  /** If the clock stepped back, the time of the last take counts as now. */
  takenUs(words: Words, at: number, nowUs: number): number {
    return words[at + COUNT] > 0 ? Math.max(nowUs, words[at + MARK]) : nowUs
  }

  refund(words: Words, at: number, nowUs: number, units: number, taken: Taken | undefined): boolean {
    if (taken !== undefined && taken.atUs < this.startUs(words, at, nowUs)) return false
    words[at + COUNT] = Math.max(0, this.used(words, at, nowUs) - units)
    return true
  }

  isWhole(words: Words, at: number, nowUs: number): boolean {
    return this.used(words, at, nowUs) === 0
  }

  private describe(nowUs: number, startUs: number, used: number, cost: number, allowed: boolean): Decision {
    // Subtract first: the end of the window may be larger than a float64 counts exactly.
    const endMs = ceilMs(startUs - nowUs + this.windowUs)
    const resetAfterMs = used === 0 ? 0 : endMs
    return {
      allowed,
      quota: this.quota,
      remaining: Math.max(0, this.quota - used),
      retryAfterMs: allowed ? 0 : cost > this.quota ? Infinity : endMs,
      nextUnitAfterMs: resetAfterMs,
      resetAfterMs,
      delayMs: 0,
    }
  }

  private used(words: Words, at: number, nowUs: number): number {
    return words[at + MARK] >= this.startUs(words, at, nowUs) ? words[at + COUNT] : 0
  }

  private startUs(words: Words, at: number, nowUs: number): number {
    const laterUs = this.takenUs(words, at, nowUs)
    if (!this.first) return Math.floor(laterUs / this.windowUs) * this.windowUs
    const mark = words[at + MARK]
    return words[at + COUNT] > 0 && laterUs - mark < this.windowUs ? mark : laterUs
  }
}
