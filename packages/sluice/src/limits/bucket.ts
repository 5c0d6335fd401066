import { InvalidValueError, shown } from '../errors.js'
import type { Arithmetic, RemoteArithmetic, Taken, Words } from './arithmetic.js'
import type { Decision } from './decision.js'
import type { Limit } from './limit.js'
import { type ExactRate, lowerFraction } from './rate.js'
import { RemoteWords } from './remote-words.js'

/** Tokens stay below this many parts, so that tokens kept as units in a float64 come back as the same whole parts. */
export const MOST_PARTS = 2 ** 50

/** A rate that cannot be counted exactly is rounded down, by at most one part in this many. */
const LARGEST_SHORTFALL = 1_000_000n

/** Word 0: tokens (token bucket) or queue length (leaky bucket), in units. */
export const UNITS = 0
/** Word 1: the time at which the bucket had so many, in epoch microseconds. */
export const SINCE = 1

/**
 * Token and leaky bucket share this: room for `capacity` units that comes back at a constant rate. In a leaky bucket the
 * tokens are the free places of the queue.
 *
 * A rate of g units every s microseconds is counted in parts. A unit has s parts, and a microsecond brings g parts:
 *
 *     tokens(now) = min(capacity·s, tokens(since) + (now − since)·g)
 *
 * All of these are whole numbers below 2^53, so nothing is rounded. Example: '5/s' is 1 unit every 200,000 µs, so a unit
 * has 200,000 parts and each microsecond brings one. The state keeps units, so a limit with another capacity or rate can
 * read it.
 */
export abstract class Bucket implements Arithmetic {
  abstract readonly limit: Limit
  abstract readonly words: number
  readonly quota: number
  readonly elastic = undefined
  readonly stateId: string
  readonly remote: RemoteArithmetic
  protected readonly partsPerUnit: number
  protected readonly partsPerUs: number
  protected readonly partsPerMs: number
  /** The whole capacity, in parts. */
  protected readonly full: number

  constructor(algorithm: string, capacity: number, option: string, rate: ExactRate) {
    const [gain, scale] = lowerFraction(rate, BigInt(Math.floor(MOST_PARTS / Math.max(1, capacity))))
    checkShortfall(capacity, option, rate, gain, scale)
    this.quota = capacity
    this.partsPerUnit = Number(scale)
    this.partsPerUs = Number(gain)
    this.partsPerMs = this.partsPerUs * 1000
    this.full = capacity * this.partsPerUnit
    const parameters = [this.partsPerUnit, this.partsPerUs, capacity]
    this.remote = new RemoteWords(this, parameters, 0, ({ tokens, nowUs, aheadUs }, words) => {
      this.write(words, 0, tokens)
      words[SINCE] = nowUs + aheadUs
    })
    this.stateId = algorithm
  }

  start(words: Words, at: number, nowUs: number): void {
    this.write(words, at, this.full)
    words[at + SINCE] = nowUs
  }

  fits(words: Words, at: number, nowUs: number, cost: number): boolean {
    return cost <= this.quota && this.tokens(words, at, nowUs) >= cost * this.partsPerUnit
  }

  take(words: Words, at: number, nowUs: number, cost: number): void {
    this.takeFrom(words, at, nowUs, this.tokens(words, at, nowUs), cost)
  }

  tryTake(words: Words, at: number, nowUs: number, cost: number): Decision {
    const tokens = this.tokens(words, at, nowUs)
    const allowed = cost <= this.quota && tokens >= cost * this.partsPerUnit
    const left = allowed ? tokens - cost * this.partsPerUnit : tokens
    if (left !== tokens) this.takeFrom(words, at, nowUs, tokens, cost)
    return this.describe(words, at, nowUs, left, cost, allowed)
  }

  decision(words: Words, at: number, nowUs: number, cost: number, allowed: boolean): Decision {
    return this.describe(words, at, nowUs, this.tokens(words, at, nowUs), cost, allowed)
  }

