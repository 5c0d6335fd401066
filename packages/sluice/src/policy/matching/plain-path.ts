/**
 * The one way to write a path, so that no other spelling of it slips past a level: it begins with a slash and does not end
 * with one; there is no query, no empty segment, no `.` or `..`; and nothing is escaped but what would be read as something
 * else: `%`, `/`, `?`, `#`, `\\` and bytes that are no text.
 */

const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i

export function plainPath(text: string): string {
  // OPTIONS may be about no path at all.
  if (isPlain(text) || text === '*') return text
  const path = text.replace(ORIGIN, '').replaceAll('\\', '/')
  const end = path.search(/[?#]/)
  const segments: string[] = []
  for (const segment of (end < 0 ? path : path.slice(0, end)).split('/')) {
    const plain = plainSegment(segment)
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

/** A segment with nothing escaped that need not be. */
export function plainSegment(segment: string): string {
  return segment.includes('%') ? segment.replace(/(?:%[\da-f]{2})+|%/gi, plainEscapes) : segment
}

const RESERVED = '%/?#\\'

/** By hand, because `decodeURIComponent` throws, and what a client sends must not be able to make that happen often. */
function plainEscapes(escapes: string): string {
  if (escapes === '%') return '%25'
  const bytes = escapes
    .slice(1)
    .split('%')
    .map((hex) => Number.parseInt(hex, 16))
  let plain = ''
  for (let i = 0; i < bytes.length; ) {
    const length = lengthOfCharacter(bytes, i)
    const char = length === 0 ? undefined : String.fromCodePoint(codePoint(bytes, i, length))
    const isKept = char === undefined || RESERVED.includes(char)
    plain += isKept ? `%${bytes[i].toString(16).toUpperCase().padStart(2, '0')}` : char
    i += isKept ? 1 : length
  }
  return plain
}

/** How many bytes of UTF-8 the character takes that begins here; 0 if none does. */
function lengthOfCharacter(bytes: readonly number[], at: number): number {
  const first = bytes[at]
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (first < 0xc2 || first > 0xf4) return 0
  for (let i = 1; i < length; i++) if (bytes[at + i] === undefined || bytes[at + i] >> 6 !== 2) return 0
  const code = codePoint(bytes, at, length)
  const isShortest = code >= (length === 4 ? 0x10000 : length === 3 ? 0x800 : 0x80)
  const isSurrogate = code >= 0xd800 && code <= 0xdfff
  return isShortest && !isSurrogate && code <= 0x10ffff ? length : 0
}

function codePoint(bytes: readonly number[], at: number, length: number): number {
  if (length === 1) return bytes[at]
  let code = bytes[at] & (0xff >> (length + 1))
  for (let i = 1; i < length; i++) code = code * 64 + (bytes[at + i] & 0x3f)
  return code
}
