import type { Limit } from '../../limits/index.js'
import type { Path, ProblemList } from './problem-list.js'
import { type ReadCondition, readConditions } from './read-conditions.js'
import { readLimits } from './read-limits.js'

/** An override of a level, checked and parsed. Plain data. */
export interface ReadOverride {
  readonly conditions: readonly ReadCondition[]
  readonly limits: readonly Limit[]
  /** Do the conditions depend on the level's key alone? Then a key always gets the same answer. */
  readonly isByKey: boolean
}

/** Reads the overrides of a level with this key. Leaves out overrides that have a problem. */
export function readOverrides(
  problems: ProblemList,
  path: Path,
  value: unknown,
  key: readonly string[],
  ipv6Prefix: number,
): readonly ReadOverride[] {
  if (value === undefined) return []
  return (problems.list(path, 'overrides', value) ?? []).flatMap((each, i) => {
    const at = [...path, i]
    const given = problems.object(at, 'an override', each, ['when', 'limit'])
    if (given === undefined) return []
    const conditions = readConditions(problems, [...at, 'when'], given.when)
    const limits = readLimits(problems, [...at, 'limit'], given.limit)
    if (limits === undefined) return []
    return [{ conditions, limits, isByKey: conditions.every((condition) => isByKey(condition, key, ipv6Prefix)) }]
  })
}

/**
 * Does the condition hold for all requests of a key, or for none? A key has one spelling for several values of an
 * attribute, and a condition must not tell those values apart. An IPv6 address stands for its network: with an
 * `ipv6Prefix` of 56, a condition on a /64 is not by key. The spellings of a path share a key, and so do GET and HEAD.
 */
function isByKey(condition: ReadCondition, key: readonly string[], ipv6Prefix: number): boolean {
  const { attribute } = condition
  if (!key.includes(attribute)) return false
  if (attribute === 'ip') return condition.kind !== 'address' || longestV6Prefix(condition.ranges) <= ipv6Prefix
  if (condition.kind === 'path') return false
  return attribute !== 'method' || (condition.kind === 'text' && condition.texts.size === 0)
}

function longestV6Prefix(ranges: (ReadCondition & { readonly kind: 'address' })['ranges']): number {
  return ranges.reduce((most, { network, prefix }) => (network.length === 8 ? Math.max(most, prefix) : most), 0)
}
