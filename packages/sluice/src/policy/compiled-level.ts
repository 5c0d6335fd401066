import { invalidValue, shown } from '../errors.js'
import type { Limit } from '../limits/index.js'
import type { OnFailure, Overrides } from '../stores/index.js'
import type { Facts } from './matching/facts.js'
import { type Asked, RuleIndex } from './matching/rule-index.js'
import { BlockTest, PathTest } from './matching/test.js'
import type { Asks, ReadLevel } from './reading/read-level.js'

/** The key of a level that has one state for all. */
const ONE_FOR_ALL = '*'
const LONGEST_WRITTEN = 120

/** Where the limits in force for a key come from. */
export interface InForce {
  readonly limits: readonly Limit[]
  readonly from: 'level' | 'override' | 'run-time override'
}

/** A level, ready to be asked about the facts of a request. */
export class CompiledLevel {
  readonly name: string
  readonly limits: readonly Limit[]
  readonly shadow: boolean
  readonly onFailure: OnFailure | undefined
  readonly key: readonly string[]
  readonly asks: readonly Asked[]
  readonly #conditions: readonly string[]
  readonly #keyAttributes: readonly number[]
  readonly #cost: number | string | undefined
  readonly #costAttribute: number
  readonly #overrides: RuleIndex<readonly Limit[]> | undefined
  /** The name in the store of each limit, by its place. */
  readonly #names: string[] = []
  readonly #fullName: string

  constructor(policy: string, level: ReadLevel, facts: Facts) {
    this.name = level.name
    this.limits = level.limits
    this.shadow = level.shadow
    this.onFailure = level.onFailure
    this.key = level.key
    this.asks = numbered(level.asks, facts)
    this.#conditions = level.asks.map(({ condition }) => written(condition))
    this.#keyAttributes = level.key.map((attribute) => facts.numberOf(attribute))
    this.#cost = level.cost
    this.#costAttribute = typeof level.cost === 'string' ? facts.numberOf(level.cost) : -1
    this.#fullName = `${policy}/${level.name}`
    this.#overrides =
      level.overrides.length === 0
        ? undefined
        : new RuleIndex(level.overrides.map(({ asks, limits }) => ({ item: limits, asks: numbered(asks, facts) })))
  }

  /** What keeps the states of a limit apart from those of others in the store. */
  nameOf(place: number): string {
    while (this.#names.length <= place) {
      const next = this.#names.length
      this.#names.push(next === 0 ? this.#fullName : `${this.#fullName}#${next + 1}`)
    }
    return this.#names[place]
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
    const text = facts.texts[attribute]
    return `${facts.names[attribute]} is ${text === undefined ? 'absent' : shown(text)}`
  }

  limitsFor(facts: Facts, key: string, overrides: Overrides | undefined): readonly Limit[] {
    if (overrides !== undefined && overrides.size > 0) {
      const limits = overrides.get(this.name, key)
      if (limits !== undefined) return limits
    }
    if (this.#overrides === undefined) return this.limits
    const [first] = this.#overrides.find(facts)
    return first === undefined ? this.limits : first.item
  }

  /** The same, and where they come from. */
  inForce(facts: Facts, key: string, overrides: Overrides | undefined): InForce {
    const limits = this.limitsFor(facts, key, overrides)
    if (limits === this.limits) return { limits, from: 'level' }
    return { limits, from: limits === overrides?.get(this.name, key) ? 'run-time override' : 'override' }
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
  return asks.map(({ attribute: name, test }) => {
    const attribute = facts.numberOf(name)
    if (test instanceof PathTest) facts.readAs(attribute, 'path')
    if (test instanceof BlockTest) facts.readAs(attribute, 'address')
    return { attribute, test }
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
