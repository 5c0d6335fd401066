/** The arguments of a policy's methods, checked before anything happens. */
import { checkOptions } from '../checks/check-options.js'
import { InvalidPolicyError, invalidType, invalidValue } from '../errors.js'
import type { Limit } from '../limits/index.js'
import type { Overrides, Store } from '../stores/index.js'
import type { LevelState, Matcher } from './matcher.js'
import type { OverrideKey, OverrideOptions, ResetOptions } from './policy.js'
import { Problems } from './reading/problems.js'
import { readLimits } from './reading/read-limits.js'

/** What an override sets: for which key of which level, which limits, until when. */
export interface OverrideCall {
  readonly level: string
  readonly key: string
  readonly limits: readonly Limit[] | undefined
  readonly untilMs: number | undefined
}

export function checkOverride(
  matcher: Matcher,
  name: string,
  key: OverrideKey,
  limit: unknown,
  options: OverrideOptions | undefined,
): OverrideCall {
  const level = matcher.level(name)
  const text = matcher.keyFrom(level, key)
  const untilMs = checkUntil(checkOptions('override', options ?? {}, ['until']).until)
  const problems = new Problems()
  const limits = readLimits(problems, ['limit'], limit)
  if (limits === undefined) throw new InvalidPolicyError(problems.all)
  level.atRunTime(limits)
  return { level: name, key: text, limits, untilMs }
}

export function checkRemoval(matcher: Matcher, name: string, key: OverrideKey): OverrideCall {
  const level = matcher.level(name)
  return { level: name, key: matcher.keyFrom(level, key), limits: undefined, untilMs: undefined }
}

/** The states that are to be forgotten. */
export function checkReset(
  matcher: Matcher,
  request: object,
  overrides: Overrides | undefined,
  options: ResetOptions<string> | undefined,
): readonly LevelState[] {
  const { levels } = checkOptions('reset', options ?? {}, ['levels'])
  const states = matcher.statesOf(request, overrides)
  if (levels === undefined) return states
  if (!Array.isArray(levels)) throw invalidType('levels', 'a list of names', levels)
  for (const name of levels) matcher.level(name)
  return states.filter(({ level }) => levels.includes(level))
}

/** The store's overrides for a policy, or an error that says that it has none. */
export function overridesOf(store: Store, policy: string): Overrides {
  const overrides = store.overrides?.(policy)
  if (overrides !== undefined) return overrides
  throw invalidType('store', 'one that keeps overrides, as memoryStore() and redisStore(client) do', store)
}

/** The last time that a Date can tell. */
const LAST_MS = 8.64e15

function checkUntil(value: unknown): number | undefined {
  if (value === undefined) return undefined
  const ms = value instanceof Date ? value.getTime() : value
  const wanted = 'a Date, or a time in epoch milliseconds'
  if (typeof ms !== 'number') throw invalidType('until', wanted, value)
  if (!(ms > 0 && ms <= LAST_MS)) throw invalidValue('until', wanted, ms)
  return ms
}
