import { shown } from '../errors.js'
import type { AttributeTest } from './matching/attribute-test.js'
import type { Facts } from './matching/facts.js'

/** Says in words why levels and overrides do not match the request that `facts` read last. For people: `explain` shows it. */

const LONGEST_WRITTEN = 120
/** The most values that are listed of those that overrides ask for. */
const MOST_LISTED = 5

/** The tests of a level or an override, and their conditions as they are written in the policy. */
export interface WrittenTests {
  readonly tests: readonly AttributeTest[]
  readonly written: readonly unknown[]
}

/** Why a level does not match; `undefined` if its conditions hold: "plan is 'free', and it asks for "pro"". */
export function mismatchText(facts: Facts, { tests, written }: WrittenTests): string | undefined {
  const failed = tests.findIndex((test) => !test.matches(facts))
  if (failed < 0) return undefined
  return `${described(facts, tests[failed].attribute)}, and it asks for ${shortened(written[failed])}`
}

/** Why a level does not match whose key has an attribute that the request lacks. */
export function absentKeyText(facts: Facts, attribute: number): string {
  return `${described(facts, attribute)}, and its key needs it`
}

/** Why no override matches; `undefined` if one does: "plan is 'entreprise', and they ask for "pro" or "enterprise"". */
export function noOverrideText(facts: Facts, overrides: readonly WrittenTests[]): string | undefined {
  const asked = new Map<number, Asked>()
  for (const { tests, written } of overrides) {
    const failed = tests.findIndex((test) => !test.matches(facts))
    if (failed < 0) return undefined
    const { attribute } = tests[failed]
    const group = asked.get(attribute) ?? { overrides: 0, values: new Set() }
    asked.set(attribute, group)
    group.overrides++
    // One more than is listed tells that there are others.
    if (group.values.size <= MOST_LISTED) for (const each of [written[failed]].flat()) group.values.add(shortened(each))
  }
  return [...asked].map(([attribute, group]) => `${described(facts, attribute)}, and ${askText(group)}`).join('; ')
}

/** What the overrides ask for whose first condition that fails is about one attribute. */
interface Asked {
  overrides: number
  readonly values: Set<string>
}

function askText({ overrides, values }: Asked): string {
  const listed = [...values].slice(0, MOST_LISTED)
  if (values.size > MOST_LISTED) listed.push('others')
  const last = listed.pop()
  const list = listed.length === 0 ? last : `${listed.join(', ')} or ${last}`
  return `${overrides === 1 ? 'it asks' : 'they ask'} for ${list}`
}

function described(facts: Facts, attribute: number): string {
  const text = facts.readings[attribute]?.exact[0] ?? facts.texts[attribute]
  return `${facts.names[attribute]} is ${text === undefined ? 'absent' : shown(text)}`
}

/** A condition as it was written, cut if it is long. */
function shortened(condition: unknown): string {
  const text = JSON.stringify(condition)
  return text.length > LONGEST_WRITTEN ? `${text.slice(0, LONGEST_WRITTEN)}…` : text
}
