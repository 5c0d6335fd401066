import type { PolicyProblem } from '../../errors.js'
import { type Limit, restrains } from '../../limits/index.js'
import { isAboutKey } from './about-key.js'
import { asksAbsence, implies, isPresence } from './implies.js'
import type { Path } from './problems.js'
import type { ReadLevel } from './read-level.js'

/** Finding out must not take longer than anybody wants to wait for a policy. Beyond these it is not known. */
const MOST_COMPARED_LEVELS = 2_000
const MOST_ALTERNATIVES = 1_000
const MOST_COMPARISONS = 200_000

/**
 * Levels that can never deny, or never match: they look like protection and are none. A level that only an override of
 * another lets requests reach is not among them.
 */
export function findIdleLevels(levels: readonly ReadLevel[], ipv6Prefix: number): readonly PolicyProblem[] {
  return new IdleLevels(levels, ipv6Prefix).find()
}

/** The limits that may be in force in a level, one list or another. */
type Alternatives = readonly (readonly Limit[])[]

class IdleLevels {
  readonly #levels: readonly ReadLevel[]
  readonly #alternatives = new Map<ReadLevel, Alternatives>()
  readonly #ipv6Prefix: number
  #comparisons = 0

  constructor(levels: readonly ReadLevel[], ipv6Prefix: number) {
    this.#levels = levels
    this.#ipv6Prefix = ipv6Prefix
  }

  find(): readonly PolicyProblem[] {
    return this.#levels.flatMap((level, place) => {
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
      const before = this.#levelBefore(level, place)
      if (before === undefined) return this.#idleLimits(level, path)
      const message = `'${level.name}' can never deny: '${before.name}' never lets so much through`
      return [{ path: [...path, 'limit'], message }]
    })
  }

  /** A level that denies everything that this one would. Of two that are equal the later one is idle. */
  #levelBefore(level: ReadLevel, place: number): ReadLevel | undefined {
    if (this.#levels.length > MOST_COMPARED_LEVELS) return undefined
    return this.#levels.find(
      (other, i) => i !== place && this.#isAbove(other, level) && (i < place || !this.#isAbove(level, other)),
    )
  }

  #isAbove(other: ReadLevel, level: ReadLevel): boolean {
    return (
      !other.shadow &&
      other.key.every((attribute) => level.key.includes(attribute)) &&
      takesAsMuch(other, level) &&
      matchesWhenever(other, level) &&
      this.#restrainsAll(this.#alternativesOf(other), this.#alternativesOf(level))
    )
  }

  /** Whichever limits are in force in either level, are those of the second restrained? */
  #restrainsAll(firsts: Alternatives, seconds: Alternatives): boolean {
    if (firsts.length === 0 || seconds.length === 0) return false
    return firsts.every((others) =>
      seconds.every((limits) => limits.every((limit) => others.some((each) => this.#restrains(each, limit)))),
    )
  }

  #restrains(first: Limit, second: Limit, forTheSame = false): boolean {
    return ++this.#comparisons <= MOST_COMPARISONS && restrains(first, second, forTheSame)
  }

  /** None if that cannot be said: then nothing is known of the level. */
  #alternativesOf(level: ReadLevel): Alternatives {
    let alternatives = this.#alternatives.get(level)
    if (alternatives === undefined) {
      alternatives = areKnown(level, this.#ipv6Prefix)
        ? distinct([level.limits, ...level.overrides.map(({ limits }) => limits)])
        : []
      this.#alternatives.set(level, alternatives)
    }
    return alternatives
  }

  /** Limits of one level that another limit of it never lets come to anything. */
  #idleLimits({ name, limits, overrides }: ReadLevel, path: Path): readonly PolicyProblem[] {
    const lists = [
      { at: [...path, 'limit'], limits },
      ...overrides.map((override, i) => ({ at: [...path, 'overrides', i, 'limit'], limits: override.limits })),
    ]
    return lists.flatMap(({ at, limits }) =>
      limits.flatMap((limit, i) => {
        const before = limits.findIndex(
          (other, j) =>
            j !== i && this.#restrains(other, limit, true) && (j < i || !this.#restrains(limit, other, true)),
        )
        if (before < 0) return []
        const message = `limit ${i + 1} of '${name}' can never deny: limit ${before + 1} never lets so much through`
        return [{ path: [...at, i], message }]
      }),
    )
  }
}

/**
 * Which limits are in force must be a matter of the key alone. An override that asks about something else gives one key
 * now these limits, now those, which do not see all that is taken.
 */
function areKnown({ key, overrides }: ReadLevel, ipv6Prefix: number): boolean {
  return overrides.length <= MOST_ALTERNATIVES && overrides.every(({ asks }) => isAboutKey(asks, key, ipv6Prefix))
}

function distinct(lists: Alternatives): Alternatives {
  return [...new Map(lists.map((each) => [JSON.stringify(each), each])).values()]
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
