import { type PolicyProblem, shown } from '../../errors.js'
import { findIdleLevels } from './idle-levels.js'
import { Problems } from './problems.js'
import { type ReadLevel, readLevel, readName } from './read-level.js'

/** A policy, read. With any problem there are no levels: nothing is ever half-loaded. */
export interface ReadPolicy {
  readonly name: string | undefined
  readonly ipv6Prefix: number
  readonly levels: readonly ReadLevel[]
  readonly problems: readonly PolicyProblem[]
  /** What can be used but is hardly meant: levels that can never deny. */
  readonly warnings: readonly PolicyProblem[]
}

const POLICY = ['version', 'name', 'ipv6Prefix', 'levels']
const MOST_LEVELS = 10_000
/** Each is read of every request. */
const MOST_ATTRIBUTES = 256
const IPV6_PREFIX = 56

/** Reads plain data, as code or a file gives it, and finds everything that is wrong with it. */
export function readPolicy(value: unknown): ReadPolicy {
  const problems = new Problems()
  const given = problems.object([], 'a policy', value, POLICY) ?? {}
  if (given.version !== undefined && given.version !== 1) {
    problems.add(['version'], `version must be 1, got ${shown(given.version)}`)
  }
  const name = given.name === undefined ? undefined : readName(problems, ['name'], 'name', given.name)
  const ipv6Prefix = readIpv6Prefix(problems, given.ipv6Prefix)
  const levels = problems.all.length > 0 && given.levels === undefined ? [] : readLevels(problems, given.levels)
  const count = new Set(levels.flatMap(attributesOf)).size
  if (count > MOST_ATTRIBUTES)
    problems.add(['levels'], `levels must ask about at most ${MOST_ATTRIBUTES} attributes, got ${count}`)
  const isGood = problems.all.length === 0
  return {
    name,
    ipv6Prefix,
    levels: isGood ? levels : [],
    problems: problems.all,
    warnings: isGood ? findIdleLevels(levels, ipv6Prefix) : [],
  }
}

function readLevels(problems: Problems, value: unknown): readonly ReadLevel[] {
  const list = problems.listOf(['levels'], 'levels', value) ?? []
  if (Array.isArray(value) && list.length === 0) problems.add(['levels'], 'levels must have at least one level')
  if (list.length > MOST_LEVELS) problems.add(['levels'], `levels must be at most ${MOST_LEVELS}, got ${list.length}`)
  const places = new Map<unknown, number>()
  return list.slice(0, MOST_LEVELS).flatMap((each, i) => {
    const name = typeof each === 'object' && each !== null ? (each as { name?: unknown }).name : undefined
    const earlier = places.get(name)
    if (name !== undefined && earlier !== undefined) {
      problems.add(
        ['levels', i, 'name'],
        `name must be used once, but level ${earlier + 1} is called ${shown(name)} too`,
      )
    }
    places.set(name, earlier ?? i)
    return readLevel(problems, ['levels', i], each) ?? []
  })
}

function attributesOf({ asks, key, cost, overrides }: ReadLevel): readonly string[] {
  const asked = [asks, ...overrides.map((override) => override.asks)].flat().map(({ attribute }) => attribute)
  return [...key, ...asked, ...(typeof cost === 'string' ? [cost] : [])]
}

function readIpv6Prefix(problems: Problems, value: unknown): number {
  if (value === undefined) return IPV6_PREFIX
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 128) return value as number
  problems.add(['ipv6Prefix'], `ipv6Prefix must be a whole number from 1 to 128, got ${shown(value)}`)
  return IPV6_PREFIX
}
