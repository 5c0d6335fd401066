import type { Facts } from './facts.js'
import { folded, onlyPath, type PathPattern } from './path-pattern.js'
import { PathTrie } from './path-trie.js'
import type { Test } from './test.js'

/** A path that one of these patterns matches. */
export class PathTest implements Test {
  readonly patterns: readonly PathPattern[]
  readonly orAbsent: boolean
  readonly #folded: PatternSet
  readonly #exact: PatternSet

  constructor(patterns: readonly PathPattern[], orAbsent: boolean) {
    this.patterns = patterns
    this.orAbsent = orAbsent
    this.#exact = new PatternSet(patterns)
    this.#folded = patterns.some(hasCapitals) ? new PatternSet(patterns.map(folded)) : this.#exact
  }

  matches(facts: Facts, attribute: number): boolean {
    const text = facts.texts[attribute]
    if (text === undefined) return this.orAbsent
    const readings = facts.readings[attribute]
    if (readings === undefined) return this.#folded.has(text)
    return readings.isAnything || readings.folded.some((each) => this.#folded.has(each))
  }

  surelyMatches(facts: Facts, attribute: number): boolean {
    const text = facts.texts[attribute]
    if (text === undefined) return this.orAbsent
    const readings = facts.readings[attribute]?.exact
    return readings === undefined ? this.#exact.has(text) : readings.every((each) => this.#exact.has(each))
  }
}

function hasCapitals({ segments }: PathPattern): boolean {
  return segments.some((segment) => segment !== segment?.toLowerCase())
}

/** Patterns that a path is looked up in. */
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
