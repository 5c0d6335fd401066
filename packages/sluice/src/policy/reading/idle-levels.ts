import type { PolicyProblem } from '../../errors.js'
import { type Limit, restrains } from '../../limits/index.js'
import { asksAbsence, implies, isPresence } from './implies.js'
import type { Path } from './problems.js'
import type { ReadLevel } from './read-level.js'

/** Beyond these, finding out would take longer than anybody wants to wait for a policy. */
const MOST_COMPARED_LEVELS = 2_000
const MOST_COMPARED_LIMITS = 1_000

/**
 * Levels that can never deny, or never match: they look like protection and are none. A level that only an override of
 * another lets requests reach is not among them.
 */
export function findIdleLevels(levels: readonly ReadLevel[]): readonly PolicyProblem[] {
  const others = levels.length > MOST_COMPARED_LEVELS ? [] : levels
  return levels.flatMap((level, place) => {
    const path = ['levels', place]
    const contradiction = level.asks.find(({ attribute, test }) => level.key.includes(attribute) && asksAbsence(test))
    if (contradiction !== undefined) {
      const { attribute } = contradiction
      const message = `'${level.name}' can never match: its key needs ${attribute}, which its when wants absent`
      return [{ path: [...path, 'when', attribute], message }]
    }
    // A shadow is not meant to deny.
    if (level.shadow) return []
    if (level.cost === 0) {
      return [{ path: [...path, 'cost'], message: `'${level.name}' can never deny: it takes nothing` }]
    }
    const before = others.findIndex((other, i) => i !== place && isBefore(other, i, level, place))
    if (before >= 0) {
      const message = `'${level.name}' can never deny: '${levels[before].name}' never lets so much through`
      return [{ path: [...path, 'limit'], message }]
    }
    return idleLimits(level, path)
  })
}

/** Does the other level deny everything that this one would? Of two that are equal the later one is idle. */
function isBefore(other: ReadLevel, otherPlace: number, level: ReadLevel, place: number): boolean {
  return isAbove(other, level) && (otherPlace < place || !isAbove(level, other))
}

function isAbove(other: ReadLevel, level: ReadLevel): boolean {
  return (
    !other.shadow &&
    other.key.every((attribute) => level.key.includes(attribute)) &&
    takesAsMuch(other, level) &&
    matchesWhenever(other, level) &&
    restrainsAll(alternativesOf(other), alternativesOf(level))
  )
}

/** Whichever limits are in force in either level, are those of the second restrained? */
function restrainsAll(firsts: Alternatives, seconds: Alternatives): boolean {
  if (firsts.length * seconds.length > MOST_COMPARED_LIMITS) return false
  return firsts.every((others) =>
    seconds.every((limits) => limits.every((limit) => others.some((each) => restrains(each, limit)))),
  )
}

function takesAsMuch(other: ReadLevel, level: ReadLevel): boolean {
  if (typeof other.cost === 'number' && typeof level.cost === 'number') return other.cost >= level.cost
  return other.cost === level.cost
}

function matchesWhenever(other: ReadLevel, level: ReadLevel): boolean {
  return other.asks.every(({ attribute, test }) => {
    const asked = level.asks.find((each) => each.attribute === attribute)
    if (asked !== undefined) return implies(asked.test, test)
    return level.key.includes(attribute) && isPresence(test)
  })
}

type Alternatives = readonly (readonly Limit[])[]

function alternativesOf({ limits, overrides }: ReadLevel): Alternatives {
  const all = [limits, ...overrides.map((override) => override.limits)]
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()]
}

/** Limits of one level that another limit of it never lets come to anything. */
function idleLimits({ name, limits, overrides }: ReadLevel, path: Path): readonly PolicyProblem[] {
  const lists = [
    { at: [...path, 'limit'], limits },
    ...overrides.map((override, i) => ({ at: [...path, 'overrides', i, 'limit'], limits: override.limits })),
  ]
  return lists.flatMap(({ at, limits }) =>
    limits.flatMap((limit, i) => {
      const before = limits.findIndex(
        (other, j) => j !== i && restrains(other, limit) && (j < i || !restrains(limit, other)),
      )
      if (before < 0) return []
      const message = `limit ${i + 1} of '${name}' can never deny: limit ${before + 1} never lets so much through`
      return [{ path: [...at, i], message }]
    }),
  )
}
