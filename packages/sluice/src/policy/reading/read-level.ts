import { shown } from '../../errors.js'
import { type BlockRule, type Limit, parseBlockFor } from '../../limits/index.js'
import { checkOnFailure, type OnFailure } from '../../stores/index.js'
import type { Path, ProblemList } from './problem-list.js'
import { readAttribute } from './read-attribute.js'
import { type ReadCondition, readConditions } from './read-conditions.js'
import { readLimits } from './read-limits.js'
import { type ReadOverride, readOverrides } from './read-overrides.js'

/** A level, checked and parsed, with all defaults filled in. Plain data. */
export interface ReadLevel {
  readonly name: string
  readonly conditions: readonly ReadCondition[]
  readonly key: readonly string[]
  readonly limits: readonly Limit[]
  readonly overrides: readonly ReadOverride[]
  readonly cost: number | string | undefined
  readonly shadow: boolean
  readonly onFailure: OnFailure | undefined
  readonly blockFor: BlockRule | undefined
}

const LEVEL = ['name', 'when', 'key', 'limit', 'overrides', 'cost', 'shadow', 'onFailure', 'blockFor']
const NAME = /^[\w.-]{1,64}$/
const NAME_WANTED = 'text of letters, digits, dots, dashes and underscores, at most 64 of them'
const MOST_KEYS = 8

/** Reads a name. Its characters are limited because it becomes part of keys, headers and metrics. */
export function readName(problems: ProblemList, path: Path, what: string, value: unknown): string | undefined {
  if (typeof value === 'string' && NAME.test(value)) return value
  return problems.add(path, `${what} must be ${NAME_WANTED}, got ${shown(value)}`)
}

/** Reads a level. Returns `undefined` if it has any problem. */
export function readLevel(
  problems: ProblemList,
  path: Path,
  value: unknown,
  ipv6Prefix: number,
): ReadLevel | undefined {
  const before = problems.all.length
  const given = problems.object(path, 'a level', value, LEVEL)
  if (given === undefined) return undefined
  const name = readName(problems, [...path, 'name'], 'name', given.name) ?? ''
  const conditions = given.when === undefined ? [] : readConditions(problems, [...path, 'when'], given.when)
  const key = readKey(problems, [...path, 'key'], given.key)
  const level = {
    name,
    conditions,
    key,
    limits: readLimits(problems, [...path, 'limit'], given.limit) ?? [],
    overrides: readOverrides(problems, [...path, 'overrides'], given.overrides, key, ipv6Prefix),
    cost: readCost(problems, [...path, 'cost'], given.cost),
    shadow: readShadow(problems, [...path, 'shadow'], given.shadow),
    onFailure: readOnFailure(problems, [...path, 'onFailure'], given.onFailure),
    blockFor: readBlockFor(problems, [...path, 'blockFor'], given.blockFor),
  }
  return problems.all.length === before ? level : undefined
}

const KEY_IS_NAMES =
  "key must be the name of an attribute, or a list of names such as ['user'], got a function: the values come from " +
  "`attributes` of rateLimit, or from check({ user: 'ann' })"

function readKey(problems: ProblemList, path: Path, value: unknown): readonly string[] {
  if (value === undefined) return []
  if (typeof value === 'function') {
    problems.add(path, KEY_IS_NAMES)
    return []
  }
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

function readCost(problems: ProblemList, path: Path, value: unknown): number | string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return readAttribute(problems, path, value)
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  return problems.add(path, `cost must be a whole number from 0, or the name of an attribute, got ${shown(value)}`)
}

function readShadow(problems: ProblemList, path: Path, value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') {
    problems.add(path, `shadow must be true or false, got ${shown(value)}`)
  }
  return value === true
}

function readOnFailure(problems: ProblemList, path: Path, value: unknown): OnFailure | undefined {
  return value === undefined ? undefined : problems.catch(path, () => checkOnFailure(value))
}

function readBlockFor(problems: ProblemList, path: Path, value: unknown): BlockRule | undefined {
  return value === undefined ? undefined : problems.catch(path, () => parseBlockFor(value))
}
