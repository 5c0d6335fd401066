import { shown } from '../../errors.js'
import type { Limit } from '../../limits/index.js'
import { checkOnFailure, type OnFailure } from '../../stores/index.js'
import type { Test } from '../matching/test.js'
import type { Path, Problems } from './problems.js'
import { readCondition } from './read-condition.js'
import { readLimits } from './read-limits.js'

/** What is asked of a request, attribute by attribute. */
export type Asks = readonly {
  readonly attribute: string
  readonly test: Test
  /** As it was written. */
  readonly condition: unknown
}[]

export interface ReadOverride {
  readonly asks: Asks
  readonly limits: readonly Limit[]
}

/** A level, read: every part checked, every default in its place. */
export interface ReadLevel {
  readonly name: string
  readonly asks: Asks
  readonly key: readonly string[]
  readonly limits: readonly Limit[]
  readonly overrides: readonly ReadOverride[]
  readonly cost: number | string | undefined
  readonly shadow: boolean
  readonly onFailure: OnFailure | undefined
}

const LEVEL = ['name', 'when', 'key', 'limit', 'overrides', 'cost', 'shadow', 'onFailure']
const NAME = /^[\w.-]{1,64}$/
const NAME_WANTED = 'text of letters, digits, dots, dashes and underscores, at most 64 of them'
const MOST_KEYS = 8
/** Those that are more than texts. */
const KNOWN_ATTRIBUTES = ['method', 'path', 'ip']

/** A name that goes into keys, headers and metrics as it is. */
export function readName(problems: Problems, path: Path, what: string, value: unknown): string | undefined {
  if (typeof value === 'string' && NAME.test(value)) return value
  return problems.add(path, `${what} must be ${NAME_WANTED}, got ${shown(value)}`)
}

/** A level; nothing, and every problem of it, if it has any. */
export function readLevel(problems: Problems, path: Path, value: unknown): ReadLevel | undefined {
  const before = problems.all.length
  const given = problems.object(path, 'a level', value, LEVEL)
  if (given === undefined) return undefined
  const level = {
    name: readName(problems, [...path, 'name'], 'name', given.name) ?? '',
    asks: given.when === undefined ? [] : readWhen(problems, [...path, 'when'], given.when),
    key: readKey(problems, [...path, 'key'], given.key),
    limits: readLimits(problems, [...path, 'limit'], given.limit) ?? [],
    overrides: readOverrides(problems, [...path, 'overrides'], given.overrides),
    cost: readCost(problems, [...path, 'cost'], given.cost),
    shadow: readShadow(problems, [...path, 'shadow'], given.shadow),
    onFailure: readOnFailure(problems, [...path, 'onFailure'], given.onFailure),
  }
  return problems.all.length === before ? level : undefined
}

function readWhen(problems: Problems, path: Path, value: unknown): Asks {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.add(path, `when must be an object such as { method: 'POST', path: '/v1/charges' }, got ${shown(value)}`)
    return []
  }
  return Object.entries(value).flatMap(([attribute, condition]) => {
    const inside = [...path, attribute]
    if (readAttribute(problems, inside, attribute) === undefined) return []
    const test = readCondition(problems, inside, attribute, condition)
    return test === undefined ? [] : [{ attribute, test, condition }]
  })
}

function readKey(problems: Problems, path: Path, value: unknown): readonly string[] {
  if (value === undefined) return []
  const names: readonly unknown[] = Array.isArray(value) ? Array.from(value) : [value]
  if (names.length > MOST_KEYS) {
    problems.add(path, `key must name at most ${MOST_KEYS} attributes, got ${names.length}`)
    return []
  }
  return names.flatMap((name, i) => {
    const at = Array.isArray(value) ? [...path, i] : path
    if (names.indexOf(name) < i) problems.add(at, `key names ${shown(name)} twice`)
    return readAttribute(problems, at, name) ?? []
  })
}

function readAttribute(problems: Problems, path: Path, name: unknown): string | undefined {
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

/** A level that asks for `Path` or `methods` would match nothing, and nobody would notice. */
function isNearly(name: string, known: string): boolean {
  return name !== known && name.toLowerCase().replace(/s$/, '') === known
}

function readOverrides(problems: Problems, path: Path, value: unknown): readonly ReadOverride[] {
  if (value === undefined) return []
  return (problems.listOf(path, 'overrides', value) ?? []).flatMap((each, i) => {
    const at = [...path, i]
    const given = problems.object(at, 'an override', each, ['when', 'limit'])
    if (given === undefined) return []
    const asks = readWhen(problems, [...at, 'when'], given.when)
    const limits = readLimits(problems, [...at, 'limit'], given.limit)
    return limits === undefined ? [] : [{ asks, limits }]
  })
}

function readCost(problems: Problems, path: Path, value: unknown): number | string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return readAttribute(problems, path, value)
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  return problems.add(path, `cost must be a whole number from 0, or the name of an attribute, got ${shown(value)}`)
}

function readShadow(problems: Problems, path: Path, value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') {
    problems.add(path, `shadow must be true or false, got ${shown(value)}`)
  }
  return value === true
}

function readOnFailure(problems: Problems, path: Path, value: unknown): OnFailure | undefined {
  return value === undefined ? undefined : problems.catch(path, () => checkOnFailure(value))
}
