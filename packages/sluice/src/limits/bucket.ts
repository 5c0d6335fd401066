import { InvalidValueError, shown } from '../errors.js'
import type { Arithmetic, Taken, Twin, Words } from './arithmetic.js'
import type { Decision } from './decision.js'
import type { Limit } from './limit.js'
import { lowerFraction, type Rate } from './rate.js'
import { type Users, usersOf } from './users.js'
import { WordsTwin } from './words-twin.js'

/** Levels stay below this, so that a level kept as units in a float64 comes back as the same whole number of parts. */
export const LARGEST_LEVEL = 2 ** 50

/** Where a rate cannot be counted exactly it is rounded down, by no more than this share. */
const LARGEST_SHORTFALL = 1_000_000n

/** Units, of which each kind of bucket says what they are. */
export const LEVEL = 0
/** The time at which they were so many. */
export const SINCE = 1

/**
 * What token and leaky bucket have in common: room for `capacity` units that comes back at a constant rate.
 *
 * A rate of g units every s microseconds is counted in parts: a unit is s parts, a microsecond brings g.
 *
 *     level(now) = min(capacity·s, level(since) + (now − since)·g)
 *
 * All of these are whole numbers below 2^53, so nothing is ever rounded. The state keeps units (a float64, turned back
 * into the same whole parts on reading), which mean the same under any other capacity or rate.
 */
export abstract class Bucket implements Arithmetic {
  abstract readonly limit: Limit
  abstract readonly words: number
  readonly quota: number
  readonly elastic = false
  readonly shape: string
  readonly portable = true
  readonly twin: Twin
  protected readonly partsPerUnit: number
  protected readonly partsPerUs: number
  protected readonly partsPerMs: number
  protected readonly full: number
  /** This limit as the only one in use. */
  readonly users: Users

  constructor(algorithm: string, capacity: number, option: string, rate: Rate) {
    const [gain, scale] = lowerFraction(rate, BigInt(Math.floor(LARGEST_LEVEL / capacity)))
    checkShortfall(capacity, option, rate, gain, scale)
    this.quota = capacity
    this.partsPerUnit = Number(scale)
    this.partsPerUs = Number(gain)
    this.partsPerMs = this.partsPerUs * 1000
    this.full = capacity * this.partsPerUnit
    this.users = usersOf(this.full / this.partsPerUs, this.partsPerUnit / this.partsPerUs)
    const parameters = [this.partsPerUnit, this.partsPerUs, capacity]
    this.twin = new WordsTwin(this, parameters, 0, ({ level, nowUs, aheadUs }, words) => {
      this.store(words, 0, level)
      words[SINCE] = nowUs + aheadUs
    })
    this.shape = algorithm
  }

  start(words: Words, at: number, nowUs: number): void {
    this.store(words, at, this.full)
    words[at + SINCE] = nowUs
  }

  fits(words: Words, at: number, nowUs: number, cost: number): boolean {
    return cost <= this.quota && this.level(words, at, nowUs) >= cost * this.partsPerUnit
  }

  take(words: Words, at: number, nowUs: number, cost: number): void {
    this.takeFrom(words, at, nowUs, this.level(words, at, nowUs), cost)
  }

  takeToo(words: Words, at: number, nowUs: number, cost: number): void {
    this.take(words, at, nowUs, cost)
  }

  tryTake(words: Words, at: number, nowUs: number, cost: number): Decision {
    const level = this.level(words, at, nowUs)
    const allowed = cost <= this.quota && level >= cost * this.partsPerUnit
    const left = allowed ? level - cost * this.partsPerUnit : level
    if (left !== level) this.takeFrom(words, at, nowUs, level, cost)
    return this.describe(words, at, nowUs, left, cost, allowed)
  }

  decision(words: Words, at: number, nowUs: number, cost: number, allowed: boolean): Decision {
    return this.describe(words, at, nowUs, this.level(words, at, nowUs), cost, allowed)
  }

  takenUs(_words: Words, _at: number, nowUs: number): number {
    return nowUs
  }

