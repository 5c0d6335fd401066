import { TextFilter } from '../../stores/text-filter.js'
import { type AttributeTest, CidrTest, NotTest, PathTest, TextTest } from './attribute-test.js'
import { CidrTable } from './cidr-table.js'
import type { Facts } from './facts.js'
import { folded, onlyPath, type PathPattern } from './path-pattern.js'
import { PathTrie } from './path-trie.js'

/** An item that applies to a request if all of its tests match. */
export interface Rule<T> {
  readonly item: T
  readonly tests: readonly AttributeTest[]
}

interface Entry<T> extends Rule<T> {
  /** The rule's position in the list of rules. */
  readonly position: number
  /** A path that differs from the pattern in capitals only matches, but not surely. */
  readonly testsPath: boolean
  /** The tests that remain after the entry was found by one of them. */
  others: readonly AttributeTest[]
  /** The number of the last search that considered this entry. */
  search: number
}

/** From this many texts on, a filter in front of the map makes a miss faster. */
const MANY = 1_000

/** The entries that are found by the value of one attribute. */
class AttributeIndex<T> {
  readonly attribute: number
  readonly byText = new Map<string, Entry<T>[]>()
  /** Rules out most texts that `byText` lacks, if it has many. */
  filter: TextFilter | undefined
  readonly whenAbsent: Entry<T>[] = []
  byPattern: PathTrie<Entry<T>> | undefined
  /** All entries that are found by a path. */
  readonly withPath: Entry<T>[] = []
  byRange: CidrTable<Entry<T>> | undefined

  constructor(attribute: number) {
    this.attribute = attribute
  }

  add(test: Findable, entry: Entry<T>): void {
    if (test.orAbsent) this.whenAbsent.push(entry)
    if (test instanceof TextTest) for (const text of test.texts) push(this.byText, text, entry)
    else if (test instanceof PathTest) {
      this.withPath.push(entry)
      for (const pattern of test.patterns) this.#addPath(folded(pattern), entry)
    } else {
      this.byRange ??= new CidrTable()
      for (const range of test.ranges) this.byRange.add(range, entry)
    }
  }

  with(text: string): readonly Entry<T>[] | undefined {
    return this.filter === undefined || this.filter.mayHave(text) ? this.byText.get(text) : undefined
  }

  /** Call once, after the last `add`. */
  finish(): void {
    if (this.byText.size < MANY) return
    this.filter = new TextFilter(this.byText.size)
    for (const text of this.byText.keys()) this.filter.add(text)
  }

  #addPath(pattern: PathPattern, entry: Entry<T>): void {
    const only = onlyPath(pattern)
    if (only !== undefined) push(this.byText, only, entry)
    else {
      this.byPattern ??= new PathTrie()
      this.byPattern.add(pattern, entry)
    }
  }
}

/**
 * Finds the rules that apply to a request without looking at all of them. Each rule is indexed under the test that it
 * shares with the fewest other rules; its other tests are evaluated when it is found.
 *
 * An index holds the result of one search at a time, so that a search allocates nothing: `at` and `isSure` are about
 * the last `find`, and are valid until the next `find` or until `facts` reads another request.
 */
export class RuleIndex<T> {
  readonly #attributes: AttributeIndex<T>[] = []
  /** Rules without a test that can be looked up. Every search considers them. */
  readonly #rest: Entry<T>[] = []
  #search = 0
  readonly #found: Entry<T>[] = []
  #count = 0
  #facts!: Facts

