import { invalidType, invalidValue } from '../errors.js'
import { durationUs, type Limit } from '../limits/index.js'
import type { LevelDecision, Verdict } from '../policy/index.js'
import { itemsOf, quotaItem } from './quota-items.js'
import { quotaPolicyOf } from './quota-policy.js'
import { integerText, secondsText } from './structured-field.js'

/**
 * How quotas are written in header fields.
 *
 * - `draft`: `RateLimit` and `RateLimit-Policy`, as the IETF's draft has them since its revision 08. The default.
 * - `draft-6`: `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`, in seconds from now.
 * - `legacy`: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, a time in epoch seconds, as GitHub does.
 */
export type Dialect = 'draft' | 'draft-6' | 'legacy'

/** Header fields by name. */
export type Fields = Record<string, string>

type Write = (fields: Fields, levels: readonly LevelDecision[], nowMs: number | undefined) => void

const WRITERS: { readonly [D in Dialect]: Write } = {
  draft(fields, levels) {
    let policies = ''
    let quotas = ''
    for (let i = 0; i < levels.length; i++) {
      if (!isShown(levels[i])) continue
      if (policies !== '') {
        policies += ', '
        quotas += ', '
      }
      const items = itemsOf(levels[i].limit, labelOf(levels, i))
      policies += items.policy
      quotas += quotaItem(items, levels[i].decision)
    }
    fields['RateLimit-Policy'] = policies
    fields.RateLimit = quotas
  },
  'draft-6'(fields, levels) {
    const { limit, decision } = tightest(levels)
    const { quota, windowSeconds } = quotaPolicyOf(limit)
    fields['RateLimit-Limit'] = integerText(quota)
    fields['RateLimit-Remaining'] = integerText(decision.remaining)
    fields['RateLimit-Reset'] = secondsText(resetMs(limit, decision))
    // The field of the newer dialect has the same name and says more.
    if (windowSeconds !== undefined)
      fields['RateLimit-Policy'] ??= `${integerText(quota)};w=${integerText(windowSeconds)}`
  },
  legacy(fields, levels, nowMs) {
    const { limit, decision } = tightest(levels)
    fields['X-RateLimit-Limit'] = integerText(quotaPolicyOf(limit).quota)
    fields['X-RateLimit-Remaining'] = integerText(decision.remaining)
    fields['X-RateLimit-Reset'] = secondsText((nowMs ?? Date.now()) + resetMs(limit, decision))
  },
}

/** Each dialect, in the order in which they are written. */
const DIALECTS = Object.freeze(Object.keys(WRITERS)) as readonly Dialect[]

/** A dialect or several; an error names the option and what would be right. */
export function checkDialects(value: unknown): readonly Dialect[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value ?? 'draft']
  const wanted = `one or several of ${DIALECTS.map((name) => `'${name}'`).join(', ')}`
  for (const each of given) {
    if (typeof each !== 'string') throw invalidType('dialect', wanted, each)
    if (!DIALECTS.includes(each as Dialect)) throw invalidValue('dialect', wanted, each)
  }
  return DIALECTS.filter((each) => given.includes(each))
}

/** Writes the quotas of a verdict: of every level but those that only watch. */
export function writeQuotas(
  fields: Fields,
  { levels }: Verdict,
  dialects: readonly Dialect[],
  nowMs: number | undefined,
): void {
  if (!levels.some(isShown)) return
  for (const dialect of dialects) WRITERS[dialect](fields, levels, nowMs)
}

/** What a level is called in fields: of several limits of a level, each but the first has its number there. */
export function labelOf(levels: readonly LevelDecision[], at: number): string {
  const { name } = levels[at]
  let number = 1
  for (let i = 0; i < at; i++) if (levels[i].name === name && isShown(levels[i])) number++
  return number === 1 ? name : `${name}#${number}`
}

function isShown({ shadow }: LevelDecision): boolean {
  return shadow !== true
}

/** Where there is room for one only: the level that denied for longest, else the one of which least is left. */
function tightest(levels: readonly LevelDecision[]): LevelDecision {
  return levels.filter(isShown).reduce((one, other) => (isTighter(other, one) ? other : one))
}

function isTighter({ decision: one }: LevelDecision, { decision: other }: LevelDecision): boolean {
  if (one.allowed !== other.allowed) return other.allowed
  if (one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs
  if (one.remaining !== other.remaining) return one.remaining < other.remaining
  return one.nextUnitAfterMs > other.nextUnitAfterMs
}

/**
 * A client that has something left is told when the whole quota is back; one that has not, when it may go on, for that is
 * what it waits for.
 */
function resetMs(limit: Limit, decision: LevelDecision['decision']): number {
  const { allowed, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs } = decision
  const ms =
    allowed && remaining > 0 ? resetAfterMs : Math.max(nextUnitAfterMs || 0, retryAfterMs < Infinity ? retryAfterMs : 0)
  return Math.max(0, toldMs(limit, ms || 0))
}

/** A place is free when somebody is done: long before the time after which nobody can hold it any more. */
const PLACE_MS = 1_000

/** How long a client is told to wait for what a limit says comes back after so long. Beyond the `ttl` lies only a block. */
export function toldMs(limit: Limit, ms: number): number {
  if (limit.algorithm !== 'concurrency' || ms <= PLACE_MS) return ms
  return ms <= durationUs('ttl', limit.ttl) / 1_000 ? PLACE_MS : ms
}
