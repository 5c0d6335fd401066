import { checkOptions, isObject } from '../checks/check-options.js'
import { InvalidTypeError, InvalidValueError, invalidType, shown } from '../errors.js'
import { durationUs } from '../limits/index.js'
import type { Overrides } from '../stores/index.js'
import type { LevelState, Matcher } from './matcher.js'
import type { PolicyBlockOptions } from './policy.js'

/** The checked options of `block`. */
export interface BlockArguments {
  readonly durationUs: number
  /** The levels to block; `undefined` for every level that has a key. */
  readonly levels: readonly string[] | undefined
}

export function checkBlockArguments(matcher: Matcher, options: PolicyBlockOptions<string>): BlockArguments {
  if (!isObject(options))
    throw new InvalidTypeError(`block takes an object such as { duration: '10m' }, got ${shown(options)}`)
  const { duration, levels } = checkOptions('block', options, ['duration', 'levels'])
  return { durationUs: durationUs('duration', duration), levels: checkLevels(matcher, levels) }
}

/** Checks a list of names of levels. Without a list, returns `undefined`. */
export function checkLevels(matcher: Matcher, levels: unknown): readonly string[] | undefined {
  if (levels === undefined) return undefined
  if (!Array.isArray(levels)) throw invalidType('levels', 'a list of names', levels)
  for (const name of levels) matcher.level(name)
  return levels
}

/** The states that a block of the request denies. */
export function blockedStates(
  matcher: Matcher,
  request: object,
  overrides: Overrides | undefined,
  { levels }: BlockArguments,
): readonly LevelState[] {
  return chosenStates(matcher, request, matcher.statesOf(request, overrides), levels, 'blocked')
}

/**
 * Of states of the request, those of `levels`; by default those of every level that has a key and is no shadow. Throws if
 * there is none: the caller would believe that something was `done`.
 */
export function chosenStates<State extends { readonly level: string }>(
  matcher: Matcher,
  request: object,
  states: readonly State[],
  levels: readonly string[] | undefined,
  done: 'blocked' | 'set',
): readonly State[] {
  const isChosen = (name: string) => {
    const { key, shadow } = matcher.level(name)
    return levels === undefined ? key.length > 0 && !shadow : levels.includes(name)
  }
  const chosen = states.filter(({ level }) => isChosen(level))
  if (chosen.length > 0) return chosen
  const matching = matcher.levelsFor(request)
  const matched = matching.length === 0 ? 'the request matches no level' : `the request matches ${matching.join(', ')}`
  throw new InvalidValueError(
    `nothing would be ${done}: ${matched}, and ` +
      (levels === undefined
        ? `only levels that have a key and are no shadow are ${done} unless \`levels\` names others`
        : `levels names ${levels.length === 0 ? 'none' : levels.join(', ')}`),
    { option: 'levels' },
  )
}
