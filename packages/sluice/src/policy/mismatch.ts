import type { AttributeTest } from './matching/attribute-test.js'
import type { Facts } from './matching/facts.js'

const LONGEST_WRITTEN = 120
/** The most conditions that are listed of those that overrides ask for. */
export const MOST_LISTED = 5

/**
 * One reason why a level, or an override of a level, does not match a request: an attribute, its value, and what is asked of
 * it. Plain data; `mismatchText` says it in words.
 */
export interface Mismatch {
  readonly attribute: string
  /** The value as the policy reads it; absent if the request lacks the attribute. */
  readonly value?: string
  /**
   * The conditions on it, as JSON of at most 121 characters: one for a level, at most six for its overrides. Empty if the
   * attribute is absent and the key of the level needs it.
   */
  readonly asked: readonly string[]
  /** How many overrides ask. Absent if the level does. */
  readonly overrides?: number
}

/** The tests of a level or an override, and their conditions as they are written in the policy. */
export interface WrittenTests {
  readonly tests: readonly AttributeTest[]
  readonly written: readonly unknown[]
}

/** Why a level does not match the request that `facts` read last; `undefined` if its conditions hold. */
export function mismatchOf(facts: Facts, { tests, written }: WrittenTests): Mismatch | undefined {
  const failed = tests.findIndex((test) => !test.matches(facts))
  return failed < 0
    ? undefined
    : { ...attributeOf(facts, tests[failed].attribute), asked: [conditionText(written[failed])] }
}

/** Why a level does not match whose key has an attribute that the request lacks. */
export function absentKey(facts: Facts, attribute: number): Mismatch {
  return { ...attributeOf(facts, attribute), asked: [] }
}

/** Why no override matches, one reason for each attribute; `undefined` if one matches. */
export function overrideMismatches(facts: Facts, overrides: readonly WrittenTests[]): readonly Mismatch[] | undefined {
  const groups = new Map<number, { overrides: number; readonly asked: Set<string> }>()
  for (const { tests, written } of overrides) {
    const failed = tests.findIndex((test) => !test.matches(facts))
    if (failed < 0) return undefined
    const { attribute } = tests[failed]
    const group = groups.get(attribute) ?? { overrides: 0, asked: new Set() }
    groups.set(attribute, group)
    group.overrides++
    // One more than is listed tells that there are others.
    for (const each of [written[failed]].flat())
      if (group.asked.size <= MOST_LISTED) group.asked.add(conditionText(each))
  }
  return [...groups].map(([attribute, group]) => ({
    ...attributeOf(facts, attribute),
    asked: [...group.asked],
    overrides: group.overrides,
  }))
}

function attributeOf(facts: Facts, attribute: number): Pick<Mismatch, 'attribute' | 'value'> {
  const value = facts.readings[attribute]?.exact[0] ?? facts.texts[attribute]
  return { attribute: facts.names[attribute], ...(value !== undefined && { value }) }
}

/** A condition as the policy writes it, cut if it is long. */
function conditionText(condition: unknown): string {
  const text = JSON.stringify(condition)
  return text.length > LONGEST_WRITTEN ? `${text.slice(0, LONGEST_WRITTEN)}…` : text
}
