import { createHash } from 'node:crypto'
import { invalidValue } from '../errors.js'
import type { BlockRule, Limit } from '../limits/index.js'
import type { NamedLimit, OnFailure, Overrides } from '../stores/index.js'
import { type AttributeTest, compileCondition } from './matching/attribute-test.js'
import type { Facts } from './matching/facts.js'
import { RuleIndex } from './matching/rule-index.js'
import { absentKey, type Mismatch, mismatchOf, overrideMismatches, type WrittenTests } from './mismatch.js'
import { NamedLimits } from './named-limits.js'
import type { ReadCondition } from './reading/read-conditions.js'
import type { ReadLevel } from './reading/read-level.js'

/** The key of a level without key attributes: all requests share one state. */
const SHARED_KEY = '*'

/** Where the limits in force for a key come from. */
export type Origin = 'level' | 'override' | 'run-time override'

/** Called with each limit before the first demand for it. */
export type Prepare = (named: NamedLimit) => void

/**
 * A level, ready to be evaluated for requests. The methods that take `facts` are about the request that `facts` read
 * last.
 */
export class CompiledLevel {
  readonly name: string
  readonly own: NamedLimits
  readonly shadow: boolean
  readonly onFailure: OnFailure | undefined
  readonly blockFor: BlockRule | undefined
  readonly key: readonly string[]
  readonly tests: readonly AttributeTest[]
  readonly #written: readonly unknown[]
  readonly #keyAttributes: readonly number[]
  readonly #cost: number | string | undefined
  readonly #costAttribute: number
  readonly #ownOnly: readonly NamedLimits[]
  readonly #overrides: RuleIndex<readonly NamedLimits[]> | undefined
  /** In the order of the policy. */
  readonly #overrideTests: readonly WrittenTests[]
  readonly #prepare: Prepare
  /** By the limits of a run-time override, of which the store hands out the same list each time, or of a call. */
  readonly #replaced = new WeakMap<readonly Limit[], readonly NamedLimits[]>()

