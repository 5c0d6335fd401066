import { checkOptions, isObject } from '../checks/check-options.js'
import { invalidType, invalidValue } from '../errors.js'
import { type Duration, durationText, durationUs, LONGEST_DURATION_US } from './duration.js'

/** How long a key is denied everything once it exceeds: always `'15m'`, or longer for a key that exceeds again. */
export type BlockFor = Duration | GrowingBlock

/**
 * Blocks that grow. With `{ first: '1m', factor: 2, most: '1d', forget: '1d' }` a key is blocked for 1, 2, 4, 8 minutes and
 * so on up to a day. A day after the end of its last block, the key starts again with a minute.
 */
export interface GrowingBlock {
  /** How long the first block lasts. */
  readonly first: Duration
  /** How many times longer each further block is: a number from 1 to 1,000. Default 2. */
  readonly factor?: number
  /** No block lasts longer. Default: a day, or `first` if that is longer. */
  readonly most?: Duration
  /** How long after the end of a block the key is still known as an offender. Default: a day. */
  readonly forget?: Duration
}

/** `blockFor` as stores read it. Times are whole microseconds. */
export interface BlockRule {
  readonly firstUs: number
  readonly factor: number
  readonly mostUs: number
  /** 0 if blocks do not grow: then nothing is remembered after the end of a block. */
  readonly forgetUs: number
}

/** The block of a key. Times are whole epoch microseconds. */
export interface KeyBlock {
  /** When the block ends. */
  readonly untilUs: number
  /** How long the last block by a rule was; 0 if there was none. */
  readonly lastUs: number
  /** Until when `lastUs` is remembered; 0 if it is not. */
  readonly rememberedUs: number
}

const OPTIONS = ['first', 'factor', 'most', 'forget'] satisfies (keyof GrowingBlock)[]
const MOST_FACTOR = 1_000
const DAY_US = 86_400_000_000
const FACTOR_WANTED = 'a number from 1 to 1,000, which makes each block so many times longer than the one before'

/** Reads the option `blockFor`. The error for a wrong value says what would be right. */
export function parseBlockFor(value: unknown): BlockRule {
  if (!isObject(value)) return fixedRule(value)
  const { factor = 2, ...given } = checkOptions('blockFor', value, OPTIONS)
  if (typeof factor !== 'number') throw invalidType('blockFor.factor', FACTOR_WANTED, factor)
  if (!isFactor(factor)) throw invalidValue('blockFor.factor', FACTOR_WANTED, factor)
  const firstUs = durationUs('blockFor.first', given.first)
  const mostUs = given.most === undefined ? Math.max(firstUs, DAY_US) : durationUs('blockFor.most', given.most)
  if (mostUs < firstUs) throw invalidValue('blockFor.most', `at least first, ${durationText(firstUs)}`, given.most)
  const forgetUs = given.forget === undefined ? DAY_US : durationUs('blockFor.forget', given.forget)
  return Object.freeze({ firstUs, factor, mostUs, forgetUs })
}

function fixedRule(value: unknown): BlockRule {
  if (typeof value !== 'string' && typeof value !== 'number')
    throw invalidType('blockFor', "a duration such as '15m', or blocks that grow such as { first: '1m' }", value)
  const firstUs = durationUs('blockFor', value)
  return Object.freeze({ firstUs, factor: 1, mostUs: firstUs, forgetUs: 0 })
}

/** A rule as it is written in code and in files. */
export function blockForOf({ firstUs, factor, mostUs, forgetUs }: BlockRule): BlockFor {
  if (forgetUs === 0) return durationText(firstUs)
  return { first: durationText(firstUs), factor, most: durationText(mostUs), forget: durationText(forgetUs) }
}

/** Throws unless the value is a rule as `parseBlockFor` makes it: a store may get one from elsewhere. */
export function checkBlockRule(value: unknown): BlockRule {
  const { firstUs, factor, mostUs, forgetUs } = (value ?? {}) as Partial<BlockRule>
  const isRight =
    isBetween(firstUs, 1, mostUs) && isBetween(mostUs, 1) && isBetween(forgetUs, 0) && isFactor(factor as number)
  if (isRight) return value as BlockRule
  const wanted = '{ firstUs, factor, mostUs, forgetUs }: whole microseconds up to 36500d, and a factor from 1 to 1,000'
  throw invalidType('blockFor of a demand', wanted, value)
}

function isBetween(us: number | undefined, least: number, most = LONGEST_DURATION_US): boolean {
  return Number.isSafeInteger(us) && (us as number) >= least && (us as number) <= most
}

function isFactor(value: number): boolean {
  return value >= 1 && value <= MOST_FACTOR
}

/** The block that a key gets if it exceeds now. `earlier` is what is known of its blocks. */
export function nextBlock(rule: BlockRule, earlier: KeyBlock | undefined, nowUs: number): KeyBlock {
  const { firstUs, factor, mostUs, forgetUs } = rule
  const isRepeated = earlier !== undefined && earlier.rememberedUs > nowUs
  const lastUs = isRepeated ? Math.min(mostUs, Math.max(firstUs, Math.floor(earlier.lastUs * factor))) : firstUs
  const untilUs = nowUs + lastUs
  return { untilUs, lastUs, rememberedUs: forgetUs === 0 ? 0 : untilUs + forgetUs }
}
