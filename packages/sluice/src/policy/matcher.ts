import { nearest } from '../checks/nearest.js'
import { InvalidTypeError, InvalidValueError, invalidType, shown } from '../errors.js'
import { blockForOf, isConcurrency, type Limit } from '../limits/index.js'
import type { OverrideEntry, Overrides } from '../stores/index.js'
import type { CheckedRequest, JointDemands } from './check-requests.js'
import { CompiledLevel, type Prepare } from './compiled-level.js'
import type { Explanation } from './explanation.js'
import { Facts } from './matching/facts.js'
import { RuleIndex } from './matching/rule-index.js'
import { mismatchText } from './mismatch-text.js'
import type { OverrideKey, RunTimeOverride } from './policy.js'
import type { ReadPolicy } from './reading/read-policy.js'
import type { CostsFor } from './taken-demands.js'
import type { LevelDemand } from './verdict.js'

/** The name and key of a state, and the level it belongs to. */
export interface LevelState {
  readonly level: string
  readonly name: string
  readonly key: string
}

/**
 * Turns a request into demands on the store.
 *
 * All requests share one `Facts` and one index, which hold one request at a time. This is safe because every method is
 * synchronous, reads the request first and returns nothing that refers to them. Code that waits must wait before it
 * calls a method, and must pass a copy (`copyOf`) if the caller could change the request meanwhile.
 */
export class Matcher {
  readonly levels: readonly CompiledLevel[]
  /** The attributes that the policy asks about. */
  readonly attributes: readonly string[]
  /** Is any limit a leaky bucket? */
  readonly queues: boolean
  /** Is any limit a concurrency limit? */
  readonly leases: boolean
  readonly #byName: ReadonlyMap<string, CompiledLevel>
  readonly #facts: Facts
  readonly #index: RuleIndex<CompiledLevel>

  constructor(
    policy: string,
    { levels, attributes, ipv6Prefix }: Pick<ReadPolicy, 'levels' | 'attributes' | 'ipv6Prefix'>,
    prepare: Prepare = () => {},
  ) {
    const facts = new Facts(ipv6Prefix)
    const limits = levels.flatMap((level) => [level, ...level.overrides]).flatMap((each) => each.limits)
    this.attributes = attributes
    this.queues = limits.some(({ algorithm }) => algorithm === 'leaky-bucket')
    this.leases = limits.some(isConcurrency)
    this.levels = levels.map((level) => new CompiledLevel(policy, level, facts, prepare))
    this.#byName = new Map(this.levels.map((level) => [level.name, level]))
    this.#index = new RuleIndex(this.levels.map((level) => ({ item: level, tests: level.tests })))
    this.#facts = facts
  }

  /**
   * The demands of every level that matches, in the order of the policy. `limits` replace those in force. A request that only
   * looks takes nothing, also in levels with a cost of their own.
   */
  demandsOf(
    request: object,
    callCost: number,
    overrides: Overrides | undefined,
    limits?: readonly Limit[],
    isLook = false,
  ): LevelDemand[] {
    const facts = this.#read(request)
    const matched = this.#index.find(facts)
    const runTime = overrides !== undefined && overrides.size > 0 ? overrides : undefined
    const demands: LevelDemand[] = []
    for (let i = 0; i < matched; i++) {
      const level = this.#index.at(i)
      const key = level.keyOf(facts)
      if (key === undefined) continue
      const cost = isLook ? 0 : level.costOf(facts, callCost)
      const { name, shadow, onFailure, blockFor } = level
      const lists = limits === undefined ? level.limitsFor(facts, key, runTime) : level.replacedBy(limits)
      for (let k = 0; k < lists.length; k++) {
        const named = lists[k]
        const inForce = named.limits
        const stateKey = named.keyOf(key)
        for (let j = 0; j < inForce.length; j++) {
          // One literal: this runs for every limit of every request, and a spread would make a second object.
          demands.push({
            level: name,
            levelKey: stateKey === key ? undefined : key,
            name: named.nameOf(j),
            limit: inForce[j],
            key: stateKey,
            cost,
            onFailure,
            shadow,
            blockFor,
          })
        }
      }
    }
    return demands
  }

