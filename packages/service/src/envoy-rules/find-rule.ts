import type { DescriptorEntry } from '../envoy/rate-limit-request.js'
import type { LimitRule } from './limit-rule.js'
import type { RuleNode } from './rule-node.js'

/** The rule for a descriptor, and the places that its entries led to. */
export interface MatchedRule {
  readonly rule: LimitRule
  readonly nodes: readonly RuleNode[]
}

/** Finds the rule for the entries of a descriptor: each entry leads one place down, and the limit of the last place counts. */
export function findRule(root: RuleNode, entries: readonly DescriptorEntry[]): MatchedRule | undefined {
  let node = root
  const nodes: RuleNode[] = []
  for (const entry of entries) {
    const next = node.children.find(entry)
    if (next === undefined) return undefined
    nodes.push(next)
    node = next
  }
  return node.limitRule === undefined ? undefined : { rule: node.limitRule, nodes }
}
