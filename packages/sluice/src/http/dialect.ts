import { invalidType, invalidValue } from '../errors.js'
import { type Decision, durationUs, isUnlimited, type Limit } from '../limits/index.js'
import type { LevelDecision } from '../policy/index.js'
import { integerText, type Quota, quotaItems, secondsText } from './quota-items.js'

/**
 * How quotas are written in header fields.
 *
 * - `draft`: `RateLimit` and `RateLimit-Policy`, as in the IETF draft since its revision 08. The default.
 * - `draft-6`: `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`, in seconds from now.
 * - `legacy`: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, a time in epoch seconds, as GitHub does.
 */
export type Dialect = 'draft' | 'draft-6' | 'legacy'

/** Header fields by name. */
export type Fields = Record<string, string>

/** A level that fields tell. */
type ToldLevel = LevelDecision & { readonly limit: Quota }

type Write = (
  fields: Fields,
  levels: readonly ToldLevel[],
  nowMs: number | undefined,
  earlier: readonly LevelDecision[],
) => void

const WRITERS: { readonly [D in Dialect]: Write } = {
  draft(fields, levels, _nowMs, earlier) {
    const items = levels.map(({ limit }, i) => quotaItems(limit, labelOf(levels, i, earlier)))
    fields['RateLimit-Policy'] = items.map(({ policy }) => policy).join(', ')
    fields.RateLimit = items.map((item, i) => item.remaining(levels[i].decision)).join(', ')
  },
  'draft-6'(fields, levels) {
    const { items, decision, resetMs } = tightest(levels)
    fields['RateLimit-Limit'] = integerText(items.quota)
    fields['RateLimit-Remaining'] = integerText(decision.remaining)
    fields['RateLimit-Reset'] = secondsText(resetMs)
    // `draft` has a field of the same name that says more, and is written first.
    if (items.windowSeconds !== undefined)
      fields['RateLimit-Policy'] ??= `${integerText(items.quota)};w=${integerText(items.windowSeconds)}`
  },
  legacy(fields, levels, nowMs = Date.now()) {
    const { items, decision, resetMs } = tightest(levels)
    fields['X-RateLimit-Limit'] = integerText(items.quota)
    fields['X-RateLimit-Remaining'] = integerText(decision.remaining)
    fields['X-RateLimit-Reset'] = secondsText(nowMs + resetMs)
  },
}

/** All dialects, in the order in which they are written. */
const DIALECTS = Object.freeze(Object.keys(WRITERS)) as readonly Dialect[]

/** The list of each dialect alone, which is what nearly every call asks for. */
const ALONE: ReadonlyMap<unknown, readonly Dialect[]> = new Map(DIALECTS.map((each) => [each, Object.freeze([each])]))

/** Checks an option that is one dialect or a list of them. */
export function checkDialects(value: unknown): readonly Dialect[] {
  const alone = ALONE.get(value)
  if (alone !== undefined) return alone
  const given: readonly unknown[] = Array.isArray(value) ? value : [value ?? 'draft']
  const wanted = `one or several of ${DIALECTS.map((name) => `'${name}'`).join(', ')}`
  for (const each of given) {
    if (typeof each !== 'string') throw invalidType('dialect', wanted, each)
    if (!DIALECTS.includes(each as Dialect)) throw invalidValue('dialect', wanted, each)
  }
  return DIALECTS.filter((each) => given.includes(each))
}

/** Writes the quotas of all levels into `fields`, except shadow and unlimited ones. `earlier` limits have written theirs. */
export function writeQuotas(
  fields: Fields,
  levels: readonly LevelDecision[],
  dialects: readonly Dialect[],
  nowMs: number | undefined,
  earlier: readonly LevelDecision[],
): void {
  const told = levels.every(isTold) ? levels : levels.filter(isTold)
  if (told.length === 0) return
  for (const dialect of dialects) WRITERS[dialect](fields, told, nowMs, earlier)
}

/** Are clients told of the level? A shadow denies nothing, and there is no field for no limit. */
function isTold(level: LevelDecision): level is ToldLevel {
  return level.shadow !== true && !isUnlimited(level.limit)
}

/**
 * The name of a level in fields. A level with several limits is there once for each: `search`, `search#2`. So are limits in
 * a row that have the same name, or none: `default`, `default#2`. `earlier` are the levels of the limits before.
 */
export function labelOf(levels: readonly LevelDecision[], at: number, earlier: readonly LevelDecision[] = []): string {
  const { name } = levels[at]
  const isNamesake = (level: LevelDecision) => level.name === name && isTold(level)
  const number = 1 + earlier.filter(isNamesake).length + levels.slice(0, at).filter(isNamesake).length
  return number === 1 ? name : `${name}#${number}`
}

/** For dialects with room for one level: the level that denies for longest, otherwise the level with the fewest units left. */
function tightest(levels: readonly ToldLevel[]) {
  let at = 0
  for (let i = 1; i < levels.length; i++) if (isTighter(levels[i].decision, levels[at].decision)) at = i
  const { limit, decision } = levels[at]
  return { items: quotaItems(limit, labelOf(levels, at)), decision, resetMs: resetMsOf(limit, decision) }
}

function isTighter(one: Decision, other: Decision): boolean {
  if (one.allowed !== other.allowed) return other.allowed
  if (one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs
  if (one.remaining !== other.remaining) return one.remaining < other.remaining
  return one.nextUnitAfterMs > other.nextUnitAfterMs
}

/** A client with units left is told when the whole quota is back. A client without any is told when it may go on. */
function resetMsOf(limit: Limit, decision: Decision): number {
  const { allowed, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs } = decision
  const ms =
    allowed && remaining > 0 ? resetAfterMs : Math.max(nextUnitAfterMs || 0, retryAfterMs < Infinity ? retryAfterMs : 0)
  return Math.max(0, shownWaitMs(limit, ms || 0))
}

/** The longest wait that clients are told for a place of a concurrency limit. */
const PLACE_MS = 1_000

/**
 * The wait that a client is told. A concurrency limit knows only when a place is free at the latest, after its `ttl`, but
 * most work ends long before: so a wait of up to the `ttl` is told as one second. A longer wait is a block, and stays.
 */
export function shownWaitMs(limit: Limit, ms: number): number {
  if (limit.algorithm !== 'concurrency' || ms <= PLACE_MS) return ms
  return ms <= durationUs('ttl', limit.ttl) / 1_000 ? PLACE_MS : ms
}
