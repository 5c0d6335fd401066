import { type Block, contains } from '../../addresses/index.js'
import type { PathPattern } from '../matching/path-pattern.js'
import { PathTest } from '../matching/path-test.js'
import { BlockTest, EqualTest, NotTest, type Test } from '../matching/test.js'

/** Longer lists of patterns or blocks are not compared, each with each. */
const MOST_COMPARED = 10_000

/** Is what one test lets through always let through by another? Only a yes is certain. */
export function implies(narrow: Test, wide: Test): boolean {
  if (narrow instanceof NotTest) return wide instanceof NotTest && implies(wide.test, narrow.test)
  if (wide instanceof NotTest) return isDisjoint(narrow, wide.test)
  if ((narrow as EqualTest).orAbsent && !(wide as EqualTest).orAbsent) return false
  if (narrow instanceof EqualTest) {
    if (narrow.texts.size === 0) return true
    return wide instanceof EqualTest && [...narrow.texts].every((text) => wide.texts.has(text))
  }
  if (narrow instanceof PathTest) {
    return (
      wide instanceof PathTest && narrow.patterns.every((inner) => wide.patterns.some((outer) => covers(outer, inner)))
    )
  }
  return (
    narrow instanceof BlockTest &&
    wide instanceof BlockTest &&
    narrow.blocks.length * wide.blocks.length <= MOST_COMPARED &&
    narrow.blocks.every((inner) => wide.blocks.some((outer) => includes(outer, inner)))
  )
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

function isDisjoint(one: Test, other: Test): boolean {
  if (asksAbsence(other)) return asksPresence(one)
  if (!(one instanceof EqualTest && other instanceof EqualTest)) return false
  return !(one.orAbsent && other.orAbsent) && ![...one.texts].some((text) => other.texts.has(text))
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
