/**
 * Brings the escapes of a path segment into one form. The characters `%`, `/`, `?`, `#` and `\` stay escaped, because
 * they mean something else when they are not, and so do bytes that are not UTF-8. Escapes are in capitals: `%2F`.
 */

const RESERVED = '%/?#\\'
const ESCAPES = /(?:%[\da-f]{2})+|[%\\]/gi

/** Decodes every escape that can be decoded: `caf%C3%A9` becomes `café`, and `%61` becomes `a`. */
export function decodedSegment(segment: string): string {
  return rewritten(segment, RESERVED)
}

const NEED_NO_ESCAPE = /^[\w.~!$&'()*+,;=:@-]$/

/**
 * Decodes only the escapes of characters that need one: `caf%C3%A9` becomes `café`, and `%61` stays `%61`. Routers that
 * compare the text of a request as it came tell `%61` from `a`.
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

/** Not `decodeURIComponent`, which throws on bad escapes: a client could make it throw on every request. */
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

/** The length in bytes of the UTF-8 character at this index; 0 if no valid character begins there. */
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
