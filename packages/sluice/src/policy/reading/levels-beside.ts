import { addressText } from '../../addresses/index.js'
import { Facts } from '../matching/facts.js'
import { PathTest } from '../matching/path-test.js'
import { RuleIndex } from '../matching/rule-index.js'
import { BlockTest, EqualTest, NotTest, type Test } from '../matching/test.js'
import type { ReadLevel } from './read-level.js'

/** What stands for any text. */
const SOME = 'x'

/**
 * Finds the levels that a level could be compared with, without looking at all of them: a level that matches whenever
 * another does also matches one request that the other matches, made up here.
 */
export class LevelsBeside {
  readonly #facts: Facts
  readonly #samples: ReadonlyMap<ReadLevel, Sample>
  readonly #index: RuleIndex<ReadLevel>

  constructor(levels: readonly ReadLevel[], ipv6Prefix: number) {
    this.#facts = new Facts(ipv6Prefix)
    this.#samples = new Map(levels.map((level) => [level, sampleOf(level)]))
    const texts = new Set([...this.#samples.values()].flatMap(Object.values<string | undefined>))
    this.#index = new RuleIndex(
      levels.map((item) => ({
        item,
        asks: item.asks.map(({ attribute, test }) => ({
          attribute: this.#numberOf(attribute, test),
          test: among(texts, test),
        })),
      })),
    )
  }

  /** The level and those beside it, in the order of the policy. None if no request is known that the level matches. */
  of(level: ReadLevel): readonly ReadLevel[] {
    this.#facts.read(this.#samples.get(level) ?? {})
    const beside = Array.from({ length: this.#index.find(this.#facts) }, (_, i) => this.#index.at(i))
    return beside.includes(level) ? beside : []
  }

  #numberOf(attribute: string, test: Test): number {
    const kind = test instanceof PathTest ? 'path' : test instanceof BlockTest ? 'address' : undefined
    return this.#facts.numberOf(attribute, kind)
  }
}

type Sample = Readonly<Record<string, string | undefined>>

/** The test without the texts that no sample has, which may be very many. */
function among(texts: ReadonlySet<string | undefined>, test: Test): Test {
  if (test instanceof NotTest) return new NotTest(among(texts, test.test))
  if (!(test instanceof EqualTest)) return test
  const some: string[] = []
  for (const text of test.texts) if (texts.has(text)) some.push(text)
  return new EqualTest(some, test.orAbsent)
}

/** A request that a level matches. A level that refuses nearly all paths may not match it. */
function sampleOf({ key, asks }: ReadLevel): Sample {
  const request: Record<string, string | undefined> = Object.create(null)
  for (const attribute of key) request[attribute] = SOME
  for (const { attribute, test } of asks) request[attribute] = valueFor(test)
  return request
}

function valueFor(test: Test): string | undefined {
  if (test instanceof EqualTest) return test.texts.values().next().value
  if (test instanceof PathTest) return test.patterns[0] && pathOf(test.patterns[0].segments)
  if (test instanceof BlockTest) return test.blocks[0] && addressText(test.blocks[0].network)
  const refused = (test as NotTest).test
  if (refused instanceof PathTest) {
    // Deeper than all of them, by a name that none of them has.
    const named = new Set(refused.patterns.flatMap(({ segments }) => segments))
    const depth = refused.patterns.reduce((most, { segments }) => Math.max(most, segments.length), 0) + 1
    return pathOf(new Array(depth).fill(textBeside(named)))
  }
  // No network contains what is no address.
  return refused instanceof EqualTest ? textBeside(refused.texts) : SOME
}

function textBeside(texts: ReadonlySet<string | undefined>): string {
  let text = SOME
  while (texts.has(text)) text += SOME
  return text
}

function pathOf(segments: readonly (string | undefined)[]): string {
  return `/${segments.map((segment) => segment ?? SOME).join('/')}`
}
