import { shown } from '../../errors.js'
import type { Path, ProblemList } from './problem-list.js'

/** Attributes whose values are more than text. */
const KNOWN_ATTRIBUTES = ['method', 'path', 'ip']

/** Reads the name of an attribute. */
export function readAttribute(problems: ProblemList, path: Path, name: unknown): string | undefined {
  if (typeof name === 'string' && /[ ,\t\r\n]/.test(name)) {
    const names = name.split(/[ ,\t\r\n]+/).filter(Boolean)
    return problems.add(
      path,
      `an attribute's name has no spaces or commas, got ${shown(name)}; a list is written [${names.join(', ')}]`,
    )
  }
  const meant = typeof name === 'string' ? KNOWN_ATTRIBUTES.find((known) => isNearly(name, known)) : undefined
  if (meant !== undefined) {
    return problems.add(
      path,
      `did you mean '${meant}'? An attribute ${shown(name)} would be any text, and is too like it`,
    )
  }
  if (typeof name === 'string' && name !== '' && name.length <= 128) return name
  return problems.add(path, `an attribute must be a name of 1 to 128 characters, got ${shown(name)}`)
}

/** A level that asks for `Path` or `methods` would silently match nothing. */
function isNearly(name: string, known: string): boolean {
  return name !== known && name.toLowerCase().replace(/s$/, '') === known
}
