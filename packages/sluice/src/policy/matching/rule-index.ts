import { TextFilter } from '../../stores/text-filter.js'
import { BlockTable } from './block-table.js'
import type { Facts } from './facts.js'
import { folded, onlyPath, type PathPattern } from './path-pattern.js'
import { PathTest } from './path-test.js'
import { PathTrie } from './path-trie.js'
import { BlockTest, EqualTest, positive, type Test } from './test.js'

/** What must be so of an attribute. */
export interface Asked {
  readonly attribute: number
  readonly test: Test
}

/** Something that applies to a request when all it asks is so. */
export interface Rule<T> {
  readonly item: T
  readonly asks: readonly Asked[]
}

interface Entry<T> extends Rule<T> {
  readonly place: number
  /** Does it ask about a path? Then capitals may keep it from being sure. */
  readonly asksPath: boolean
  /** What is asked besides what the entry was found by. */
  others: readonly Asked[]
  /** The search that has found it already. */
  seen: number
}

/** From so many texts on, a filter is faster than a map. */
const MANY = 1_000

/** The entries that are found by one attribute. */
class Drawer<T> {
  readonly attribute: number
  readonly equal = new Map<string, Entry<T>[]>()
  /** Of the texts in `equal`, if they are many. */
  filter: TextFilter | undefined
  readonly absent: Entry<T>[] = []
  paths: PathTrie<Entry<T>> | undefined
  /** Those that ask for a path, whichever. */
  readonly byPath: Entry<T>[] = []
  blocks: BlockTable<Entry<T>> | undefined

  constructor(attribute: number) {
    this.attribute = attribute
  }

  add(test: EqualTest | PathTest | BlockTest, entry: Entry<T>): void {
    if (test.orAbsent) this.absent.push(entry)
    if (test instanceof EqualTest) for (const text of test.texts) push(this.equal, text, entry)
    else if (test instanceof PathTest) {
      this.byPath.push(entry)
      for (const pattern of test.patterns) this.#addPath(folded(pattern), entry)
    } else {
      this.blocks ??= new BlockTable()
      for (const block of test.blocks) this.blocks.add(block, entry)
    }
  }

  with(text: string): readonly Entry<T>[] | undefined {
    return this.filter === undefined || this.filter.mayHave(text) ? this.equal.get(text) : undefined
  }

  /** All that there will be is there. */
  close(): void {
    if (this.equal.size < MANY) return
    this.filter = new TextFilter(this.equal.size)
    for (const text of this.equal.keys()) this.filter.add(text)
  }

  #addPath(pattern: PathPattern, entry: Entry<T>): void {
    const only = onlyPath(pattern)
    if (only !== undefined) push(this.equal, only, entry)
    else {
      this.paths ??= new PathTrie()
      this.paths.add(pattern, entry)
    }
  }
}

/**
 * Finds the rules that apply to a request without looking at the others: each lies in a drawer under the rarest thing
 * that it asks, and a request opens only the drawers of its own attributes.
 */
export class RuleIndex<T> {
  readonly #drawers: Drawer<T>[] = []
  /** Rules that ask nothing one could look up. */
  readonly #rest: Entry<T>[] = []
  #searches = 0
  readonly #found: Entry<T>[] = []
  #count = 0
  #facts!: Facts

