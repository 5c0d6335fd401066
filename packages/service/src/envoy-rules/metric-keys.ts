import type { DescriptorEntry } from '../envoy/rate-limit-request.js'
import type { AskedLimit } from './asked-limit.js'
import type { Rule } from './rule.js'
import { compositeKey } from './value-test.js'

/**
 * The parts of a name in the metrics of envoyproxy/ratelimit, after the domain: one for each entry of the descriptor. A rule is
 * named as its file writes it. `detailed_metric` of the last rule names every entry by its value, `value_to_metric` of a rule its
 * own; where all values share a count, they share a name, too.
 */
export function metricKeys({ rule, nodes }: AskedLimit, entries: readonly DescriptorEntry[]): readonly string[] {
  if (rule === undefined) return entries.map(withValue)
  const isDetailed = rule.path.at(-1)?.detailedMetric === true
  // There, an empty value leaves its `_` behind in this case only.
  if (isDetailed && !rule.path.some(({ shareThreshold }) => shareThreshold))
    return entries.map(({ key, value }) => `${key}_${value}`)
  return nodes.map(({ rule: place }, i) => (place === undefined ? '' : keyOf(place, entries[i], isDetailed)))
}

/** Is the name always the same? Then it needs no look at the entries. */
export function hasFixedName({ path }: { readonly path: readonly Rule[] }): boolean {
  return path.at(-1)?.detailedMetric !== true && path.every(({ valueToMetric }) => !valueToMetric)
}

function keyOf(place: Rule, entry: DescriptorEntry, isDetailed: boolean): string {
  const isNamedByValue = (isDetailed || place.valueToMetric) && !place.shareThreshold
  return isNamedByValue ? withValue(entry) : compositeKey(place.key, place.test)
}

function withValue({ key, value }: DescriptorEntry): string {
  return value === '' ? key : `${key}_${value}`
}
