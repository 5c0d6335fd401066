/**
 * The one way to write a path, so that no other spelling of it slips past a level: no query, no empty segment, no `.` or
 * `..`, no slash at the end, and no character escaped but a slash inside a segment.
 */

const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i

export function plainPath(text: string): string {
  if (isPlain(text)) return text
  const path = text.replace(ORIGIN, '').replaceAll('\\', '/')
  // What is neither a path nor an address, such as the `*` of OPTIONS, stands for itself.
  if (path === text && !text.startsWith('/')) return text
  const end = path.search(/[?#]/)
  const segments: string[] = []
  for (const segment of (end < 0 ? path : path.slice(0, end)).split('/')) {
    const plain = decoded(segment)
    if (plain === '..') segments.pop()
    else if (plain !== '' && plain !== '.') segments.push(plain)
  }
  return `/${segments.join('/')}`
}

const [SLASH, DOT, PERCENT, QUESTION, HASH, BACKSLASH] = [...'/.%?#\\'].map((each) => each.charCodeAt(0))

/** Nothing to be done, as nearly always. Written out, because a regular expression takes three times as long. */
function isPlain(text: string): boolean {
  if (text.charCodeAt(0) !== SLASH) return false
  let last = SLASH
  for (let i = 1; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === PERCENT || char === QUESTION || char === HASH || char === BACKSLASH) return false
    if (last === SLASH && (char === SLASH || char === DOT)) return false
    last = char
  }
  return last !== SLASH || text.length === 1
}

/** A segment without escapes, but for slashes that belong to it. What is not well-formed stays as it is. */
export function decoded(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment).replaceAll('/', '%2F')
  } catch {
    return segment
  }
}