  refund(words: Words, at: number, nowUs: number, units: number, _taken: Taken | undefined): void {
    // As much as fits or more was left by a larger capacity: there is nothing to add here, and it is not to be cut down.
    if (this.stored(words, at) >= this.full) return
    if (this.isBeyondCount(words, at)) {
      this.addToDebt(words, at, -units)
      return
    }
    const level = this.level(words, at, nowUs)
    if (nowUs > words[at + SINCE]) words[at + SINCE] = nowUs
    this.store(words, at, Math.min(this.full, level + units * this.partsPerUnit))
  }

  isWhole(words: Words, at: number, nowUs: number): boolean {
    return this.level(words, at, nowUs) === this.full
  }

  adopt(words: Words, at: number, _nowUs: number, from: Arithmetic, fromWords: Words, fromAt: number): void {
    for (let i = 0; i < from.words; i++) words[at + i] = fromWords[fromAt + i]
  }

  wordsFor(): number {
    return this.words
  }

  /** After how long a state is whole for all that use it. */
  abstract wholeAfterUs(words: Words, at: number, users: Users): number

  /** How long an allowed request waits for its turn, at a level from which its cost has been taken. */
  protected abstract delayMs(level: number, aheadUs: number, cost: number): number

  /** The level that was stored, in parts: it may be above `full`, if the capacity was larger then. */
  protected abstract stored(words: Words, at: number): number

  /** Stores a level, as units. */
  protected abstract store(words: Words, at: number, level: number): void

  /** Adds units to a debt that cannot be counted here. Since when it was so large, stays. */
  protected abstract addToDebt(words: Words, at: number, units: number): void

  /** Is it a debt that other numbers left, of more parts than can be counted here? */
  protected isBeyondCount(words: Words, at: number): boolean {
    return this.stored(words, at) < -LARGEST_LEVEL
  }

  protected takeFrom(words: Words, at: number, nowUs: number, level: number, cost: number): void {
    if (this.isBeyondCount(words, at)) {
      this.addToDebt(words, at, cost)
      return
    }
    // A whole bucket is the same as none, so its past does not count, even if it lies ahead.
    if (nowUs > words[at + SINCE] || level === this.full) words[at + SINCE] = nowUs
    this.store(words, at, Math.max(level - cost * this.partsPerUnit, -LARGEST_LEVEL))
  }

  /** The level now, in parts. Below 0 is a debt. */
  protected level(words: Words, at: number, nowUs: number): number {
    // A debt of units may be more parts under other numbers than can be counted.
    const level = Math.max(this.stored(words, at), -LARGEST_LEVEL)
    if (level >= this.full) return this.full
    const gained = (nowUs - words[at + SINCE]) * this.partsPerUs
    if (gained <= 0) return level
    return gained >= this.full - level ? this.full : level + gained
  }

  private describe(words: Words, at: number, nowUs: number, level: number, cost: number, allowed: boolean): Decision {
    const { partsPerUnit, partsPerMs, full } = this
    const whole = level === full
    // After a clock stepped back, nothing comes in until it is where it was.
    const aheadUs = whole ? 0 : Math.max(0, words[at + SINCE] - nowUs)
    const missing = aheadUs * this.partsPerUs - level
    const remaining = Math.max(0, Math.floor(level / partsPerUnit))
    return {
      allowed,
      quota: this.quota,
      remaining,
      retryAfterMs: allowed
        ? 0
        : cost > this.quota
          ? Infinity
          : Math.ceil((cost * partsPerUnit + missing) / partsPerMs),
      nextUnitAfterMs: whole ? 0 : Math.ceil(((remaining + 1) * partsPerUnit + missing) / partsPerMs),
      resetAfterMs: whole ? 0 : Math.ceil((full + missing) / partsPerMs),
      delayMs: allowed ? this.delayMs(level, aheadUs, cost) : 0,
    }
  }
}

function checkShortfall(capacity: number, option: string, rate: Rate, gain: bigint, scale: bigint): void {
  const shortfall = rate.units * scale - gain * rate.perUs
  if (shortfall * LARGEST_SHORTFALL <= rate.units * scale) return
  const years = (capacity * Number(rate.perUs)) / Number(rate.units) / 31_557_600_000_000
  const why = years > 35 ? `takes ${years.toPrecision(3)} years to fill` : 'is too large for so uneven a rate'
  throw new InvalidValueError(
    `a capacity of ${capacity} at ${option} ${shown(rate.text)} ${why} and cannot be counted to one in a million; ` +
      'use a smaller capacity, or a rounder or faster rate',
  )
}
