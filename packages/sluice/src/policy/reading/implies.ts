import { type Block, contains } from '../../addresses/index.js'
import type { PathPattern } from '../matching/path-pattern.js'
import { PathTest } from '../matching/path-test.js'
import { BlockTest, EqualTest, NotTest, type Test } from '../matching/test.js'
import type { Work } from './work.js'

/** How many comparisons of texts one of two patterns or blocks takes as long as. */
const COVER_WORK = 5

/** Is what one test lets through always let through by another? Only a yes is certain. */
export function implies(narrow: Test, wide: Test, work: Work): boolean {
  if (narrow instanceof NotTest) return wide instanceof NotTest && implies(wide.test, narrow.test, work)
  if (wide instanceof NotTest) return isDisjoint(narrow, wide.test, work)
  if ((narrow as EqualTest).orAbsent && !(wide as EqualTest).orAbsent) return false
  if (narrow instanceof EqualTest) {
    if (narrow.texts.size === 0) return true
    if (!(wide instanceof EqualTest) || narrow.texts.size > wide.texts.size) return false
    return isTrueOfAll(narrow.texts, (text) => work.allows(1) && wide.texts.has(text))
  }
  if (narrow instanceof PathTest) {
    return wide instanceof PathTest && areCovered(narrow.patterns, wide.patterns, covers, work)
  }
  return (
    narrow instanceof BlockTest && wide instanceof BlockTest && areCovered(narrow.blocks, wide.blocks, includes, work)
  )
}

/** Is each of some things within one of others? */
function areCovered<T>(
  inners: readonly T[],
  outers: readonly T[],
  covers: (outer: T, inner: T) => boolean,
  work: Work,
): boolean {
  return inners.every((inner) => outers.some((outer) => work.allows(COVER_WORK) && covers(outer, inner)))
}

/** Without a copy, which would take longer than most answers. */
function isTrueOfAll<T>(values: Iterable<T>, test: (value: T) => boolean): boolean {
  for (const value of values) if (!test(value)) return false
  return true
}

/** Does the test ask for absence and nothing else? */
export function asksAbsence(test: Test): boolean {
  return test instanceof EqualTest && test.orAbsent && test.texts.size === 0
}

/** Does the test ask for presence and nothing else? */
export function isPresence(test: Test): boolean {
  return test instanceof NotTest && asksAbsence(test.test)
}

/** Does the test let through nothing that is absent? */
function asksPresence(test: Test): boolean {
  return test instanceof NotTest ? (test.test as EqualTest).orAbsent : !(test as EqualTest).orAbsent
}

function isDisjoint(one: Test, other: Test, work: Work): boolean {
  if (asksAbsence(other)) return asksPresence(one)
  if (!(one instanceof EqualTest && other instanceof EqualTest)) return false
  if (one.orAbsent && other.orAbsent) return false
  // A request of HEAD meets what asks for GET too.
  if (one.texts.has('GET') && other.texts.has('HEAD')) return false
  return isTrueOfAll(one.texts, (text) => work.allows(1) && !other.texts.has(text))
}

function covers(outer: PathPattern, inner: PathPattern): boolean {
  const { segments, open } = outer
  if (inner.segments.length < segments.length || (!open && (inner.open || inner.segments.length > segments.length))) {
    return false
  }
  return segments.every((segment, i) => segment === undefined || segment === inner.segments[i])
}

function includes(outer: Block, inner: Block): boolean {
  return outer.prefix <= inner.prefix && contains(outer, inner.network)
}
