import type { CidrRange } from '../../addresses/index.js'
import type { ReadCondition } from '../reading/read-conditions.js'
import { CidrTable } from './cidr-table.js'
import type { Facts } from './facts.js'
import { folded, onlyPath, type PathPattern } from './path-pattern.js'
import { PathTrie } from './path-trie.js'

/**
 * A condition of a level or override on one attribute, ready to be evaluated. Some attributes have several readings: a
 * router may take `/a/%2E%2E` for `/` or for a path below `/a`.
 */
export interface AttributeTest {
  /** The attribute's number in `Facts`. */
  readonly attribute: number
  /** Does any reading of the attribute meet the condition? Then a level applies. */
  matches(facts: Facts): boolean
  /** Does every reading of the attribute meet the condition? Only then an exemption applies. */
  surelyMatches(facts: Facts): boolean
}

/** Compiles a condition. Registers its attribute with `facts`, so this must come before the first `facts.read`. */
export function compileCondition(condition: ReadCondition, facts: Facts): AttributeTest {
  const test = compileValues(condition, facts)
  return condition.negated ? new NotTest(test) : test
}

/** A condition determines how its attribute is read, whatever the attribute's name: `{ route: { path: '/v1/**' } }`. */
function compileValues(condition: ReadCondition, facts: Facts): AttributeTest {
  const { attribute, orAbsent } = condition
  switch (condition.kind) {
    case 'path':
      return new PathTest(facts.numberOf(attribute, 'path'), condition.patterns, orAbsent)
    case 'address':
      return new CidrTest(facts.numberOf(attribute, 'address'), condition.ranges, orAbsent)
    case 'text':
      return new TextTest(facts.numberOf(attribute), condition.texts, orAbsent)
  }
}

/** The attribute equals one of these texts. With `orAbsent`, an absent attribute matches too. */
export class TextTest implements AttributeTest {
  readonly attribute: number
  readonly texts: ReadonlySet<string>
  readonly orAbsent: boolean

  constructor(attribute: number, texts: ReadonlySet<string>, orAbsent: boolean) {
    this.attribute = attribute
    this.texts = texts
    this.orAbsent = orAbsent
  }

  matches(facts: Facts): boolean {
    const text = facts.texts[this.attribute]
    if (text === undefined) return this.orAbsent
    const readings = facts.readings[this.attribute]?.exact
    return readings === undefined ? this.texts.has(text) : readings.some((each) => this.texts.has(each))
  }

  surelyMatches(facts: Facts): boolean {
    const text = facts.texts[this.attribute]
    return text === undefined ? this.orAbsent : this.texts.has(text)
  }
}

/** The attribute is an address in one of these ranges. */
export class CidrTest implements AttributeTest {
  readonly attribute: number
  readonly ranges: readonly CidrRange[]
  readonly orAbsent: boolean
  readonly #table = new CidrTable<CidrRange>()

  constructor(attribute: number, ranges: readonly CidrRange[], orAbsent: boolean) {
    this.attribute = attribute
    this.ranges = ranges
    this.orAbsent = orAbsent
    for (const range of ranges) this.#table.add(range, range)
  }

  matches(facts: Facts): boolean {
    if (facts.texts[this.attribute] === undefined) return this.orAbsent
    const address = facts.address(this.attribute)
    return address !== undefined && this.#table.has(address)
  }

  surelyMatches(facts: Facts): boolean {
    return this.matches(facts)
  }
}

/** The attribute is a path that one of these patterns matches. */
export class PathTest implements AttributeTest {
  readonly attribute: number
  readonly patterns: readonly PathPattern[]
  readonly orAbsent: boolean
  readonly #folded: PatternSet
  readonly #exact: PatternSet

  constructor(attribute: number, patterns: readonly PathPattern[], orAbsent: boolean) {
    this.attribute = attribute
    this.patterns = patterns
    this.orAbsent = orAbsent
    this.#exact = new PatternSet(patterns)
    this.#folded = patterns.some(hasCapitals) ? new PatternSet(patterns.map(folded)) : this.#exact
  }

  matches(facts: Facts): boolean {
    const text = facts.texts[this.attribute]
    if (text === undefined) return this.orAbsent
    const readings = facts.readings[this.attribute]
    if (readings === undefined) return this.#folded.has(text)
    return readings.isAnything || readings.folded.some((each) => this.#folded.has(each))
  }

  surelyMatches(facts: Facts): boolean {
    const text = facts.texts[this.attribute]
    if (text === undefined) return this.orAbsent
    const readings = facts.readings[this.attribute]?.exact
    return readings === undefined ? this.#exact.has(text) : readings.every((each) => this.#exact.has(each))
  }
}

/** Matches unless every reading meets the condition of `test`. `{ not: null }` matches whatever is present. */
export class NotTest implements AttributeTest {
  readonly attribute: number
  readonly test: AttributeTest

  constructor(test: AttributeTest) {
    this.attribute = test.attribute
    this.test = test
  }

  matches(facts: Facts): boolean {
    return !this.test.surelyMatches(facts)
  }

  surelyMatches(facts: Facts): boolean {
    return !this.test.matches(facts)
  }
}

function hasCapitals({ segments }: PathPattern): boolean {
  return segments.some((segment) => segment !== segment?.toLowerCase())
}

/** Answers whether any of many patterns matches a path. */
class PatternSet {
  readonly #paths = new Set<string>()
  #others: PathTrie<PathPattern> | undefined

  constructor(patterns: readonly PathPattern[]) {
    for (const pattern of patterns) {
      const only = onlyPath(pattern)
      if (only !== undefined) this.#paths.add(only)
      else {
        this.#others ??= new PathTrie()
        this.#others.add(pattern, pattern)
      }
    }
  }

  has(path: string): boolean {
    return this.#paths.has(path) || this.#others?.has(path) === true
  }
}