  constructor(rules: readonly Rule<T>[]) {
    let counts: ReadonlyMap<string, number> | undefined
    const countsOnce = () => {
      counts ??= countsOf(rules)
      return counts
    }
    for (const [position, { item, tests }] of rules.entries()) {
      const testsPath = tests.some((test) => (test instanceof NotTest ? test.test : test) instanceof PathTest)
      const entry: Entry<T> = { item, tests, position, testsPath, others: tests, search: 0 }
      const rarest = rarestOf(tests, countsOnce, rules.length)
      if (rarest === undefined) this.#rest.push(entry)
      else {
        entry.others = tests.filter((test) => test !== rarest)
        this.#indexOf(rarest.attribute).add(rarest, entry)
      }
    }
    for (const index of this.#attributes) index.finish()
  }

  /** Searches, and returns how many rules apply. */
  find(facts: Facts): number {
    this.#search++
    this.#facts = facts
    this.#count = 0
    for (let i = 0; i < this.#rest.length; i++) this.#consider(this.#rest[i])
    for (let i = 0; i < this.#attributes.length; i++) this.#findIn(this.#attributes[i], facts)
    this.#sort()
    return this.#count
  }

  /** The item of a rule that the last `find` found, from 0, in the order of the rules. */
  at(i: number): T {
    return this.#found[i].item
  }

  /** Does that rule apply under every reading of the request? */
  isSure(i: number): boolean {
    const { tests, testsPath } = this.#found[i]
    if (!testsPath && !this.#facts.isAmbiguous) return true
    return tests.every((test) => test.surelyMatches(this.#facts))
  }

  #findIn(index: AttributeIndex<T>, facts: Facts): void {
    const text = facts.texts[index.attribute]
    if (text === undefined) {
      this.#considerAll(index.whenAbsent)
      return
    }
    const readings = facts.readings[index.attribute]
    if (readings === undefined) this.#lookUp(index, text)
    else if (readings.isAnything) this.#considerAll(index.withPath)
    else for (let i = 0; i < readings.folded.length; i++) this.#lookUp(index, readings.folded[i])
    if (index.byRange === undefined) return
    const address = facts.address(index.attribute)
    if (address !== undefined) index.byRange.find(address, this.#consider)
  }

  #lookUp(index: AttributeIndex<T>, text: string): void {
    const entries = index.with(text)
    if (entries !== undefined) this.#considerAll(entries)
    index.byPattern?.find(text, this.#consider)
  }

  #considerAll(entries: readonly Entry<T>[]): void {
    for (let i = 0; i < entries.length; i++) this.#consider(entries[i])
  }

  readonly #consider = (entry: Entry<T>) => {
    // A path may match two patterns of one rule.
    if (entry.search === this.#search) return
    entry.search = this.#search
    const { others } = entry
    for (let i = 0; i < others.length; i++) if (!others[i].matches(this.#facts)) return
    this.#found[this.#count++] = entry
  }

  /** An insertion sort: there are few entries, and they are nearly in order. */
  #sort(): void {
    const entries = this.#found
    for (let i = 1; i < this.#count; i++) {
      const entry = entries[i]
      let j = i - 1
      for (; j >= 0 && entries[j].position > entry.position; j--) entries[j + 1] = entries[j]
      entries[j + 1] = entry
    }
  }

  #indexOf(attribute: number): AttributeIndex<T> {
    let index = this.#attributes.find((each) => each.attribute === attribute)
    if (index === undefined) {
      index = new AttributeIndex(attribute)
      this.#attributes.push(index)
    }
    return index
  }
}

/** A test whose matching values can be listed. */
type Findable = TextTest | PathTest | CidrTest

function isFindable(test: AttributeTest): test is Findable {
  return test instanceof TextTest || test instanceof PathTest || test instanceof CidrTest
}

/** A text for each value that a test looks for. Returns `undefined` if nearly every request has such a value. */
function valuesOf(test: Findable): readonly string[] | undefined {
  const { attribute } = test
  const values = test.orAbsent ? [`${attribute} absent`] : []
  if (test instanceof TextTest) for (const text of test.texts) values.push(`${attribute} = ${text}`)
  else if (test instanceof CidrTest) {
    if (test.ranges.some(({ prefix }) => prefix === 0)) return undefined
    for (const { network, prefix } of test.ranges) values.push(`${attribute} in ${network}/${prefix}`)
  } else {
    if (test.patterns.some(({ segments }) => segments.every((segment) => segment === undefined))) return undefined
    for (const { segments, open } of test.patterns.map(folded))
      values.push(`${attribute} ${open ? 'below' : 'at'} ${segments.join('/')}`)
  }
  return values
}

/** How many tests look for each value. */
function countsOf(rules: readonly Rule<unknown>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { tests } of rules) {
    for (const test of tests) {
      if (!isFindable(test)) continue
      for (const value of valuesOf(test) ?? []) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
  }
  return counts
}

/** The test whose most frequent value is rarest. Counting is slow, so it happens only if a rule has a choice. */
function rarestOf(
  tests: readonly AttributeTest[],
  countsOnce: () => ReadonlyMap<string, number>,
  most: number,
): Findable | undefined {
  const findable = tests.filter(isFindable)
  if (findable.length < 2) return findable[0]
  const counts = countsOnce()
  let best: Findable | undefined
  let bestCount = Infinity
  for (const test of findable) {
    const count = valuesOf(test)?.reduce((largest, value) => Math.max(largest, counts.get(value) ?? 0), 0) ?? most
    if (count < bestCount) [best, bestCount] = [test, count]
  }
  return best
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}
