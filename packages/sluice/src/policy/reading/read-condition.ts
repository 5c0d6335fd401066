import { type Block, parseBlock } from '../../addresses/index.js'
import { nearest } from '../../checks/nearest.js'
import { shown } from '../../errors.js'
import { kindOf } from '../matching/facts.js'
import { type PathPattern, parsePathPattern } from '../matching/path-pattern.js'
import { PathTest } from '../matching/path-test.js'
import { BlockTest, EqualTest, NotTest, type Test } from '../matching/test.js'
import type { Path, Problems } from './problems.js'

/** What Node.js accepts in a request, so what else is written must be a mistake. */
const METHODS =
  'ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE'.split(
    ' ',
  )

const WORDS = ['present', 'not', 'path', 'cidr']

/** What is asked of one attribute. Nothing, and every problem of it, if it cannot be asked. */
export function readCondition(problems: Problems, path: Path, attribute: string, value: unknown): Test | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return readValues(problems, path, attribute, value, kindOf(attribute))
  }
  const given = problems.object(path, 'a condition', value, WORDS)
  const [word, ...more] = Object.keys(value)
  if (given === undefined || !WORDS.includes(word)) {
    return word === undefined ? problems.add(path, `a condition in words has one of ${WORDS.join(', ')}`) : undefined
  }
  if (more.length > 0) return problems.add(path, `a condition has one of ${WORDS.join(', ')}, got ${more.length + 1}`)
  const inside = [...path, word]
  switch (word) {
    case 'present':
      return readPresent(problems, inside, given.present)
    case 'not': {
      const test = readValues(problems, inside, attribute, given.not, kindOf(attribute))
      return test && new NotTest(test)
    }
    default:
      return readValues(problems, inside, attribute, given[word], word === 'path' ? 'path' : 'address')
  }
}

function readPresent(problems: Problems, path: Path, value: unknown): Test | undefined {
  if (typeof value !== 'boolean') return problems.add(path, `present must be true or false, got ${shown(value)}`)
  const absent = new EqualTest([], true)
  return value ? new NotTest(absent) : absent
}

/** A value, or a list of them, in the sense that this kind of attribute gives to values. */
function readValues(
  problems: Problems,
  path: Path,
  attribute: string,
  value: unknown,
  kind: ReturnType<typeof kindOf>,
): Test | undefined {
  const values: readonly unknown[] = Array.isArray(value) ? Array.from(value) : [value]
  if (values.length === 0) return problems.add(path, 'a list of values must have at least one')
  const orAbsent = values.includes(null)
  const read = values.flatMap((each, i): unknown[] => {
    if (each === null) return []
    const at = Array.isArray(value) ? [...path, i] : path
    return [readValue(problems, at, attribute, each, kind)]
  })
  if (read.includes(undefined)) return undefined
  if (kind === 'path') return new PathTest(read as PathPattern[], orAbsent)
  if (kind === 'address') return new BlockTest(read as Block[], orAbsent)
  return new EqualTest(read as string[], orAbsent)
}

function readValue(
  problems: Problems,
  path: Path,
  attribute: string,
  value: unknown,
  kind: ReturnType<typeof kindOf>,
): string | PathPattern | Block | undefined {
  if (kind === 'path') return problems.catch(path, () => parsePathPattern(attribute, value))
  if (kind === 'address') return problems.catch(path, () => parseBlock(attribute, value))
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

function readMethod(problems: Problems, path: Path, text: string): string | undefined {
  const method = text.toUpperCase()
  if (METHODS.includes(method)) return method
  const meant = nearest(method, METHODS)
  return problems.add(
    path,
    `there is no method ${shown(text)}${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
  )
}
