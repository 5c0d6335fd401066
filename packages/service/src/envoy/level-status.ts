import type { Decision, LevelDecision, Limit, Verdict } from 'sluice'
import { durationUs, exactRate, isUnlimited } from 'sluice/limits'
import { WINDOW_OF_UNIT } from './override-limits.js'
import { CODES, type DescriptorStatus, LARGEST_NUMBER, type RateLimitUnit, UNITS } from './rate-limit-request.js'

/** The status of a descriptor: that of its tightest level. Shadow levels are not told, because they deny nothing. */
export function levelStatus({ allowed, levels }: Verdict): DescriptorStatus {
  const code = allowed ? CODES.ok : CODES.overLimit
  const tightest = tightestOf(levels)
  if (tightest === undefined) {
    const isUnlimitedOnly = levels.some(({ limit, shadow }) => shadow !== true && isUnlimited(limit))
    return {
      code,
      limitRemaining: isUnlimitedOnly ? LARGEST_NUMBER : 0,
      currentLimit: undefined,
      untilResetMs: undefined,
    }
  }
  const { name, limit, decision } = tightest
  return {
    code,
    limitRemaining: decision.remaining,
    currentLimit: { requestsPerUnit: decision.quota, unit: unitOf(limit), name },
    untilResetMs: resetMsOf(decision),
  }
}

/** The level that denies for longest, otherwise the level with the fewest units left. */
function tightestOf(levels: readonly LevelDecision[]): LevelDecision | undefined {
  let tightest: LevelDecision | undefined
  for (let i = 0; i < levels.length; i++) {
    const level = levels[i]
    if (level.shadow === true || (isUnlimited(level.limit) && level.decision.allowed)) continue
    if (tightest === undefined || isTighter(level.decision, tightest.decision)) tightest = level
  }
  return tightest
}

function isTighter(one: Decision, other: Decision): boolean {
  if (one.allowed !== other.allowed) return other.allowed
  if (one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs
  if (one.remaining !== other.remaining) return one.remaining < other.remaining
  return one.nextUnitAfterMs > other.nextUnitAfterMs
}

/** A client with units left is told when the whole quota is back. A client without any is told when it may go on. */
function resetMsOf({ allowed, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs }: Decision): number | undefined {
  const ms =
    allowed && remaining > 0 ? resetAfterMs : Math.max(nextUnitAfterMs, retryAfterMs < Infinity ? retryAfterMs : 0)
  return ms < Infinity ? ms : undefined
}

const UNIT_OF_US = new Map(
  Object.entries(WINDOW_OF_UNIT).map(([unit, window]) => [durationUs('window', window), Number(unit) as RateLimitUnit]),
)
const units = new WeakMap<Limit, RateLimitUnit>()

/** The unit of time in which the whole quota comes back; 0 if it is none of the protocol's. */
function unitOf(limit: Limit): RateLimitUnit {
  let unit = units.get(limit)
  if (unit === undefined) {
    unit = UNIT_OF_US.get(spanUs(limit)) ?? UNITS.unknown
    units.set(limit, unit)
  }
  return unit
}

/** A window, or the time in which a bucket fills. */
function spanUs(limit: Limit): number {
  if ('window' in limit) return durationUs('window', limit.window)
  if (!('capacity' in limit)) return 0
  const { units: count, perUs } = exactRate('rate', 'refill' in limit ? limit.refill : limit.drain)
  return (limit.capacity * Number(perUs)) / Number(count)
}
