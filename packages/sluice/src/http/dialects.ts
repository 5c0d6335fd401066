import { invalidType, invalidValue } from '../errors.js'
import type { LevelDecision, Verdict } from '../policy/index.js'
import { quotaPolicyOf } from './quota-policy.js'
import { integerText, secondsText, stringText } from './structured-field.js'

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

type Write = (fields: Fields, shown: readonly ShownLevel[], nowMs: number) => void

/** A level as a client sees it. */
export interface ShownLevel extends LevelDecision {
  /** As it appears in fields: no two levels of an answer have the same. */
  readonly label: string
}

const WRITERS: { readonly [D in Dialect]: Write } = {
  draft(fields, shown) {
    let policies = ''
    let quotas = ''
    for (const { label, limit, decision } of shown) {
      const between = policies === '' ? '' : ', '
      const name = stringText(label)
      const { quota, windowSeconds } = quotaPolicyOf(limit)
      const { remaining, nextUnitAfterMs } = decision
      policies += `${between}${name};q=${integerText(quota)};w=${integerText(windowSeconds)}`
      const seconds = nextUnitAfterMs > 0 && nextUnitAfterMs < Infinity ? `;t=${secondsText(nextUnitAfterMs)}` : ''
      quotas += `${between}${name};r=${integerText(remaining)}${seconds}`
    }
    fields['RateLimit-Policy'] = policies
    fields.RateLimit = quotas
  },
  'draft-6'(fields, shown) {
    const { limit, decision } = tightest(shown)
    const { quota, windowSeconds } = quotaPolicyOf(limit)
    fields['RateLimit-Limit'] = integerText(quota)
    fields['RateLimit-Remaining'] = integerText(decision.remaining)
    fields['RateLimit-Reset'] = secondsText(resetMs(decision))
    // The field of the newer dialect has the same name and says more.
    fields['RateLimit-Policy'] ??= `${integerText(quota)};w=${integerText(windowSeconds)}`
  },
  legacy(fields, shown, nowMs) {
    const { limit, decision } = tightest(shown)
    fields['X-RateLimit-Limit'] = integerText(quotaPolicyOf(limit).quota)
    fields['X-RateLimit-Remaining'] = integerText(decision.remaining)
    fields['X-RateLimit-Reset'] = secondsText(nowMs + resetMs(decision))
  },
}

/** Each dialect, in the order in which they are written. */
export const DIALECTS = Object.freeze(Object.keys(WRITERS)) as readonly Dialect[]

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
export function writeQuotas(fields: Fields, verdict: Verdict, dialects: readonly Dialect[], nowMs: number): void {
  const shown = shownLevels(verdict)
  if (shown.length === 0) return
  for (const dialect of dialects) WRITERS[dialect](fields, shown, nowMs)
}

/** The levels that a client is told of. Of several limits of a level, each but the first has its number in its label. */
export function shownLevels({ levels }: Verdict): readonly ShownLevel[] {
  const shown: ShownLevel[] = []
  for (const level of levels) {
    if (level.shadow === true) continue
    const { name } = level
    const before = shown.length === 0 ? 0 : shown.filter((each) => each.name === name).length
    shown.push({ ...level, label: before === 0 ? name : `${name}#${before + 1}` })
  }
  return shown
}

/** Where there is room for one only: the level that denied for longest, else the one of which least is left. */
function tightest(shown: readonly ShownLevel[]): ShownLevel {
  return shown.reduce((one, other) => (isTighter(other, one) ? other : one))
}

function isTighter({ decision: one }: ShownLevel, { decision: other }: ShownLevel): boolean {
  if (one.allowed !== other.allowed) return other.allowed
  if (one.retryAfterMs !== other.retryAfterMs) return one.retryAfterMs > other.retryAfterMs
  if (one.remaining !== other.remaining) return one.remaining < other.remaining
  return one.nextUnitAfterMs > other.nextUnitAfterMs
}

/**
 * A client that has something left is told when the whole quota is back; one that has not, when it may go on, for that is
 * what it waits for.
 */
function resetMs({
  allowed,
  remaining,
  retryAfterMs,
  nextUnitAfterMs,
  resetAfterMs,
}: LevelDecision['decision']): number {
  if (allowed && remaining > 0) return resetAfterMs
  return Math.max(nextUnitAfterMs, retryAfterMs < Infinity ? retryAfterMs : 0)
}
