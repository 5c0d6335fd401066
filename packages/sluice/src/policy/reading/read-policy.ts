import { type PolicyProblem, shown } from '../../errors.js'
import { ProblemList } from './problem-list.js'
import type { ReadCondition } from './read-conditions.js'
import { type ReadLevel, readLevel, readName } from './read-level.js'

/** A policy, checked and parsed. If it has any problem it has no levels, so that a policy is never loaded in part. */
export interface ReadPolicy {
  readonly name: string | undefined
  readonly ipv6Prefix: number
  readonly levels: readonly ReadLevel[]
  /** The names of all attributes that the levels ask about, in the order of the policy. */
  readonly attributes: readonly string[]
  readonly problems: readonly PolicyProblem[]
}

const POLICY = ['version', 'name', 'ipv6Prefix', 'levels']
const MOST_LEVELS = 10_000
/** A check reads each attribute of every request. */
const MOST_ATTRIBUTES = 256
const IPV6_PREFIX = 56

/** Reads a policy from plain data, as code or a file has it, and finds every problem of it. */
export function readPolicy(value: unknown): ReadPolicy {
  const problems = new ProblemList()
  const given = problems.object([], 'a policy', value, POLICY) ?? {}
  if (given.version !== undefined && given.version !== 1) {
    problems.add(['version'], `version must be 1, got ${shown(given.version)}`)
  }
  const name = given.name === undefined ? undefined : readName(problems, ['name'], 'name', given.name)
  const ipv6Prefix = readIpv6Prefix(problems, given.ipv6Prefix)
  const levels =
    problems.all.length > 0 && given.levels === undefined ? [] : readLevels(problems, given.levels, ipv6Prefix)
  const attributes = [...new Set(levels.flatMap(attributesOf))]
  if (attributes.length > MOST_ATTRIBUTES) {
    problems.add(['levels'], `levels must ask about at most ${MOST_ATTRIBUTES} attributes, got ${attributes.length}`)
  }
  const isGood = problems.all.length === 0
  return {
    name,
    ipv6Prefix,
    levels: isGood ? levels : [],
    attributes: isGood ? attributes : [],
    problems: problems.all,
  }
}

function readLevels(problems: ProblemList, value: unknown, ipv6Prefix: number): readonly ReadLevel[] {
  const list = problems.list(['levels'], 'levels', value) ?? []
  if (Array.isArray(value) && list.length === 0) problems.add(['levels'], 'levels must have at least one level')
  if (list.length > MOST_LEVELS) problems.add(['levels'], `levels must be at most ${MOST_LEVELS}, got ${list.length}`)
  const positions = new Map<unknown, number>()
  return list.slice(0, MOST_LEVELS).flatMap((each, i) => {
    const name = typeof each === 'object' && each !== null ? (each as { name?: unknown }).name : undefined
    const earlier = positions.get(name)
    if (name !== undefined && earlier !== undefined) {
      problems.add(
        ['levels', i, 'name'],
        `name must be used once, but level ${earlier + 1} is called ${shown(name)} too`,
      )
    }
    positions.set(name, earlier ?? i)
    return readLevel(problems, ['levels', i], each, ipv6Prefix) ?? []
  })
}

function attributesOf({ conditions, key, cost, overrides }: ReadLevel): readonly string[] {
  const inConditions = (all: readonly ReadCondition[]) => all.map(({ attribute }) => attribute)
  const inOverrides = overrides.flatMap((override) => inConditions(override.conditions))
  return [...inConditions(conditions), ...key, ...(typeof cost === 'string' ? [cost] : []), ...inOverrides]
}

function readIpv6Prefix(problems: ProblemList, value: unknown): number {
  if (value === undefined) return IPV6_PREFIX
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 128) return value as number
  problems.add(['ipv6Prefix'], `ipv6Prefix must be a whole number from 1 to 128, got ${shown(value)}`)
  return IPV6_PREFIX
}
