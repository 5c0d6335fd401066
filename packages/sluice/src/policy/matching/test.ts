/** What a level or an override asks of one attribute. */
import type { Block } from '../../addresses/index.js'
import { BlockTable } from './block-table.js'
import type { Facts } from './facts.js'

export interface Test {
  /** May the attribute be taken for what is asked? A level applies if it may. */
  matches(facts: Facts, attribute: number): boolean
  /** Is it what is asked, however it is read? An exemption applies only if it is. */
  surelyMatches(facts: Facts, attribute: number): boolean
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
    if (text === undefined) return this.orAbsent
    const readings = facts.readings[attribute]?.exact
    return readings === undefined ? this.texts.has(text) : readings.some((each) => this.texts.has(each))
  }

  surelyMatches(facts: Facts, attribute: number): boolean {
    const text = facts.texts[attribute]
    return text === undefined ? this.orAbsent : this.texts.has(text)
  }
}

/** An address in one of these blocks. */
export class BlockTest implements Test {
  readonly blocks: readonly Block[]
  readonly orAbsent: boolean
  readonly #table = new BlockTable<Block>()

  constructor(blocks: readonly Block[], orAbsent: boolean) {
    this.blocks = blocks
    this.orAbsent = orAbsent
    for (const block of blocks) this.#table.add(block, block)
  }

  matches(facts: Facts, attribute: number): boolean {
    if (facts.texts[attribute] === undefined) return this.orAbsent
    const address = facts.address(attribute)
    return address !== undefined && this.#table.has(address)
  }

  surelyMatches(facts: Facts, attribute: number): boolean {
    return this.matches(facts, attribute)
  }
}

/** Everything that another test does not surely match; of `null`, everything that is present. */
export class NotTest implements Test {
  readonly test: Test

  constructor(test: Test) {
    this.test = test
  }

  matches(facts: Facts, attribute: number): boolean {
    return !this.test.surelyMatches(facts, attribute)
  }

  surelyMatches(facts: Facts, attribute: number): boolean {
    return !this.test.matches(facts, attribute)
  }
}

/** What a test is about, if it is the opposite of another. */
export function positive(test: Test): Test {
  return test instanceof NotTest ? test.test : test
}
