import type { DescriptorEntry } from '../envoy/rate-limit-request.js'
import type { Rule } from './rule.js'
import type { RuleNode } from './rule-node.js'
import { compositeKey, fits, testText, type ValueTest } from './value-test.js'

/** Where an entry of a descriptor leads, and why not to other rules of the same key. */
export interface EntryStep {
  readonly entry: string
  /** The rule's key and value, as envoyproxy/ratelimit joins them; absent if no rule fits. */
  readonly rule?: string
  readonly because: string
  readonly others: readonly { readonly rule: string; readonly because: string }[]
  /** How many rules beside these have other keys. */
  readonly otherKeys: number
}

/** The way of a descriptor through the rules, up to the entry that leads nowhere. */
export interface ExplainedDescriptor {
  readonly steps: readonly EntryStep[]
  /** Why no limit counts; absent if one does. */
  readonly noLimit?: string
}

/** Says which rule each entry of a descriptor leads to, and why. */
export function explainDescriptor(root: RuleNode, entries: readonly DescriptorEntry[]): ExplainedDescriptor {
  const steps: EntryStep[] = []
  let node = root
  for (const entry of entries) {
    const isLast = steps.length === entries.length - 1
    const next = node.children.find(entry)
    if (node.children.all.length === 0) return { steps, noLimit: `the rule has no descriptors for '${textOf(entry)}'` }
    steps.push(stepOf(node, entry, next))
    if (next === undefined) return { steps, noLimit: `no rule fits '${textOf(entry)}'` }
    if (isLast && next.limitRule === undefined) return { steps, noLimit: 'the rule has no rate_limit' }
    node = next
  }
  return entries.length === 0 ? { steps, noLimit: 'the descriptor has no entries' } : { steps }
}

function stepOf({ children }: RuleNode, entry: DescriptorEntry, next: RuleNode | undefined): EntryStep {
  const rules = children.all.flatMap(({ rule }) => (rule === undefined ? [] : [rule]))
  const isOfKey = ({ key, test }: Rule) => key === entry.key || test.kind === 'key-prefix'
  const others = rules.filter((rule) => isOfKey(rule) && rule !== next?.rule)
  const found = next?.rule
  return {
    entry: textOf(entry),
    ...(found !== undefined && { rule: nameOf(found) }),
    because: found === undefined ? 'no rule fits' : HOW[found.test.kind],
    others: others.map((rule) => ({ rule: nameOf(rule), because: whyNot(rule, entry, found) })),
    otherKeys: rules.filter((rule) => !isOfKey(rule)).length,
  }
}

const HOW: Readonly<Record<ValueTest['kind'], string>> = {
  exact: 'the exact value',
  wildcard: 'the first pattern that fits',
  prefix: 'the first pattern that fits',
  cidr: 'the first pattern that fits',
  'key-prefix': 'the first pattern that fits',
  any: 'any value',
}

function whyNot({ key, test }: Rule, entry: DescriptorEntry, found: Rule | undefined): string {
  if (test.kind === 'any') return 'a rule that asks for a value comes first'
  const isFit = test.kind === 'exact' ? test.value === entry.value : fits(test, entry.key, entry.value)
  if (isFit) return found?.test.kind === 'exact' ? 'an exact value comes first' : 'an earlier pattern fits'
  if (test.kind === 'key-prefix') return `key and value do not begin with '${key.slice(0, -1)}'`
  return `the value is '${entry.value}', and it asks for '${testText(test)}'`
}

function nameOf({ key, test }: Rule): string {
  return compositeKey(key, test)
}

function textOf({ key, value }: DescriptorEntry): string {
  return `${key}=${value}`
}
