import { checkOptions, isObject } from '../checks/check-options.js'
import { InvalidTypeError, naming, shown } from '../errors.js'
import { checkRemaining } from '../limits/index.js'
import { checkLevels, chosenStates } from './block-arguments.js'
import type { Matcher } from './matcher.js'
import type { PolicySetOptions } from './policy.js'
import type { LevelDemand } from './verdict.js'

/** The checked options of `set`. Only the limits of the chosen levels tell whether `remaining` is right. */
export interface SetArguments {
  readonly remaining: unknown
  /** The levels to set; `undefined` for every level that has a key. */
  readonly levels: readonly string[] | undefined
}

export function checkSetArguments(matcher: Matcher, options: PolicySetOptions<string>): SetArguments {
  if (!isObject(options))
    throw new InvalidTypeError(`set takes an object such as { remaining: 0 }, got ${shown(options)}`)
  const { remaining, levels } = checkOptions('set', options, ['remaining', 'levels'])
  return { remaining, levels: checkLevels(matcher, levels) }
}

/** The demands whose states are set, and the units that each is left. Throws before anything changes. */
export function setDemands(
  matcher: Matcher,
  request: object,
  demands: readonly LevelDemand[],
  { remaining, levels }: SetArguments,
): { readonly chosen: readonly LevelDemand[]; readonly units: number } {
  const chosen = chosenStates(matcher, request, demands, levels, 'set')
  for (const { level, limit } of chosen) naming(`level '${level}'`, () => checkRemaining(limit, remaining))
  return { chosen, units: remaining as number }
}