  level(words: Words, at: number, nowUs: number): number {
    return Math.max(0, this.tokens(words, at, nowUs) / this.partsPerUnit)
  }

  takenUs(_words: Words, _at: number, nowUs: number): number {
    return nowUs
  }

  refund(words: Words, at: number, nowUs: number, units: number, _taken: Taken | undefined): boolean {
    const tokens = this.tokens(words, at, nowUs)
    // Nothing was taken from a full bucket. Another limit with a larger capacity may read the state as not full: it stays.
    if (tokens === this.full) return false
    if (nowUs > words[at + SINCE]) words[at + SINCE] = nowUs
    this.write(words, at, Math.min(this.full, tokens + units * this.partsPerUnit))
    return true
  }

  isWhole(words: Words, at: number, nowUs: number): boolean {
    return this.tokens(words, at, nowUs) === this.full
  }

  /** How long an admitted request waits for its turn, when `tokens` are left after its cost was taken. */
  protected abstract delayMs(tokens: number, aheadUs: number, cost: number): number

  /** The tokens that were written, in parts. A limit with a larger capacity may have written more than `full`. */
  protected abstract read(words: Words, at: number): number

  /** Writes tokens, given in parts. */
  protected abstract write(words: Words, at: number, tokens: number): void

  protected takeFrom(words: Words, at: number, nowUs: number, tokens: number, cost: number): void {
    // A full bucket equals no bucket, so it starts now, even if it has seen a later time.
    if (nowUs > words[at + SINCE] || tokens === this.full) words[at + SINCE] = nowUs
    this.write(words, at, Math.max(tokens - cost * this.partsPerUnit, -MOST_PARTS))
  }

  /** The tokens now, in parts. Below 0 is a debt. */
  protected tokens(words: Words, at: number, nowUs: number): number {
    // A limit with other numbers may have written a debt of more parts than this limit can count.
    const tokens = Math.max(this.read(words, at), -MOST_PARTS)
    if (tokens >= this.full) return this.full
    const gained = (nowUs - words[at + SINCE]) * this.partsPerUs
    if (gained <= 0) return tokens
    return gained >= this.full - tokens ? this.full : tokens + gained
  }

  private describe(words: Words, at: number, nowUs: number, tokens: number, cost: number, allowed: boolean): Decision {
    const { partsPerUnit, partsPerMs, full } = this
    const isWhole = tokens === full
    // After the clock stepped back, no tokens come in until it is where it was.
    const aheadUs = isWhole ? 0 : Math.max(0, words[at + SINCE] - nowUs)
    const missing = aheadUs * this.partsPerUs - tokens
    const remaining = Math.max(0, Math.floor(tokens / partsPerUnit))
    // A quota of 0 has no next unit: its debt ends at 0.
    const next = Math.min(remaining + 1, this.quota)
    return {
      allowed,
      quota: this.quota,
      remaining,
      retryAfterMs: allowed
        ? 0
        : cost > this.quota
          ? Infinity
          : Math.ceil((cost * partsPerUnit + missing) / partsPerMs),
      nextUnitAfterMs: isWhole ? 0 : Math.ceil((next * partsPerUnit + missing) / partsPerMs),
      resetAfterMs: isWhole ? 0 : Math.ceil((full + missing) / partsPerMs),
      delayMs: allowed ? this.delayMs(tokens, aheadUs, cost) : 0,
    }
  }
}

function checkShortfall(capacity: number, option: string, rate: ExactRate, gain: bigint, scale: bigint): void {
  const shortfall = rate.units * scale - gain * rate.perUs
  if (shortfall * LARGEST_SHORTFALL <= rate.units * scale) return
  const years = (capacity * Number(rate.perUs)) / Number(rate.units) / 31_557_600_000_000
  const why = years > 35 ? `takes ${years.toPrecision(3)} years to fill` : 'is too large for so uneven a rate'
  throw new InvalidValueError(
    `a capacity of ${capacity} at ${option} ${shown(rate.text)} ${why} and cannot be counted to one in a million; ` +
      'use a smaller capacity, or a rounder or faster rate',
  )
}
