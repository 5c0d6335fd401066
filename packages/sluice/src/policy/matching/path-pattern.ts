import { invalidType, invalidValue } from '../../errors.js'
import { decodedSegment } from './decoded-segment.js'
import { MOST_SEGMENTS } from './path-readings.js'

/**
 * A path pattern: a list of segments. An open pattern (`/v1/**`) also matches every path below. There are no other
 * wildcards, so matching takes no longer than reading the path.
 */
export interface PathPattern {
  /** `undefined` matches any one segment. */
  readonly segments: readonly (string | undefined)[]
  readonly open: boolean
}

const WANTED = "a path such as '/v1/charges', '/v1/charges/:id' or '/v1/**'"

/** Reads a pattern. An error names `option` and says what would be right. */
export function parsePathPattern(option: string, value: unknown): PathPattern {
  if (typeof value !== 'string') throw invalidType(option, WANTED, value)
  if (!value.startsWith('/')) throw invalidValue(option, `${WANTED} (a pattern begins with a slash)`, value)
  if (/[?#]/.test(value)) throw invalidValue(option, `${WANTED}, without a query`, value)
  if (/\s$/.test(value)) throw invalidValue(option, `${WANTED}, without a space at its end`, value)
  const parts = value.slice(1).split('/')
  const open = parts.at(-1) === '**'
  if (open || parts.at(-1) === '') parts.pop()
  if (parts.length > MOST_SEGMENTS) throw invalidValue(option, `a path of at most ${MOST_SEGMENTS} segments`, value)
  return { segments: parts.map((part) => segmentOf(option, part, value)), open }
}

function segmentOf(option: string, part: string, pattern: string): string | undefined {
  if (part === '*' || /^:\w+$/.test(part)) return undefined
  if (part === '**') throw invalidValue(option, "a path with '**' at its end only, where it matches all below", pattern)
  if (/[*():+\\{}<>$^|]/.test(part)) {
    throw invalidValue(option, `${WANTED}: a segment is a text, ':name' or '*' as a whole, or '**' at the end`, pattern)
  }
  const segment = decodedSegment(part)
  if (segment !== '' && segment !== '.' && segment !== '..') return segment
  throw invalidValue(option, `${WANTED}, without empty segments, '.' and '..', which no path has`, pattern)
}

/** The pattern in lower case. */
export function folded({ segments, open }: PathPattern): PathPattern {
  return { segments: segments.map((segment) => segment?.toLowerCase()), open }
}

/** The path that the pattern matches, if it matches exactly one. */
export function onlyPath({ segments, open }: PathPattern): string | undefined {
  return open || segments.includes(undefined) ? undefined : `/${segments.join('/')}`
}

/** Whether `wide` matches every path that `narrow` matches. */
export function covers(wide: PathPattern, narrow: PathPattern): boolean {
  const [most, least] = [narrow.segments.length, wide.segments.length]
  if (wide.open ? most < least : narrow.open || most !== least) return false
  return wide.segments.every((segment, i) => segment === undefined || segment === narrow.segments[i])
}
