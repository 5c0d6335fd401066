import type { PolicyProblem } from '../../errors.js'
import { type Limit, restrains } from '../../limits/index.js'
import { isAboutKey } from './about-key.js'
import { asksAbsence, implies, isPresence } from './implies.js'
import { LevelsBeside } from './levels-beside.js'
import type { Path } from './problems.js'
import type { ReadLevel } from './read-level.js'
import { Work } from './work.js'

/** Of a level with more overrides than this it is not known which limits may be in force. */
const MOST_ALTERNATIVES = 1_000
/** How many other comparisons one of two limits takes as long as. */
const LIMITS_WORK = 20

/**
 * Levels that can never deny, or never match: they look like protection and are none. A level that only an override of
 * another lets requests reach is not among them. Where finding all of them would take long, some are not found, and that
 * is said.
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
  readonly #beside: LevelsBeside
  readonly #work = new Work()

  constructor(levels: readonly ReadLevel[], ipv6Prefix: number) {
    this.#levels = levels
    this.#ipv6Prefix = ipv6Prefix
    this.#beside = new LevelsBeside(levels, ipv6Prefix)
  }

  find(): readonly PolicyProblem[] {
    const found = this.#levels.flatMap((level, place) => this.#idle(level, place))
    if (!this.#work.isUsedUp) return found
    const message = 'not all levels were compared, which would take long: others may never deny either'
    return [...found, { path: ['levels'], message }]
  }

  #idle(level: ReadLevel, place: number): readonly PolicyProblem[] {
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
    const before = this.#levelBefore(level)
    if (before === undefined) return this.#idleLimits(level, path)
    const message = `'${level.name}' can never deny: '${before.name}' never lets so much through`
    return [{ path: [...path, 'limit'], message }]
  }

  /** A level that denies everything that this one would. Of two that are equal the later one is idle. */
  #levelBefore(level: ReadLevel): ReadLevel | undefined {
    if (this.#work.isUsedUp) return undefined
    const beside = this.#beside.of(level)
    if (!this.#work.allows(beside.length)) return undefined
    const place = beside.indexOf(level)
    return beside.find(
      (other, i) => i !== place && this.#isAbove(other, level) && (i < place || !this.#isAbove(level, other)),
    )
  }

  #isAbove(other: ReadLevel, level: ReadLevel): boolean {
    return (
      !other.shadow &&
      other.key.every((attribute) => level.key.includes(attribute)) &&
      takesAsMuch(other, level) &&
      this.#restrainsAll(this.#alternativesOf(other), this.#alternativesOf(level)) &&
      this.#matchesWhenever(other, level)
    )
  }

  #matchesWhenever(other: ReadLevel, level: ReadLevel): boolean {
    if (!this.#work.allows(other.asks.length * level.asks.length)) return false
    return other.asks.every(({ attribute, test }) => {
      const asked = level.asks.find((each) => each.attribute === attribute)
      if (asked !== undefined) return implies(asked.test, test, this.#work)
      return level.key.includes(attribute) && isPresence(test)
    })
  }

  /** Whichever limits are in force in either level, are those of the second restrained? */
  #restrainsAll(firsts: Alternatives, seconds: Alternatives): boolean {
    if (firsts.length === 0 || seconds.length === 0) return false
    return firsts.every((others) =>
      seconds.every((limits) => limits.every((limit) => others.some((each) => this.#restrains(each, limit)))),
    )
  }

  #restrains(first: Limit, second: Limit, forTheSame = false): boolean {
    return this.#work.allows(LIMITS_WORK) && restrains(first, second, forTheSame)
  }

  /** None if that cannot be said: then nothing is known of the level. */
  #alternativesOf(level: ReadLevel): Alternatives {
    let alternatives = this.#alternatives.get(level)
    if (alternatives === undefined) {
      alternatives =
        this.#work.allows(level.overrides.length) && areKnown(level, this.#ipv6Prefix)
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
      limits.length === 1
        ? []
        : limits.flatMap((limit, i) => {
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