  /** The demands of several requests. One with a cost of 0 only looks. */
  jointDemandsOf(requests: readonly CheckedRequest[], overrides: Overrides | undefined): JointDemands {
    const demands: LevelDemand[] = []
    const starts = [0]
    for (const { attributes, cost, limits } of requests) {
      for (const demand of this.demandsOf(attributes, cost, overrides, limits, cost === 0)) demands.push(demand)
      starts.push(demands.length)
    }
    return { requests, demands, starts }
  }

  /** The names of the levels that match, in the order of the policy. Throws for each request that a decision throws for. */
  levelsFor(request: object): readonly string[] {
    const facts = this.#read(request)
    return this.#matching(facts).flatMap((level) => {
      if (level.keyOf(facts) === undefined) return []
      level.costOf(facts, 0)
      return level.name
    })
  }

  /** The states of the request in the levels that match: those of the levels' own limits, and of the limits in force. */
  statesOf(request: object, overrides: Overrides | undefined): readonly LevelState[] {
    const facts = this.#read(request)
    return this.#matching(facts).flatMap((level) => {
      const key = level.keyOf(facts)
      if (key === undefined) return []
      const lists = [...new Set([level.own, ...level.limitsFor(facts, key, overrides)])]
      const most = Math.max(...lists.map(({ limits }) => limits.length))
      return lists.flatMap((named) =>
        Array.from({ length: most }, (_, i) => ({ level: level.name, name: named.nameOf(i), key: named.keyOf(key) })),
      )
    })
  }

  /** A copy of the request's attributes, for use after the caller may have changed the request. */
  copyOf(request: object): object {
    this.#checkRequest(request)
    return this.#copyWith(request, {})
  }

  /**
   * A function that gives the costs of `demands` if the call's cost, or some attributes, were `actual`. Keeps `request`:
   * pass a copy. The cost of a level that an earlier version of the policy had stays as it is.
   */
  costsFor(demands: readonly LevelDemand[], request: object, callCost: number): CostsFor {
    return (actual) => {
      const isCost = typeof actual === 'number'
      if (!isCost) this.#checkAttributes(actual)
      const facts = this.#read(isCost ? request : this.#copyWith(request, actual))
      const cost = isCost ? actual : callCost
      if (isCost) this.#checkCounts(demands, facts)
      return demands.map((demand) => this.#byName.get(demand.level)?.costOf(facts, cost) ?? demand.cost)
    }
  }

  /** If every level has a cost of its own, the cost of the call would change none. */
  #checkCounts(demands: readonly LevelDemand[], facts: Facts): void {
    const levels = demands.map(({ level }) => this.#byName.get(level))
    const attribute = levels.find((level) => level?.costAttribute !== undefined)?.costAttribute
    if (attribute === undefined || levels.some((level) => level === undefined || level.takesCallCost(facts))) return
    throw new InvalidTypeError(
      `no level takes the cost of the call, so settle needs the attributes that levels take their costs from, as in ` +
        `settle({ ${attribute}: 10 })`,
      { option: 'actual' },
    )
  }

  /** An attribute that the policy does not ask about would change no cost, so it is a mistake. */
  #checkAttributes(actual: object): void {
    const unknown = Object.keys(actual).find((name) => !this.attributes.includes(name))
    if (unknown === undefined) return
    const advice = `it asks about ${this.attributes.join(', ')}`
    throw new InvalidValueError(`the policy knows no attribute ${shown(unknown)}; ${advice}`, { option: unknown })
  }

  /** For each level, whether and why it matches the request. The decisions of the store are not part of it. */
  explain(request: object, callCost: number, overrides: Overrides | undefined): readonly Explanation[] {
    const facts = this.#read(request)
    return this.levels.map((level) => {
      const mismatch = level.mismatch(facts)
      const key = level.keyOf(facts)
      if (mismatch !== undefined || key === undefined) {
        const mismatches = mismatch === undefined ? [] : [mismatch]
        return { level: level.name, matches: false, because: mismatchText(mismatches), mismatches }
      }
      const from = level.originOf(facts, key, overrides)
      const cost = level.costOf(facts, callCost)
      const mismatches = from === 'level' ? level.overrideMismatches(facts) : undefined
      return {
        ...{ level: level.name, matches: true, key, from, cost },
        ...(mismatches !== undefined && { noOverride: mismatchText(mismatches), mismatches }),
        ...(level.shadow && { shadow: true as const }),
        ...(level.blockFor !== undefined && { blockFor: blockForOf(level.blockFor) }),
      }
    })
  }

  /** Overrides of the policy's levels, in the order of the levels, with their keys as parts. */
  runTimeOverrides(entries: Iterable<OverrideEntry>): readonly RunTimeOverride[] {
    const byLevel = new Map<CompiledLevel, RunTimeOverride[]>(this.levels.map((level) => [level, []]))
    for (const { level: name, key, limits, untilMs } of entries) {
      const level = this.#byName.get(name)
      if (level === undefined) continue
      const parts = { level: name, key: level.partsOf(key), limits }
      byLevel.get(level)?.push(untilMs === Infinity ? parts : { ...parts, untilMs })
    }
    return [...byLevel.values()].flat()
  }

  level(name: string): CompiledLevel {
    const level = this.#byName.get(name)
    if (level !== undefined) return level
    const names = this.levels.map((each) => each.name)
    const meant = typeof name === 'string' ? nearest(name, names) : undefined
    const advice = meant === undefined ? `it has ${names.slice(0, 20).join(', ')}` : `did you mean '${meant}'?`
    throw new InvalidValueError(`the policy has no level ${shown(name)}; ${advice}`, { option: 'level' })
  }

  /** The key of a level, from the values of its key attributes. */
  keyFrom(level: CompiledLevel, key: OverrideKey): string {
    const parts: readonly unknown[] = Array.isArray(key) ? key : [key]
    if (parts.length === level.key.length) {
      const request = Object.fromEntries(level.key.map((attribute, i) => [attribute, parts[i]]))
      const text = level.keyOf(this.#read(request))
      if (text !== undefined) return text
    }
    const wanted =
      level.key.length === 0
        ? `[], because level '${level.name}' has one state for all`
        : level.key.length === 1
          ? `text, the ${level.key[0]} that level '${level.name}' has for its key`
          : `a list, the key of level '${level.name}': [${level.key.join(', ')}]`
    throw invalidType('key', wanted, key)
  }

  #read(request: object): Facts {
    this.#checkRequest(request)
    this.#facts.read(request as Record<string, unknown>)
    return this.#facts
  }

  #checkRequest(request: unknown): void {
    if (typeof request === 'object' && request !== null && !Array.isArray(request)) return
    const { attributes } = this
    const wanted =
      attributes.length === 0 ? 'an object, such as {}' : `an object of attributes such as { ${attributes.join(', ')} }`
    throw invalidType('request', wanted, request)
  }

  #matching(facts: Facts): readonly CompiledLevel[] {
    return Array.from({ length: this.#index.find(facts) }, (_, i) => this.#index.at(i))
  }

  /** The attributes of a request, with `others` in place of some. Looks each up by name: it may be an inherited getter. */
  #copyWith(request: object, others: object): object {
    const valueFor = (name: string) =>
      Object.hasOwn(others, name) ? others[name as keyof object] : this.#facts.valueOf(request, name)
    return Object.fromEntries(this.attributes.map((name) => [name, valueFor(name)]))
  }
}
