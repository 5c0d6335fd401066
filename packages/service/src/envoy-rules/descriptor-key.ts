import type { DescriptorEntry } from '../envoy/rate-limit-request.js'
import type { LimitRule } from './limit-rule.js'

/** What stands for an empty part, because an empty attribute is an absent one. */
const EMPTY = '\\0'

/**
 * The text that tells the descriptors of one rule apart: the values that its entries leave open, joined by `|`. Different lists of
 * values make different texts: a `|` or `\` in a value is escaped.
 */
export function descriptorKey(parts: readonly string[]): string {
  return parts.map(escaped).join('|')
}

function escaped(part: string): string {
  if (part === '') return EMPTY
  return /[|\\]/.test(part) ? part.replace(/[|\\]/g, '\\$&') : part
}

/** The key of a descriptor's state in a level of the rule; `undefined` if all descriptors of the rule share one. */
export function stateKey(rule: LimitRule, entries: readonly DescriptorEntry[], period?: string): string | undefined {
  const { openPlaces, path } = rule
  // The usual case: nothing to join.
  if (period === undefined && openPlaces.length === 0) return undefined
  const parts: string[] = []
  for (const place of openPlaces) {
    const { key, value } = entries[place]
    if (path[place].test.kind === 'key-prefix') parts.push(key)
    parts.push(value)
  }
  if (period !== undefined) parts.push(period)
  return descriptorKey(parts)
}
