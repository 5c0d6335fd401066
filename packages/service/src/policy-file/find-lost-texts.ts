import type { NodeFinder } from './node-finder.js'
import type { Fault, SourceNode } from './source-node.js'

/**
 * Finds values that a policy compares as text, but that YAML reads as something else: `007` is the number 7, which never
 * equals the text '007'. A value whose text does not change, such as `42`, is fine.
 */
export function findLostTexts(root: SourceNode, finder: NodeFinder): readonly Fault[] {
  const faults: Fault[] = []
  const seen = new Set<SourceNode>()

  const check = (node: SourceNode | undefined, isLost: (value: unknown, plain: string) => boolean): void => {
    if (node === undefined) return
    const inside = finder.followed(node)
    if (seen.has(inside)) return
    seen.add(inside)
    if (inside.kind === 'list') for (const item of inside.items) check(item, isLost)
    if (inside.kind === 'map') for (const { value } of inside.entries) check(value, isLost)
    if (inside.kind !== 'scalar' || inside.plain === undefined) return
    if (inside.plain === '')
      faults.push({ offset: inside.offset, message: 'a value is missing: for absence, write null' })
    else if (isLost(inside.value, inside.plain))
      faults.push({ offset: inside.offset, message: inQuotes(inside.value, inside.plain) })
  }

  check(finder.valueOf(root, 'name'), isNumber)
  for (const level of itemsOf(finder.valueOf(root, 'levels'), finder)) {
    check(finder.valueOf(level, 'name'), isNumber)
    check(finder.valueOf(level, 'key'), isNumber)
    check(finder.valueOf(level, 'when'), differs)
    for (const override of itemsOf(finder.valueOf(level, 'overrides'), finder)) {
      check(finder.valueOf(override, 'when'), differs)
    }
  }
  return faults
}

function itemsOf(node: SourceNode | undefined, finder: NodeFinder): readonly SourceNode[] {
  const inside = node && finder.followed(node)
  return inside?.kind === 'list' ? inside.items : []
}

/** A name is text, so a number is a mistake. */
function isNumber(value: unknown): boolean {
  return typeof value === 'number'
}

function differs(value: unknown, plain: string): boolean {
  if (typeof value === 'number') return String(value) !== plain && Number.isFinite(value)
  return typeof value === 'boolean' && String(value) !== plain
}

function inQuotes(value: unknown, plain: string): string {
  const text = plain.slice(0, 60)
  const read = String(value) === plain ? 'as a number' : `as ${value}`
  return `${text} is read ${read}, not as text: write it in quotes: '${text}'`
}
