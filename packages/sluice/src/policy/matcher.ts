import { nearest } from '../checks/nearest.js'
import { InvalidValueError, invalidType, shown } from '../errors.js'
import { isConcurrency } from '../limits/index.js'
import type { Overrides } from '../stores/index.js'
import { CompiledLevel, type Prepare } from './compiled-level.js'
import type { Explanation } from './explain.js'
import { Facts } from './matching/facts.js'
import { RuleIndex } from './matching/rule-index.js'
import type { OverrideKey } from './policy.js'
import type { ReadPolicy } from './reading/read-policy.js'
import type { CostsFor } from './settling.js'
import type { LevelDemand } from './verdict.js'

/** A state of a level. */
export interface LevelState {
  readonly level: string
  readonly name: string
  readonly key: string
}

/** What a request demands of the levels of a policy. */
export class Matcher {
  readonly levels: readonly CompiledLevel[]
  /** Is a leaky bucket among the limits? */
  readonly queues: boolean
  /** Is a concurrency limit? */
  readonly leases: boolean
  readonly #byName: ReadonlyMap<string, CompiledLevel>
  readonly #facts: Facts
  readonly #index: RuleIndex<CompiledLevel>

  /** `prepare` hears of each limit before the first demand for it. */
  constructor(
    policy: string,
    { levels, ipv6Prefix }: Pick<ReadPolicy, 'levels' | 'ipv6Prefix'>,
    prepare: Prepare = () => {},
  ) {
    const facts = new Facts(ipv6Prefix)
    const limits = levels.flatMap((level) => [level, ...level.overrides]).flatMap((each) => each.limits)
    this.queues = limits.some(({ algorithm }) => algorithm === 'leaky-bucket')
    this.leases = limits.some(isConcurrency)
    this.levels = levels.map((level) => new CompiledLevel(policy, level, facts, prepare))
    this.#byName = new Map(this.levels.map((level) => [level.name, level]))
    this.#index = new RuleIndex(this.levels.map((level) => ({ item: level, asks: level.asks })))
    this.#facts = facts
  }

