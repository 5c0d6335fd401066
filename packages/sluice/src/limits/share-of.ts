import { parseLimit } from './arithmetic-of.js'
import { durationText, durationUs } from './duration.js'
import { type Limit, quotaOf } from './limit.js'
import { exactRate } from './rate.js'

/** A count has at most 15 digits before its point, and nine decimals. */
const LARGEST_COUNT = 10n ** 15n
const BILLION = 10n ** 9n
/** Periods of rounded rates. The longest rounds least; the shorter ones are for counts with too many digits. */
const PERIODS = ['36500d', '1d', '1s', '1ms'].map((text) => ({ text, us: BigInt(durationUs('period', text)) }))

/**
 * One of `instances` equal shares of a limit, such that all shares together keep the limit's law:
 *
 *     share quota · instances ≤ quota        share rate · instances ≤ rate
 *
 * Both are rounded down; a window keeps its length. A limit that gives nothing or everything is its own share. Returns
 * `undefined` for a share that admits nothing of a limit that admits something: it has less than one unit, or is too slow to
 * be counted. Never throws for a limit made by its function and a whole number from 1.
 */
export function shareOf(limit: Limit, instances: number): Limit | undefined {
  const quota = quotaOf(limit)
  if (instances === 1 || quota === 0 || quota === Infinity) return limit
  const units = (quota - (quota % instances)) / instances
  if (units === 0) return undefined
  switch (limit.algorithm) {
    case 'token-bucket':
      return firstCounted(slowed(limit.refill, instances), (refill) => ({ ...limit, capacity: units, refill }))
    case 'leaky-bucket':
      return firstCounted(slowed(limit.drain, instances), (drain) => ({ ...limit, capacity: units, drain }))
    case 'concurrency':
      return parseLimit({ ...limit, max: units })
    default:
      return parseLimit({ ...limit, quota: units })
  }
}

/** The limit with the first of these rates that can be written and that a bucket can count. */
function firstCounted(rates: readonly (string | undefined)[], withRate: (rate: string) => object): Limit | undefined {
  for (const rate of rates) {
    try {
      if (rate !== undefined) return parseLimit(withRate(rate))
    } catch {
      // Its period is too long, or it is too slow or too uneven to count. The next rate is slower and may be rounder.
    }
  }
  return undefined
}

/**
 * Rates that are at most 1/`instances` of a rate, the exact one first: '5/s' divided by three is '5/3s'. If that period is
 * too long to write, the count is divided instead and rounded down.
 */
function slowed(rate: string, instances: number): readonly (string | undefined)[] {
  const [count, period] = rate.split('/')
  const periodUs = durationUs('period', /^\d/.test(period) ? period : `1${period}`) * instances
  return [`${count}/${durationText(periodUs)}`, rounded(rate, instances)]
}

/** 1/`instances` of a rate with its count rounded down to nine decimals; `undefined` if that is 0. */
function rounded(rate: string, instances: number): string | undefined {
  const { units, perUs } = exactRate('rate', rate)
  const divisor = perUs * BigInt(instances)
  for (const { text, us } of PERIODS) {
    const billionths = (units * us * BILLION) / divisor
    if (billionths === 0n) return undefined
    if (billionths >= LARGEST_COUNT * BILLION) continue
    return `${billionths / BILLION}.${String(billionths % BILLION).padStart(9, '0')}/${text}`
  }
  return undefined
}
