/** What stands for an empty part, because an empty attribute is an absent one. */
const EMPTY = '\\0'

/**
 * The text that tells the descriptors of one rule apart: the values that its entries leave open, joined by `|`. Different lists of
 * values make different texts: a `|` or `\` in a value is escaped.
 */
export function descriptorKey(parts: readonly string[]): string {
  return parts.map(escaped).join('|')
}

function escaped(part: string): string {
  if (part === '') return EMPTY
  return /[|\\]/.test(part) ? part.replace(/[|\\]/g, '\\$&') : part
}