  constructor(policy: string, level: ReadLevel, facts: Facts, prepare: Prepare) {
    this.name = level.name
    this.shadow = level.shadow
    this.onFailure = level.onFailure
    this.blockFor = level.blockFor
    this.#prepare = prepare
    this.own = this.#prepared(new NamedLimits(level.limits, `${policy}/${level.name}`))
    this.#ownOnly = [this.own]
    this.key = level.key
    const compile = (conditions: readonly ReadCondition[]) => conditions.map((each) => compileCondition(each, facts))
    this.tests = compile(level.conditions)
    this.#written = writtenOf(level.conditions)
    this.#keyAttributes = level.key.map((attribute) => facts.numberOf(attribute))
    this.#cost = level.cost
    this.#costAttribute = typeof level.cost === 'string' ? facts.numberOf(level.cost) : -1
    this.#overrideTests = level.overrides.map(({ conditions }) => {
      return { tests: compile(conditions), written: writtenOf(conditions) }
    })
    if (level.overrides.length === 0) return
    this.#overrides = new RuleIndex<readonly NamedLimits[]>(
      level.overrides.map(({ conditions, limits, isByKey }, i) => {
        const named = isByKey ? this.own.with(limits) : this.#separate(conditions, limits)
        return { item: [this.#prepared(named)], tests: this.#overrideTests[i].tests }
      }),
    )
  }

  /**
   * An override that depends on more than the key has states of its own. If it shared the level's states, a client that
   * can choose the attribute would refill one limit by using the other. A hash of the conditions tells these states
   * apart, so that the order of overrides may change. The hash is part of the key and not of the name, because a store
   * is made for few names and many keys.
   */
  #separate(conditions: readonly ReadCondition[], limits: readonly Limit[]): NamedLimits {
    const texts = conditions.map(({ attribute, written }) => JSON.stringify([attribute, written])).sort()
    const hash = createHash('sha256').update(texts.join()).digest('base64url').slice(0, 12)
    return new NamedLimits(limits, `${this.own.nameOf(0)}@`, hash)
  }

  /** The key of the request; `undefined` if an attribute of the key is absent. Then the level does not apply. */
  keyOf(facts: Facts): string | undefined {
    const attributes = this.#keyAttributes
    if (attributes.length === 0) return SHARED_KEY
    if (attributes.length === 1) return facts.keyText(attributes[0])
    let key = ''
    for (let i = 0; i < attributes.length; i++) {
      const text = facts.keyText(attributes[i])
      if (text === undefined) return undefined
      key = i === 0 ? escaped(text) : `${key}|${escaped(text)}`
    }
    return key
  }

  /** The parts of a key that `keyOf` made: its text if the key has one attribute, otherwise a list. */
  partsOf(key: string): string | readonly string[] {
    const { length } = this.#keyAttributes
    if (length === 1) return key
    return length === 0 ? [] : unescapedParts(key)
  }

  /** Why the level does not match the request; `undefined` if it matches. */
  mismatch(facts: Facts): Mismatch | undefined {
    const failed = mismatchOf(facts, { tests: this.tests, written: this.#written })
    if (failed !== undefined) return failed
    const absent = this.#keyAttributes.find((attribute) => facts.texts[attribute] === undefined)
    return absent === undefined ? undefined : absentKey(facts, absent)
  }

  /** Why none of the level's overrides matches; `undefined` if one matches, or there are none. */
  overrideMismatches(facts: Facts): readonly Mismatch[] | undefined {
    return this.#overrideTests.length === 0 ? undefined : overrideMismatches(facts, this.#overrideTests)
  }

  /**
   * The limits in force for a key: nearly always one list. If an override matches only some readings of the request, the
   * request must pass every list that any reading leads to.
   */
  limitsFor(facts: Facts, key: string, overrides: Overrides | undefined): readonly NamedLimits[] {
    const limits = overrides?.get(this.name, key)
    if (limits !== undefined) return this.replacedBy(limits)
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

  /** The limits of a run-time override, or of a single call. Prepares them for the store the first time. */
  replacedBy(limits: readonly Limit[]): readonly NamedLimits[] {
    let named = this.#replaced.get(limits)
    if (named === undefined) {
      named = [this.#prepared(this.own.with(limits))]
      this.#replaced.set(limits, named)
    }
    return named
  }

  #prepared(named: NamedLimits): NamedLimits {
    const { onFailure, shadow } = this
    for (const [i, limit] of named.limits.entries()) this.#prepare({ name: named.nameOf(i), limit, onFailure, shadow })
    return named
  }

  /** The attribute that has the cost of a request in this level, if one has. */
  get costAttribute(): string | undefined {
    return typeof this.#cost === 'string' ? this.#cost : undefined
  }

  /** Does the cost of the call count in this level? Not if the level or the request has a cost of its own. */
  takesCallCost(facts: Facts): boolean {
    if (this.costAttribute === undefined) return this.#cost === undefined
    return facts.texts[this.#costAttribute] === undefined
  }

  /** The cost of the request in this level, if the cost of the call is `callCost`. */
  costOf(facts: Facts, callCost: number): number {
    if (this.#cost === undefined) return callCost
    if (typeof this.#cost === 'number') return this.#cost
    const text = facts.texts[this.#costAttribute]
    if (text === undefined) return callCost
    const cost = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (Number.isSafeInteger(cost)) return cost
    const wanted = `a whole number from 0, because it is the cost in level '${this.name}'`
    throw invalidValue(`the attribute ${this.#cost}`, wanted, text)
  }
}

function writtenOf(conditions: readonly ReadCondition[]): readonly unknown[] {
  return conditions.map(({ written }) => written)
}

/** Escapes the separator, so that different lists of texts make different keys. */
function escaped(text: string): string {
  return /[|\\]/.test(text) ? text.replace(/[|\\]/g, '\\$&') : text
}

/** The texts that `escaped` and the separator made into one. */
function unescapedParts(key: string): readonly string[] {
  const parts = ['']
  for (const [piece] of key.matchAll(/\\[|\\]|[^|\\]+|\|/g)) {
    if (piece === '|') parts.push('')
    else parts[parts.length - 1] += piece.startsWith('\\') ? piece.slice(1) : piece
  }
  return parts
}