  constructor(rules: readonly Rule<T>[]) {
    let counts: ReadonlyMap<string, number> | undefined
    const countsOnce = () => {
      counts ??= countsOf(rules)
      return counts
    }
    for (const [place, { item, asks }] of rules.entries()) {
      const asksPath = asks.some(({ test }) => positive(test) instanceof PathTest)
      const entry: Entry<T> = { item, asks, place, asksPath, others: asks, seen: 0 }
      const by = rarest(asks, countsOnce, rules.length)
      if (by === undefined) this.#rest.push(entry)
      else {
        entry.others = asks.filter((asked) => asked !== by)
        this.#drawerOf(by.attribute).add(by.test, entry)
      }
    }
    for (const drawer of this.#drawers) drawer.close()
  }

  /** How many apply. `at` gives them, in the order of the rules, until the next search. */
  find(facts: Facts): number {
    this.#searches++
    this.#facts = facts
    this.#count = 0
    for (let i = 0; i < this.#rest.length; i++) this.#consider(this.#rest[i])
    for (let i = 0; i < this.#drawers.length; i++) this.#open(this.#drawers[i], facts)
    this.#sort()
    return this.#count
  }

  at(place: number): T {
    return this.#found[place].item
  }

  /** Does the rule at a place apply however the request of the last search is read? */
  isSure(place: number): boolean {
    const { asks, asksPath } = this.#found[place]
    if (!asksPath && !this.#facts.isAmbiguous) return true
    return asks.every(({ test, attribute }) => test.surelyMatches(this.#facts, attribute))
  }

  #open(drawer: Drawer<T>, facts: Facts): void {
    const text = facts.texts[drawer.attribute]
    if (text === undefined) {
      this.#considerAll(drawer.absent)
      return
    }
    const readings = facts.readings[drawer.attribute]
    if (readings === undefined) this.#look(drawer, text)
    else if (readings.isAnything) this.#considerAll(drawer.byPath)
    else for (let i = 0; i < readings.folded.length; i++) this.#look(drawer, readings.folded[i])
    if (drawer.blocks === undefined) return
    const address = facts.address(drawer.attribute)
    if (address !== undefined) drawer.blocks.find(address, this.#consider)
  }

  #look(drawer: Drawer<T>, text: string): void {
    const entries = drawer.with(text)
    if (entries !== undefined) this.#considerAll(entries)
    drawer.paths?.find(text, this.#consider)
  }

  #considerAll(entries: readonly Entry<T>[]): void {
    for (let i = 0; i < entries.length; i++) this.#consider(entries[i])
  }

  readonly #consider = (entry: Entry<T>) => {
    // A path may match two patterns of one rule.
    if (entry.seen === this.#searches) return
    entry.seen = this.#searches
    const { others } = entry
    for (let i = 0; i < others.length; i++) {
      if (!others[i].test.matches(this.#facts, others[i].attribute)) return
    }
    this.#found[this.#count++] = entry
  }

  /** Few and nearly in order. */
  #sort(): void {
    const entries = this.#found
    for (let i = 1; i < this.#count; i++) {
      const entry = entries[i]
      let j = i - 1
      for (; j >= 0 && entries[j].place > entry.place; j--) entries[j + 1] = entries[j]
      entries[j + 1] = entry
    }
  }

  #drawerOf(attribute: number): Drawer<T> {
    let drawer = this.#drawers.find((each) => each.attribute === attribute)
    if (drawer === undefined) {
      drawer = new Drawer(attribute)
      this.#drawers.push(drawer)
    }
    return drawer
  }
}

type Findable = Asked & { readonly test: EqualTest | PathTest | BlockTest }

function isFindable(asked: Asked): asked is Findable {
  const { test } = asked
  return test instanceof EqualTest || test instanceof PathTest || test instanceof BlockTest
}

/** What a test looks for, as texts: equal texts are in the same place. Nothing if it would be found by nearly anything. */
function marksOf({ attribute, test }: Findable): readonly string[] | undefined {
  const marks = test.orAbsent ? [`${attribute} absent`] : []
  if (test instanceof EqualTest) for (const text of test.texts) marks.push(`${attribute} = ${text}`)
  else if (test instanceof BlockTest) {
    if (test.blocks.some(({ prefix }) => prefix === 0)) return undefined
    for (const { network, prefix } of test.blocks) marks.push(`${attribute} in ${network}/${prefix}`)
  } else {
    if (test.patterns.some(({ segments }) => segments.every((segment) => segment === undefined))) return undefined
    for (const { segments, open } of test.patterns.map(folded))
      marks.push(`${attribute} ${open ? 'below' : 'at'} ${segments.join('/')}`)
  }
  return marks
}

function countsOf(rules: readonly Rule<unknown>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { asks } of rules) {
    for (const asked of asks) {
      if (!isFindable(asked)) continue
      for (const mark of marksOf(asked) ?? []) counts.set(mark, (counts.get(mark) ?? 0) + 1)
    }
  }
  return counts
}

/** What the fewest other rules ask too. Counting takes long, and is left out where there is no choice. */
function rarest(
  asks: readonly Asked[],
  countsOnce: () => ReadonlyMap<string, number>,
  most: number,
): Findable | undefined {
  const findable = asks.filter(isFindable)
  if (findable.length < 2) return findable[0]
  const counts = countsOnce()
  let best: Findable | undefined
  let bestCount = Infinity
  for (const asked of findable) {
    const count = marksOf(asked)?.reduce((largest, mark) => Math.max(largest, counts.get(mark) ?? 0), 0) ?? most
    if (count < bestCount) [best, bestCount] = [asked, count]
  }
  return best
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}
