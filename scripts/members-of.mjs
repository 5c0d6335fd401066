// The members of a declaration for docs/api.md, wherever they are declared. A type that no entry point exports has no place of its
// own on the page, so its members are listed where it is used: in an interface that extends it, or in a type made of it.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { basesOf, declarationTexts, ownMembers } from './declaration-members.mjs'
import { findDeclaration, readExports } from './declarations.mjs'

/**
 * The members of an interface, class or type, each name once, and the exported interfaces whose members it has as well.
 * @param {(file: string, name: string) => boolean} isPublic whether the page describes a declaration
 * @returns {{ members: { name: string, text: string, summary: string | undefined }[], bases: string[] }}
 */
export function membersOf(file, name, isPublic, seen = new Set()) {
  const text = readFileSync(file, 'utf8')
  const kind = findDeclaration(text, name)?.kind
  seen.add(`${file}#${name}`)
  if (kind === 'type') return merge(parts(declarationTexts(text, name)[0], file, isPublic, seen))
  if (kind !== 'interface' && kind !== 'class') return { members: [], bases: [] }
  const own = { members: ownMembers(text, name), bases: [] }
  return merge([own, ...basesOf(text, name).map((base) => ofBase(base, file, isPublic, seen))])
}

function ofBase(base, file, isPublic, seen) {
  const [, name, argument] = /^([\w$]+)(?:<(.*)>)?$/s.exec(base) ?? []
  const from = name === undefined ? undefined : declarationFrom(file, name)
  if (from === undefined || isPublic(from.file, from.name)) return { members: [], bases: [base] }
  if (seen.has(`${from.file}#${from.name}`)) return { members: [], bases: [] }
  const { members, bases } = membersOf(from.file, from.name, isPublic, seen)
  return { members: members.map((member) => ({ ...member, text: applied(member.text, argument) })), bases }
}

/** The types of this library that a type is made of, and that have no place of their own. */
function parts(text, file, isPublic, seen) {
  const made = text.slice(text.indexOf('=') + 1)
  if (made.includes('=>')) return []
  return [...new Set(made.match(/\b[A-Z][\w$]*/g) ?? [])].flatMap((name) => {
    const from = declarationFrom(file, name)
    if (from === undefined || isPublic(from.file, from.name) || seen.has(`${from.file}#${from.name}`)) return []
    return [membersOf(from.file, from.name, isPublic, seen)]
  })
}

function merge(all) {
  const members = new Map()
  for (const member of all.flatMap((each) => each.members)) {
    const known = members.get(member.name)
    if (known === undefined || (known.summary ?? 'See ').startsWith('See ')) members.set(member.name, member)
  }
  return { members: [...members.values()], bases: [...new Set(all.flatMap((each) => each.bases))] }
}

/** `Given<true, X>` is the promise of X, and `Given<false, X>` is X: limiters and policies on stores of both kinds. */
function applied(text, argument) {
  if (argument !== 'true' && argument !== 'false') return text
  const isLater = argument === 'true'
  const chosen = text.replace(/\bLater extends true \? ([\w$]+) : ([\w$]+)/g, isLater ? '$1' : '$2')
  const start = chosen.indexOf('Given<Later, ')
  if (start < 0) return chosen
  const value = chosen.slice(start + 'Given<Later, '.length, -1).replace(/^\(([\w$]+)\)/, '$1')
  return `${chosen.slice(0, start)}${isLater ? `Promise<${value}>` : value}`
}

/** Where the name that a file uses is declared: in the file itself, or in a file of the package that it imports from. */
function declarationFrom(file, name) {
  const text = readFileSync(file, 'utf8')
  if (findDeclaration(text, name) !== undefined) return { file, name }
  for (const [, list, source] of text.matchAll(/^import (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm)) {
    if (list.split(',').some((item) => item.trim().replace(/^type /, '') === name))
      return exportedFrom(fileOf(file, source), name)
  }
  return undefined
}

/** Follows exports to the declaration. */
function exportedFrom(file, name) {
  if (!existsSync(file)) return undefined
  if (findDeclaration(readFileSync(file, 'utf8'), name) !== undefined) return { file, name }
  const { names, all } = readExports(readFileSync(file, 'utf8'))
  const named = names.find(({ exported, source }) => exported === name && source !== undefined)
  if (named !== undefined) return exportedFrom(fileOf(file, named.source), named.local)
  for (const source of all) {
    const found = exportedFrom(fileOf(file, source), name)
    if (found !== undefined) return found
  }
  return undefined
}

const fileOf = (file, source) => join(dirname(file), source.replace(/\.js$/, '.d.ts'))
