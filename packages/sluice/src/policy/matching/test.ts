/** What a level or an override asks of one attribute. */
import { type Block, contains } from '../../addresses/index.js'
import type { Facts } from './facts.js'
import { matchesPath, onlyPath, type PathPattern } from './path-pattern.js'

export interface Test {
  matches(facts: Facts, attribute: number): boolean
}

/** One of these texts; or absent, if that is among them. */
export class EqualTest implements Test {
  readonly texts: ReadonlySet<string>
  readonly orAbsent: boolean

  constructor(texts: Iterable<string>, orAbsent: boolean) {
    this.texts = new Set(texts)
    this.orAbsent = orAbsent
  }

  matches(facts: Facts, attribute: number): boolean {
    const text = facts.texts[attribute]
    return text === undefined ? this.orAbsent : this.texts.has(text)
  }
}

/** A path that one of these patterns matches. */
export class PathTest implements Test {
  readonly patterns: readonly PathPattern[]
  readonly orAbsent: boolean
  readonly #exact: ReadonlySet<string>
  readonly #others: readonly PathPattern[]

  constructor(patterns: readonly PathPattern[], orAbsent: boolean) {
    this.patterns = patterns
    this.orAbsent = orAbsent
    this.#exact = new Set(patterns.flatMap((pattern) => onlyPath(pattern) ?? []))
    this.#others = patterns.filter((pattern) => onlyPath(pattern) === undefined)
  }

  matches(facts: Facts, attribute: number): boolean {
    const text = facts.texts[attribute]
    if (text === undefined) return this.orAbsent
    if (this.#exact.has(text)) return true
    if (this.#others.length === 0) return false
    const segments = facts.segments(attribute)
    return this.#others.some((pattern) => matchesPath(pattern, segments))
  }
}

/** An address in one of these blocks. */
export class BlockTest implements Test {
  readonly blocks: readonly Block[]
  readonly orAbsent: boolean

  constructor(blocks: readonly Block[], orAbsent: boolean) {
    this.blocks = blocks
    this.orAbsent = orAbsent
  }

  matches(facts: Facts, attribute: number): boolean {
    if (facts.texts[attribute] === undefined) return this.orAbsent
    const address = facts.address(attribute)
    return address !== undefined && this.blocks.some((block) => contains(block, address))
  }
}

/** Whatever another test does not match; of `null`, what is present. */
export class NotTest implements Test {
  readonly test: Test

  constructor(test: Test) {
    this.test = test
  }

  matches(facts: Facts, attribute: number): boolean {
    return !this.test.matches(facts, attribute)
  }
}
