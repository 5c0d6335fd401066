import fc from 'fast-check'

const PATHS = [
  '/graphql',
  '/graphql/a',
  '/api/search/a',
  '/v1/charges',
  '/Report',
  '/health',
  '/static/a.css',
  '/static',
  '/elsewhere',
  '/acme/login',
  '/login',
  '/',
]

/** What routers may disagree about. */
const PIECES = [
  ...['/', '//', '/.', '/..', '/./', '/x/..', '/x/../', '/%2e', '/%2e%2e', '/.%2E', '/%2E./', '/..;/', '..', '.'],
  ...['\\', '/\\', '\\..', '/..\\..\\x', '\\..\\', '%5c', '%5C..', '%2f', '%2F..%2f', '%2f%2e%2e'],
  ...[';', ';x', ';x=1', '/;', ';/..', ';?', '%3b', '%3Bx'],
  ...['?', '?x', '?/', '#', '#x', '#/../x', '?#', '%3f', '%23'],
  ...['%00', '%20', '%09', '%0a', '%25', '%252e%252e', '%zz', '%', '%c3%a9', '%ff', '%e0%80%af'],
  ...['\xa0', '\xa0#', '\xe9', '~', ':', '*', '@', '+', '"', "'", '|', '{', '^', '`', '<'],
]

const ORIGINS = [
  ...['', '', '', '', '', '', 'http://h', 'http://h:80', 'https://u:p@h', 'HTTP://H', 'http://h?q', 'http://a*b'],
  ...['http://h:abc', 'http://h:80x', 'foo://h:x', 'http://h\\x', 'x:', 'http:', 'file:', ' ', '//h', '/\\h'],
]

type Change = (path: string, at: number) => string

const insert = (piece: string): Change => {
  return (path, at) => path.slice(0, at) + piece + path.slice(at)
}
const escapeOne: Change = (path, at) => {
  const hex = (path.charCodeAt(at) & 0xff).toString(16).padStart(2, '0')
  return `${path.slice(0, at)}%${hex}${path.slice(at + 1)}`
}
const otherCase: Change = (path, at) => {
  const char = path.charAt(at)
  const other = char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()
  return path.slice(0, at) + other + path.slice(at + 1)
}
const allCapitals: Change = (path) => path.toUpperCase()
const otherSlash = (slash: string): Change => {
  return (path, at) => path.slice(0, at) + path.slice(at).replace('/', () => slash)
}

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...PIECES).map(insert) },
  { weight: 2, arbitrary: fc.constantFrom('\\', '%2f', '//', '/./', '/x/../').map(otherSlash) },
  { weight: 2, arbitrary: fc.constant(escapeOne) },
  { weight: 1, arbitrary: fc.constant(otherCase) },
  { weight: 1, arbitrary: fc.constant(allCapitals) },
)

/** At the end more often than elsewhere: there it harms the fewest routes. */
const place = fc.oneof(fc.constant(Infinity), fc.nat(30))

const spelling = fc
  .tuple(fc.constantFrom(...PATHS), fc.array(fc.tuple(change, place), { maxLength: 3 }), fc.constantFrom(...ORIGINS))
  .map(([path, changes, origin]) => {
    const changed = changes.reduce((text, [make, at]) => make(text, Math.min(Math.max(at, 1), text.length)), path)
    return origin + changed
  })

/** Many ways to write the targets of requests, the same for each seed. Each character is a byte. */
export function spellings(count: number, seed: number): readonly string[] {
  return [...new Set(fc.sample(spelling, { numRuns: count, seed }))]
}
