import { checkOptions } from '../checks/check-options.js'
import { InvalidPolicyError, invalidType, invalidValue } from '../errors.js'
import type { Limit } from '../limits/index.js'
import type { Matcher } from './matcher.js'
import type { OverrideKey, OverrideOptions } from './policy.js'
import { ProblemList } from './reading/problem-list.js'
import { readLimits } from './reading/read-limits.js'

/** The checked arguments of `override` or, with `limits` undefined, of `removeOverride`. */
export interface OverrideArguments {
  readonly level: string
  readonly key: string
  readonly limits: readonly Limit[] | undefined
  readonly untilMs: number | undefined
}

/** Checks the arguments of `override`, and prepares its limits. */
export function checkOverride(
  matcher: Matcher,
  name: string,
  key: OverrideKey,
  limit: unknown,
  options: OverrideOptions | undefined,
): OverrideArguments {
  const level = matcher.level(name)
  const text = matcher.keyFrom(level, key)
  const untilMs = checkUntil(checkOptions('override', options ?? {}, ['until']).until)
  const problems = new ProblemList()
  const limits = readLimits(problems, ['limit'], limit)
  if (limits === undefined) throw new InvalidPolicyError(problems.all, 'the override')
  level.replacedBy(limits)
  return { level: name, key: text, limits, untilMs }
}

/** Checks the arguments of `removeOverride`. */
export function checkRemoval(matcher: Matcher, name: string, key: OverrideKey): OverrideArguments {
  const level = matcher.level(name)
  return { level: name, key: matcher.keyFrom(level, key), limits: undefined, untilMs: undefined }
}

/** The last time that a `Date` can represent, in epoch milliseconds. */
const LAST_MS = 8.64e15

function checkUntil(value: unknown): number | undefined {
  if (value === undefined) return undefined
  const ms = value instanceof Date ? value.getTime() : value
  const wanted = 'a Date, or a time in epoch milliseconds'
  if (typeof ms !== 'number') throw invalidType('until', wanted, value)
  if (!(ms > 0 && ms <= LAST_MS)) throw invalidValue('until', wanted, ms)
  return ms
}
