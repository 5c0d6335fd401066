/** What a level or an override asks of one attribute. */
import type { Block } from '../../addresses/index.js'
import { BlockTable } from './block-table.js'
import type { Facts } from './facts.js'
import { onlyPath, type PathPattern } from './path-pattern.js'
import { PathTrie } from './path-trie.js'

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
  readonly #others: PathTrie<PathPattern> | undefined

  constructor(patterns: readonly PathPattern[], orAbsent: boolean) {
    this.patterns = patterns
    this.orAbsent = orAbsent
    this.#exact = new Set(patterns.flatMap((pattern) => onlyPath(pattern) ?? []))
    for (const pattern of patterns) {
      if (onlyPath(pattern) !== undefined) continue
      this.#others ??= new PathTrie()
      this.#others.add(pattern, pattern)
    }
  }

  matches(facts: Facts, attribute: number): boolean {
    const text = facts.texts[attribute]
    if (text === undefined) return this.orAbsent
    return this.#exact.has(text) || this.#others?.has(text) === true
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
