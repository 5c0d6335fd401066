import { createHash } from 'node:crypto'
import { invalidValue, shown } from '../errors.js'
import type { Limit } from '../limits/index.js'
import type { NamedLimit, OnFailure, Overrides } from '../stores/index.js'
import type { Facts } from './matching/facts.js'
import { PathTest } from './matching/path-test.js'
import { type Asked, RuleIndex } from './matching/rule-index.js'
import { BlockTest } from './matching/test.js'
import { NamedLimits } from './named-limits.js'
import { isAboutKey } from './reading/about-key.js'
import type { Asks, ReadLevel } from './reading/read-level.js'

/** The key of a level that has one state for all. */
const ONE_FOR_ALL = '*'
const LONGEST_WRITTEN = 120

/** Where the limits in force for a key come from. */
export type Origin = 'level' | 'override' | 'run-time override'

/** Hears of a limit before the first demand for it. */
export type Prepare = (named: NamedLimit) => void

/** A level, ready to be asked about the facts of a request. */
export class CompiledLevel {
  readonly name: string
  readonly own: NamedLimits
  readonly shadow: boolean
  readonly onFailure: OnFailure | undefined
  readonly key: readonly string[]
  readonly asks: readonly Asked[]
  readonly #conditions: readonly string[]
  readonly #keyAttributes: readonly number[]
  readonly #cost: number | string | undefined
  readonly #costAttribute: number
  readonly #ownOnly: readonly NamedLimits[]
  readonly #overrides: RuleIndex<readonly NamedLimits[]> | undefined
  readonly #prepare: Prepare
  /** Of run-time overrides, which come as they are. */
  readonly #atRunTime = new WeakMap<readonly Limit[], readonly NamedLimits[]>()

  constructor(policy: string, level: ReadLevel, facts: Facts, prepare: Prepare) {
    this.name = level.name
    this.shadow = level.shadow
    this.onFailure = level.onFailure
    this.#prepare = prepare
    this.own = this.#prepared(new NamedLimits(level.limits, `${policy}/${level.name}`))
    this.#ownOnly = [this.own]
    this.key = level.key
    this.asks = numbered(level.asks, facts)
    this.#conditions = level.asks.map(({ condition }) => written(condition))
    this.#keyAttributes = level.key.map((attribute) => facts.numberOf(attribute))
    this.#cost = level.cost
    this.#costAttribute = typeof level.cost === 'string' ? facts.numberOf(level.cost) : -1
    if (level.overrides.length === 0) return
    this.#overrides = new RuleIndex<readonly NamedLimits[]>(
      level.overrides.map(({ asks, limits }) => {
        const isByKey = isAboutKey(asks, level.key, facts.ipv6Prefix)
        const named = isByKey ? this.own.with(limits) : this.#apart(asks, limits)
        return { item: [this.#prepared(named)], asks: numbered(asks, facts) }
      }),
    )
  }

  /**
   * An override that asks about more than the key has states of its own: with those of the level, whoever may choose what
   * it asks about would have one limit refill the other. They are known by what is asked, so that its place may change;
   * by their keys and not by names, of which a store has few.
   */
  #apart(asks: Asks, limits: readonly Limit[]): NamedLimits {
    const when = asks.map(({ attribute, condition }) => JSON.stringify([attribute, condition])).sort()
    const hash = createHash('sha256').update(when.join()).digest('base64url').slice(0, 12)
    return new NamedLimits(limits, `${this.own.nameOf(0)}@`, hash)
  }

  /** Who is limited; nobody, if an attribute of the key is absent. */
  keyOf(facts: Facts): string | undefined {
    const attributes = this.#keyAttributes
    if (attributes.length === 0) return ONE_FOR_ALL
    if (attributes.length === 1) return facts.keyText(attributes[0])
    let key = ''
    for (let i = 0; i < attributes.length; i++) {
      const text = facts.keyText(attributes[i])
      if (text === undefined) return undefined
      key = i === 0 ? escaped(text) : `${key}|${escaped(text)}`
    }
    return key
  }

