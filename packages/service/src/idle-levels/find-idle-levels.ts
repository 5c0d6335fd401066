import type { Limit, PolicyProblem, ReadLevel } from 'sluice'
import { isUnlimited } from 'sluice/limits'
import { ComparableLevels } from './comparable-levels.js'
import { ComparisonBudget } from './comparison-budget.js'
import { asksAbsence, asksPresence, implies } from './implies.js'
import { masks } from './masks.js'

/** A level with more overrides than this is not analysed. */
const MOST_ALTERNATIVES = 1_000
/** Comparing two limits takes as long as this many comparisons of texts. */
const LIMITS_COST = 20

/**
 * Finds levels that can never deny or never match: they look like protection, but protect nothing. A level that requests
 * reach only because of another level's override is not idle.
 *
 * Each warning is certain, but not every idle level is found. If comparing all levels would take long, the search stops
 * early, and the last warning says so.
 */
export function findIdleLevels(levels: readonly ReadLevel[]): readonly PolicyProblem[] {
  return levels.length === 0 ? [] : new IdleLevelSearch(levels).run()
}

/** The lists of limits that may be in force in a level: its own, and those of its overrides. */
type Alternatives = readonly (readonly Limit[])[]

class IdleLevelSearch {
  readonly #levels: readonly ReadLevel[]
  readonly #alternatives = new Map<ReadLevel, Alternatives>()
  readonly #comparable: ComparableLevels
  readonly #budget = new ComparisonBudget()

  constructor(levels: readonly ReadLevel[]) {
    this.#levels = levels
    this.#comparable = new ComparableLevels(levels)
  }

  run(): readonly PolicyProblem[] {
    const found = this.#levels.flatMap((level, i) => this.#warningsOf(level, ['levels', i]))
    if (!this.#budget.isExceeded) return found
    const message = 'not all levels were compared, because that would take long: other levels may never deny either'
    return [...found, { path: ['levels'], message }]
  }

  #warningsOf(level: ReadLevel, path: PolicyProblem['path']): readonly PolicyProblem[] {
    const contradiction = level.conditions.find((each) => level.key.includes(each.attribute) && asksAbsence(each))
    if (contradiction !== undefined) {
      const { attribute } = contradiction
      const message = `'${level.name}' can never match: its key needs ${attribute}, which its when wants absent`
      return [{ path: [...path, 'when', attribute], message }]
    }
    // A shadow level is not meant to deny.
    if (level.shadow) return []
    if (level.cost === 0) {
      return [{ path: [...path, 'cost'], message: `'${level.name}' can never deny: it takes nothing` }]
    }
    if (isUnlimitedForAll(level)) {
      return [{ path: [...path, 'limit'], message: `'${level.name}' can never deny: it is unlimited` }]
    }
    // Even if another level denies the same requests: this one goes on to deny the keys that it has blocked.
    if (level.blockFor !== undefined) return []
    const mask = this.#maskOf(level)
    if (mask === undefined) return this.#maskedLimits(level, path)
    const message = `'${level.name}' can never deny: '${mask.name}' never lets so much through`
    return [{ path: [...path, 'limit'], message }]
  }

  /** A level that denies every request that this level would deny. Of two equal levels, the earlier masks the later. */
  #maskOf(level: ReadLevel): ReadLevel | undefined {
    if (this.#budget.isExceeded) return undefined
    const comparable = this.#comparable.with(level)
    if (!this.#budget.spend(comparable.length)) return undefined
    const own = comparable.indexOf(level)
    return comparable.find(
      (other, i) => i !== own && this.#masksLevel(other, level) && (i < own || !this.#masksLevel(level, other)),
    )
  }

  #masksLevel(other: ReadLevel, level: ReadLevel): boolean {
    return (
      !other.shadow &&
      other.key.every((attribute) => level.key.includes(attribute)) &&
      costsAsMuch(other, level) &&
      this.#masksAll(this.#alternativesOf(other), this.#alternativesOf(level)) &&
      this.#matchesWhenever(other, level)
    )
  }

  /** Does `other` match every request that `level` matches? */
  #matchesWhenever(other: ReadLevel, level: ReadLevel): boolean {
    if (!this.#budget.spend(other.conditions.length * level.conditions.length)) return false
    return other.conditions.every((wide) => {
      const narrow = level.conditions.find(({ attribute }) => attribute === wide.attribute)
      if (narrow !== undefined) return implies(narrow, wide, this.#budget)
      return level.key.includes(wide.attribute) && asksPresence(wide)
    })
  }

  /** Whichever limits are in force in both levels: is each limit of the second masked by one of the first? */
  #masksAll(firsts: Alternatives, seconds: Alternatives): boolean {
    if (firsts.length === 0 || seconds.length === 0) return false
    return firsts.every((others) =>
      seconds.every((limits) => limits.every((limit) => others.some((other) => this.#masks(other, limit)))),
    )
  }

  #masks(first: Limit, second: Limit, forSameRequests = false): boolean {
    return this.#budget.spend(LIMITS_COST) && masks(first, second, forSameRequests)
  }

  /** Empty if the level cannot be analysed. */
  #alternativesOf(level: ReadLevel): Alternatives {
    let alternatives = this.#alternatives.get(level)
    if (alternatives === undefined) {
      alternatives =
        this.#budget.spend(level.overrides.length) && canBeAnalysed(level)
          ? distinct([level.limits, ...level.overrides.map(({ limits }) => limits)])
          : []
      this.#alternatives.set(level, alternatives)
    }
    return alternatives
  }

  /** Warnings about limits that are masked by another limit of the same list. */
  #maskedLimits({ name, limits, overrides }: ReadLevel, path: PolicyProblem['path']): readonly PolicyProblem[] {
    const lists = [
      { at: [...path, 'limit'], limits },
      ...overrides.map((override, i) => ({ at: [...path, 'overrides', i, 'limit'], limits: override.limits })),
    ]
    return lists.flatMap(({ at, limits }) =>
      limits.flatMap((limit, i) => {
        const mask = limits.findIndex(
          (other, j) => j !== i && this.#masks(other, limit, true) && (j < i || !this.#masks(limit, other, true)),
        )
        if (mask < 0) return []
        const message = `limit ${i + 1} of '${name}' can never deny: limit ${mask + 1} never lets so much through`
        return [{ path: [...at, i], message }]
      }),
    )
  }
}

/** An unlimited level with an override that limits some requests may deny those. */
function isUnlimitedForAll({ limits, overrides }: ReadLevel): boolean {
  return limits.every(isUnlimited) && overrides.every((override) => override.limits.every(isUnlimited))
}

/**
 * The key alone must determine which limits are in force. If an override depends on another attribute, requests of one
 * key use different states, and no limit sees all of them.
 */
function canBeAnalysed({ overrides }: ReadLevel): boolean {
  return overrides.length <= MOST_ALTERNATIVES && overrides.every(({ isByKey }) => isByKey)
}

function distinct(lists: Alternatives): Alternatives {
  return [...new Map(lists.map((each) => [JSON.stringify(each), each])).values()]
}

function costsAsMuch(other: ReadLevel, level: ReadLevel): boolean {
  if (typeof other.cost === 'number' && typeof level.cost === 'number') return other.cost >= level.cost
  return other.cost === level.cost
}
