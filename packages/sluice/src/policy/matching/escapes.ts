/**
 * One way to write the characters of a path segment. A character is escaped only where it would otherwise be read as
 * something else: `%`, `/`, `?`, `#`, `\` and bytes that are not UTF-8. Escapes are in capitals: `%2F`.
 */

const RESERVED = '%/?#\\'
const ESCAPES = /(?:%[\da-f]{2})+|[%\\]/gi

/** A segment with every escape decoded that can be: `caf%C3%A9` is `café`, and `%61` is `a`. */
export function decodedSegment(segment: string): string {
  return rewritten(segment, RESERVED)
}

const NEED_NO_ESCAPE = /^[\w.~!$&'()*+,;=:@-]$/

/**
 * The same, but an escape that is not needed stays: `caf%C3%A9` is `café`, and `%61` stays `%61`. Routers that compare
 * the text of a request as it came tell `%61` from `a`.
 */
export function undecodedSegment(segment: string): string {
  return rewritten(segment, RESERVED, NEED_NO_ESCAPE)
}

function rewritten(segment: string, reserved: string, kept?: RegExp): string {
  if (!segment.includes('%') && !segment.includes('\\')) return segment
  return segment.replace(ESCAPES, (escapes) => {
    if (escapes === '%') return '%25'
    return escapes === '\\' ? '%5C' : decoded(escapes, reserved, kept)
  })
}

/** By hand: `decodeURIComponent` throws on bad escapes, and a client could make it throw with every request. */
function decoded(escapes: string, reserved: string, kept: RegExp | undefined): string {
  const bytes = escapes
    .slice(1)
    .split('%')
    .map((hex) => Number.parseInt(hex, 16))
  let text = ''
  for (let i = 0; i < bytes.length; ) {
    const length = lengthOfCharacter(bytes, i)
    const char = length === 0 ? undefined : String.fromCodePoint(codePoint(bytes, i, length))
    const isKept = char === undefined || reserved.includes(char) || kept?.test(char) === true
    text += isKept ? `%${bytes[i].toString(16).toUpperCase().padStart(2, '0')}` : char
    i += isKept ? 1 : length
  }
  return text
}

/** How many bytes the UTF-8 character takes that begins here. 0 if none begins here. */
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
