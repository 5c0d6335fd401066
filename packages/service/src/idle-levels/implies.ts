import { type CidrRange, type PathPattern, type ReadCondition, rangeContains } from 'sluice'
import type { ComparisonBudget } from './comparison-budget.js'

/** Comparing two patterns or ranges takes as long as this many comparisons of texts. */
const COVER_COST = 5

/** Does `wide` hold for every request for which `narrow` holds? Both are about one attribute. Only a yes is certain. */
export function implies(narrow: ReadCondition, wide: ReadCondition, budget: ComparisonBudget): boolean {
  // Not A implies not B if B implies A.
  if (narrow.negated) return wide.negated && valuesImply(wide, narrow, budget)
  return wide.negated ? areDisjoint(narrow, wide, budget) : valuesImply(narrow, wide, budget)
}

/** Does the condition hold for absent attributes only? */
export function asksAbsence(condition: ReadCondition): boolean {
  return !condition.negated && isAbsenceAlone(condition)
}

/** Does the condition hold for all present attributes, and for no absent one? */
export function asksPresence(condition: ReadCondition): boolean {
  return condition.negated && isAbsenceAlone(condition)
}

/** Paths are left out: a target that a router may read as any path meets even `path: null`. */
function isAbsenceAlone(condition: ReadCondition): boolean {
  if (!condition.orAbsent || condition.kind === 'path') return false
  return condition.kind === 'text' ? condition.texts.size === 0 : condition.ranges.length === 0
}

/** Are the values of `narrow` among those of `wide`? Ignores `negated`. */
function valuesImply(narrow: ReadCondition, wide: ReadCondition, budget: ComparisonBudget): boolean {
  if (narrow.orAbsent && !wide.orAbsent) return false
  if (narrow.kind === 'text') {
    if (narrow.texts.size === 0) return true
    if (wide.kind !== 'text' || narrow.texts.size > wide.texts.size) return false
    return holdsForAll(narrow.texts, (text) => budget.spend(1) && wide.texts.has(text))
  }
  if (narrow.kind === 'path') {
    return wide.kind === 'path' && areCovered(narrow.patterns, wide.patterns, patternCovers, budget)
  }
  return wide.kind === 'address' && areCovered(narrow.ranges, wide.ranges, rangeCovers, budget)
}

/** Do the values of both conditions have nothing in common? Ignores `negated`. */
function areDisjoint(one: ReadCondition, other: ReadCondition, budget: ComparisonBudget): boolean {
  if (isAbsenceAlone(other)) return !one.orAbsent
  if (one.kind !== 'text' || other.kind !== 'text') return false
  if (one.orAbsent && other.orAbsent) return false
  // A HEAD request also meets a condition for GET.
  if (one.texts.has('GET') && other.texts.has('HEAD')) return false
  return holdsForAll(one.texts, (text) => budget.spend(1) && !other.texts.has(text))
}

/** Is each of `inners` covered by one of `outers`? */
function areCovered<T>(
  inners: readonly T[],
  outers: readonly T[],
  covers: (outer: T, inner: T) => boolean,
  budget: ComparisonBudget,
): boolean {
  return inners.every((inner) => outers.some((outer) => budget.spend(COVER_COST) && covers(outer, inner)))
}

/** `every` for any iterable, without making a copy: most answers come after a few values. */
function holdsForAll<T>(values: Iterable<T>, test: (value: T) => boolean): boolean {
  for (const value of values) if (!test(value)) return false
  return true
}

function patternCovers(outer: PathPattern, inner: PathPattern): boolean {
  const { segments, open } = outer
  if (inner.segments.length < segments.length) return false
  if (!open && (inner.open || inner.segments.length > segments.length)) return false
  return segments.every((segment, i) => segment === undefined || segment === inner.segments[i])
}

function rangeCovers(outer: CidrRange, inner: CidrRange): boolean {
  return outer.prefix <= inner.prefix && rangeContains(outer, inner.network)
}