  /** What keeps a request from being matched, in words; nothing if it is. */
  mismatch(facts: Facts): string | undefined {
    const place = this.asks.findIndex(({ attribute, test }) => !test.matches(facts, attribute))
    if (place >= 0)
      return `${this.#said(facts, this.asks[place].attribute)}, and it asks for ${this.#conditions[place]}`
    const absent = this.#keyAttributes.find((attribute) => facts.texts[attribute] === undefined)
    return absent === undefined ? undefined : `${this.#said(facts, absent)}, and its key needs it`
  }

  #said(facts: Facts, attribute: number): string {
    const text = facts.readings[attribute]?.exact[0] ?? facts.texts[attribute]
    return `${facts.names[attribute]} is ${text === undefined ? 'absent' : shown(text)}`
  }

  /**
   * The limits in force for a key. Nearly always it is one list. A request that can be read in several ways, of which an
   * override matches only some, has to pass every list that may be meant.
   */
  limitsFor(facts: Facts, key: string, overrides: Overrides | undefined): readonly NamedLimits[] {
    const limits = overrides?.get(this.name, key)
    if (limits !== undefined) return this.atRunTime(limits)
    if (this.#overrides === undefined) return this.#ownOnly
    const matched = this.#overrides.find(facts)
    if (matched === 0) return this.#ownOnly
    if (this.#overrides.isSure(0)) return this.#overrides.at(0)
    const lists: NamedLimits[] = []
    for (let i = 0; i < matched; i++) {
      lists.push(...this.#overrides.at(i))
      if (this.#overrides.isSure(i)) return lists
    }
    return [...lists, this.own]
  }

  originOf(facts: Facts, key: string, overrides: Overrides | undefined): Origin {
    if (overrides?.get(this.name, key) !== undefined) return 'run-time override'
    return this.limitsFor(facts, key, undefined) === this.#ownOnly ? 'level' : 'override'
  }

  /** The limits of a run-time override. What an outage needs of them is made now. */
  atRunTime(limits: readonly Limit[]): readonly NamedLimits[] {
    let named = this.#atRunTime.get(limits)
    if (named === undefined) {
      named = [this.#prepared(this.own.with(limits))]
      this.#atRunTime.set(limits, named)
    }
    return named
  }

  #prepared(named: NamedLimits): NamedLimits {
    const { onFailure, shadow } = this
    for (const [place, limit] of named.limits.entries())
      this.#prepare({ name: named.nameOf(place), limit, onFailure, shadow })
    return named
  }

  /** What a request takes here, if the call's cost is this. */
  costOf(facts: Facts, callCost: number): number {
    if (this.#cost === undefined) return callCost
    if (typeof this.#cost === 'number') return this.#cost
    const text = facts.texts[this.#costAttribute]
    if (text === undefined) return callCost
    const cost = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (Number.isSafeInteger(cost)) return cost
    const wanted = `a whole number from 0, for it is the cost in level '${this.name}'`
    throw invalidValue(`the attribute ${this.#cost}`, wanted, text)
  }
}

function numbered(asks: Asks, facts: Facts): readonly Asked[] {
  return asks.map(({ attribute, test }) => {
    // Whatever the attribute is called, it is read as what it is asked about.
    const kind = test instanceof PathTest ? 'path' : test instanceof BlockTest ? 'address' : undefined
    return { attribute: facts.numberOf(attribute, kind), test }
  })
}

/** A condition as it was written, cut short. */
function written(condition: unknown): string {
  const text = JSON.stringify(condition)
  return text.length > LONGEST_WRITTEN ? `${text.slice(0, LONGEST_WRITTEN)}…` : text
}

/** So that no two lists of texts make the same key. */
function escaped(text: string): string {
  return /[|\\]/.test(text) ? text.replace(/[|\\]/g, '\\$&') : text
}
