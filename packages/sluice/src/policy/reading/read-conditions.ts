import { type CidrRange, parseCidrRange } from '../../addresses/index.js'
import { nearest } from '../../checks/nearest.js'
import { shown } from '../../errors.js'
import { type AttributeKind, kindOf } from '../matching/facts.js'
import { type PathPattern, parsePathPattern } from '../matching/path-pattern.js'
import type { Path, ProblemList } from './problem-list.js'
import { readAttribute } from './read-attribute.js'

/** The values that a condition compares an attribute with, by the kind of comparison. */
type Values =
  | { readonly kind: 'text'; readonly texts: ReadonlySet<string> }
  | { readonly kind: 'path'; readonly patterns: readonly PathPattern[] }
  | { readonly kind: 'address'; readonly ranges: readonly CidrRange[] }

/** One attribute's condition of a `when`, checked and parsed. Plain data. */
export type ReadCondition = Values & {
  readonly attribute: string
  /** Does an absent attribute meet the values? `{ present: false }` and `null` have no values and are met by absence. */
  readonly orAbsent: boolean
  /** With `not`, or `present: true`: the condition holds where the values are not met. */
  readonly negated: boolean
  /** The condition as it is written in the policy. */
  readonly written: unknown
}

/** The methods that Node.js accepts in a request. Any other method in a condition is a mistake. */
const METHODS =
  'ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE'.split(
    ' ',
  )

const WORDS = ['present', 'not', 'path', 'cidr']

/** Reads the `when` of a level or override. Leaves out conditions that have a problem. */
export function readConditions(problems: ProblemList, path: Path, when: unknown): readonly ReadCondition[] {
  if (typeof when !== 'object' || when === null || Array.isArray(when)) {
    problems.add(path, `when must be an object such as { method: 'POST', path: '/v1/charges' }, got ${shown(when)}`)
    return []
  }
  return Object.entries(when).flatMap(([attribute, written]) => {
    const inside = [...path, attribute]
    if (readAttribute(problems, inside, attribute) === undefined) return []
    return readCondition(problems, inside, attribute, written) ?? []
  })
}

function readCondition(
  problems: ProblemList,
  path: Path,
  attribute: string,
  written: unknown,
): ReadCondition | undefined {
  const condition = (values: (Values & { readonly orAbsent: boolean }) | undefined, negated = false) =>
    values && { ...values, attribute, negated, written }
  if (typeof written !== 'object' || written === null || Array.isArray(written)) {
    return condition(readValues(problems, path, attribute, written, kindOf(attribute)))
  }
  const given = problems.object(path, 'a condition', written, WORDS)
  const [word, ...more] = Object.keys(written)
  if (given === undefined || !WORDS.includes(word)) {
    if (given === undefined || word !== undefined) return undefined
    const words = WORDS.join(', ')
    return problems.add(
      path,
      `a condition that is an object has one of ${words}; regular expressions are not supported`,
    )
  }
  if (more.length > 0) return problems.add(path, `a condition has one of ${WORDS.join(', ')}, got ${more.length + 1}`)
  const inside = [...path, word]
  switch (word) {
    case 'present': {
      const { present } = given
      if (typeof present !== 'boolean') {
        return problems.add(inside, `present must be true or false, got ${shown(present)}`)
      }
      return condition({ kind: 'text', texts: new Set(), orAbsent: true }, present)
    }
    case 'not':
      return condition(readValues(problems, inside, attribute, given.not, kindOf(attribute)), true)
    default:
      return condition(readValues(problems, inside, attribute, given[word], word === 'path' ? 'path' : 'address'))
  }
}

/** Reads a value or a list of values, as this kind of attribute understands them. */
function readValues(
  problems: ProblemList,
  path: Path,
  attribute: string,
  value: unknown,
  kind: AttributeKind,
): (Values & { readonly orAbsent: boolean }) | undefined {
  const values: readonly unknown[] = Array.isArray(value) ? Array.from(value) : [value]
  if (values.length === 0) return problems.add(path, 'a list of values must have at least one')
  const orAbsent = values.includes(null)
  const read = values.flatMap((each, i): unknown[] => {
    if (each === null) return []
    const at = Array.isArray(value) ? [...path, i] : path
    return [readValue(problems, at, attribute, each, kind)]
  })
  if (read.includes(undefined)) return undefined
  if (kind === 'path') return { kind, patterns: read as PathPattern[], orAbsent }
  if (kind === 'address') return { kind, ranges: read as CidrRange[], orAbsent }
  return { kind: 'text', texts: new Set(read as string[]), orAbsent }
}

function readValue(
  problems: ProblemList,
  path: Path,
  attribute: string,
  value: unknown,
  kind: AttributeKind,
): string | PathPattern | CidrRange | undefined {
  if (kind === 'path') return problems.catch(path, () => parsePathPattern(attribute, value))
  if (kind === 'address') return problems.catch(path, () => parseCidrRange(attribute, value))
  if (value === '') return problems.add(path, `${attribute} can never be an empty text: for an absent one, write null`)
  const isPlain = typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  if (!isPlain && typeof value !== 'string') {
    return problems.add(
      path,
      `${attribute} must be text, a number, true, false, null or a list of these, got ${shown(value)}`,
    )
  }
  return kind === 'method' ? readMethod(problems, path, String(value)) : String(value)
}

function readMethod(problems: ProblemList, path: Path, text: string): string | undefined {
  const method = text.toUpperCase()
  if (METHODS.includes(method)) return method
  if (/^(ALL|ANY|\*)$/.test(method))
    return problems.add(path, `there is no method ${shown(text)}; for all methods, leave method out`)
  const meant = nearest(method, METHODS)
  return problems.add(
    path,
    `there is no method ${shown(text)}${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
  )
}
