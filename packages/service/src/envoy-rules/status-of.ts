import type { Decision, Limit } from 'sluice'
import { CODES, type DescriptorStatus, LARGEST_NUMBER, type RateLimitUnit, UNITS } from '../envoy/rate-limit-request.js'
import type { Outcome } from './outcome.js'

/** The status of a descriptor that has no limit. */
export const NO_LIMIT: DescriptorStatus = { code: CODES.ok, limitRemaining: 0 }

/** The status of a descriptor as the client is told it. */
export function statusOf({ asked, isOver, tightest }: Outcome): DescriptorStatus {
  const code = isOver && !asked.isShadow ? CODES.overLimit : CODES.ok
  if (tightest === undefined) return { code, limitRemaining: LARGEST_NUMBER }
  const { limit, decision, isOfPeriod } = tightest
  const { requestsPerUnit, unit } = shownLimit(limit, isOfPeriod)
  return {
    code,
    currentLimit: { requestsPerUnit, unit, name: asked.rule?.name ?? '' },
    limitRemaining: isOver ? 0 : Math.min(decision.remaining, LARGEST_NUMBER),
    untilResetMs: untilResetMs(decision, isOver),
  }
}

/** A client with units left is told when the whole quota is back. A client without any is told when it may go on. */
function untilResetMs({ remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs }: Decision, isOver: boolean): number {
  if (isOver) return retryAfterMs < Infinity ? retryAfterMs : resetAfterMs
  return remaining > 0 ? resetAfterMs : nextUnitAfterMs
}

const UNIT_OF: Readonly<Record<string, RateLimitUnit>> = {
  '1s': UNITS.second,
  '60s': UNITS.minute,
  '1m': UNITS.minute,
  '60m': UNITS.hour,
  '1h': UNITS.hour,
  '24h': UNITS.day,
  '1d': UNITS.day,
  '7d': UNITS.week,
}

/** The windows of calendar periods, by the longest of them. */
const PERIODS: Readonly<Record<string, RateLimitUnit>> = { '7d': UNITS.week, '31d': UNITS.month, '366d': UNITS.year }

/** A limit in the words of the protocol, which has a few units only: any other window is UNKNOWN. */
function shownLimit(
  limit: Limit,
  isPeriod: boolean,
): { readonly requestsPerUnit: number; readonly unit: RateLimitUnit } {
  if ('window' in limit)
    return {
      requestsPerUnit: Math.min(limit.quota, LARGEST_NUMBER),
      unit: (isPeriod ? PERIODS : UNIT_OF)[limit.window] ?? UNITS.unknown,
    }
  if (limit.algorithm === 'token-bucket') {
    const [count, per] = limit.refill.split('/')
    const unit = UNIT_OF[/^\d/.test(per) ? per : `1${per}`]
    if (unit !== undefined && /^\d+$/.test(count))
      return { requestsPerUnit: Math.min(Number(count), LARGEST_NUMBER), unit }
  }
  const quota = 'capacity' in limit ? limit.capacity : 'max' in limit ? limit.max : LARGEST_NUMBER
  return { requestsPerUnit: Math.min(quota, LARGEST_NUMBER), unit: UNITS.unknown }
}
