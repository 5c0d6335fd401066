/** Lines of a text, counted from 1. `last` belongs to them. */
export interface LineRange {
  readonly first: number
  readonly last: number
}

const NAME = /^(\s*(?:-\s+)*)(?:\{\s*)?["']?name["']?\s*:\s*(.*)$/

/**
 * The lines of one level in the text of a policy, with the comment above it. It finds levels that have their name in a line of
 * its own or at the begin of a line, as people write them; others are `undefined`.
 */
export function levelLines(lines: readonly string[], level: string): LineRange | undefined {
  const at = lines.findIndex((line) => nameIn(line) === level && /^[\s-]/.test(line))
  if (at < 0) return undefined
  // The entry begins at its dash, which may stand above the name.
  let first = at
  while (first > 0 && !/^\s*-\s/.test(lines[first]) && !/^\s*[-{]\s*$/.test(lines[first])) first--
  const indent = indentOf(lines[first])
  let last = at
  while (last + 1 < lines.length && belongs(lines[last + 1], indent)) last++
  while (last > at && isEmptyOrComment(lines[last])) last--
  while (first > 0 && lines[first - 1].trim().startsWith('#') && indentOf(lines[first - 1]) === indent) first--
  return { first: first + 1, last: last + 1 }
}

function nameIn(line: string): string | undefined {
  const value = NAME.exec(line)?.[2]
  return value === undefined ? undefined : /^["']?([\w.-]+)/.exec(value)?.[1]
}

function belongs(line: string, indent: number): boolean {
  const isEndOfJson = indentOf(line) === indent && /^\s*\},?\s*$/.test(line)
  return isEmptyOrComment(line) || indentOf(line) > indent || isEndOfJson
}

function isEmptyOrComment(line: string): boolean {
  const text = line.trim()
  return text === '' || text.startsWith('#')
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}