  get attributes(): readonly string[] {
    return [...new Set(this.#facts.names)]
  }

  /** The demands of every level that matches, in the order of the policy. With `look`, all of cost 0. */
  demandsOf(request: object, callCost: number, overrides: Overrides | undefined, look = false): LevelDemand[] {
    const facts = this.read(request)
    const matched = this.#index.find(facts)
    const atRunTime = overrides !== undefined && overrides.size > 0 ? overrides : undefined
    const demands: LevelDemand[] = []
    for (let i = 0; i < matched; i++) {
      const level = this.#index.at(i)
      const key = level.keyOf(facts)
      if (key === undefined) continue
      const cost = look ? 0 : level.costOf(facts, callCost)
      const { name, shadow, onFailure } = level
      const lists = level.limitsFor(facts, key, atRunTime)
      for (let k = 0; k < lists.length; k++) {
        const named = lists[k]
        const { limits } = named
        const stateKey = named.keyOf(key)
        for (let j = 0; j < limits.length; j++) {
          demands.push({ level: name, name: named.nameOf(j), limit: limits[j], key: stateKey, cost, onFailure, shadow })
        }
      }
    }
    return demands
  }

  /** The states that a request may have in the levels that match, those of limits that are not in force now included. */
  statesOf(request: object, overrides: Overrides | undefined): readonly LevelState[] {
    const facts = this.read(request)
    const levels = Array.from({ length: this.#index.find(facts) }, (_, i) => this.#index.at(i))
    return levels.flatMap((level) => {
      const key = level.keyOf(facts)
      if (key === undefined) return []
      const { own } = level
      const lists = [...new Set([own, ...level.limitsFor(facts, key, overrides)])]
      const most = Math.max(...lists.map(({ limits }) => limits.length))
      const places = Array.from({ length: most }, (_, place) => place)
      return lists.flatMap((named) =>
        places.map((place) => ({ level: level.name, name: named.nameOf(place), key: named.keyOf(key) })),
      )
    })
  }

  /** The attributes of a request as they are now, for later. */
  copyOf(request: object): object {
    this.#checkRequest(request)
    return this.#instead(request, {})
  }

  /** What each of the demands of a request, which nobody changes any more, would be, had the call's cost or some attributes been others. */
  costsFor(demands: readonly LevelDemand[], request: object, callCost: number): CostsFor {
    return (actual) => {
      const isCost = typeof actual === 'number'
      this.#checkActual(actual)
      const facts = this.read(isCost ? request : this.#instead(request, actual))
      return demands.map(({ level }) => this.level(level).costOf(facts, isCost ? actual : callCost))
    }
  }

  /** An attribute that the policy does not know would settle nothing. */
  #checkActual(actual: number | object): void {
    if (typeof actual === 'number') return
    const unknown = Object.keys(actual).find((name) => !this.attributes.includes(name))
    if (unknown === undefined) return
    const advice = `it asks about ${this.attributes.join(', ')}`
    throw new InvalidValueError(`the policy knows no attribute ${shown(unknown)}; ${advice}`, { option: unknown })
  }

  /** Level by level, what the request has to do with it; how things stand is for the store to add. */
  explain(request: object, callCost: number, overrides: Overrides | undefined): readonly Explanation[] {
    const facts = this.read(request)
    return this.levels.map((level) => {
      const because = level.mismatch(facts)
      const key = level.keyOf(facts)
      if (because !== undefined || key === undefined) return { level: level.name, matches: false, because }
      const from = level.originOf(facts, key, overrides)
      const cost = level.costOf(facts, callCost)
      return { level: level.name, matches: true, key, from, cost, ...(level.shadow && { shadow: true as const }) }
    })
  }

  /** The facts of a request, good until the next is read. */
  read(request: object): Facts {
    this.#checkRequest(request)
    this.#facts.read(request as Record<string, unknown>)
    return this.#facts
  }

  #checkRequest(request: unknown): void {
    if (typeof request === 'object' && request !== null && !Array.isArray(request)) return
    throw invalidType('request', `an object of attributes such as { ${this.attributes.join(', ')} }`, request)
  }

  level(name: string): CompiledLevel {
    const level = this.#byName.get(name)
    if (level !== undefined) return level
    const names = this.levels.map((each) => each.name)
    const meant = typeof name === 'string' ? nearest(name, names) : undefined
    const advice = meant === undefined ? `it has ${names.slice(0, 20).join(', ')}` : `did you mean '${meant}'?`
    throw new InvalidValueError(`the policy has no level ${shown(name)}; ${advice}`, { option: 'level' })
  }

  /** The key of a level that is given by its parts. */
  keyFrom(level: CompiledLevel, key: OverrideKey): string {
    const parts: readonly unknown[] = Array.isArray(key) ? key : [key]
    const text = parts.length === level.key.length ? this.#keyOf(level, parts) : undefined
    if (text !== undefined) return text
    const wanted =
      level.key.length === 0
        ? `[], for level '${level.name}' has one state for all`
        : level.key.length === 1
          ? `text, the ${level.key[0]} that level '${level.name}' has for its key`
          : `a list, the key of level '${level.name}': [${level.key.join(', ')}]`
    throw invalidType('key', wanted, key)
  }

  /** The attributes of a request, some of them others. Each is looked up, because it may be a getter of the request's class. */
  #instead(request: object, others: object): object {
    const facts = this.#facts
    const saidOf = (name: string) =>
      Object.hasOwn(others, name) ? others[name as keyof object] : facts.valueOf(request, name)
    return Object.fromEntries(this.attributes.map((name) => [name, saidOf(name)]))
  }

  #keyOf(level: CompiledLevel, parts: readonly unknown[]): string | undefined {
    return level.keyOf(this.read(Object.fromEntries(level.key.map((attribute, i) => [attribute, parts[i]]))))
  }
}
