import { checkOptions } from '../checks/check-options.js'
import type { Clock } from '../clock.js'
import { InvalidPolicyError, invalidType, type PolicyProblem, pathText } from '../errors.js'
import { isSynchronous, storeOption } from '../limiter/store-option.js'
import type { AsyncStore, Store, SyncStore } from '../stores/index.js'
import { warn } from '../stores/warn.js'
import { StorePolicy } from './async-policy.js'
import type { Level, PolicyData } from './level.js'
import { Matcher } from './matcher.js'
import type { AsyncPolicy, AttributesOf, Policy } from './policy.js'
import { readPolicy } from './reading/read-policy.js'
import { SyncPolicy } from './sync-policy.js'

/** A policy with a memory store of its own. */
export interface OwnPolicyOptions<Levels extends readonly Level[]> extends PolicyData {
  readonly levels: Levels
  /** Tells the time. Default: the process's clock, which never steps back. */
  readonly clock?: Clock
  readonly store?: undefined
}

/** A policy on a store of yours. */
export interface StoredPolicyOptions<Levels extends readonly Level[], S extends Store> extends PolicyData {
  /** What keeps this policy's states apart from those of others in the same store. */
  readonly name: string
  readonly levels: Levels
  readonly store: S
  /** The clock goes with the store that keeps time: give it to the store. */
  readonly clock?: undefined
}

/**
 * Levels that a request must pass all together: it takes from every one that matches, or from none.
 *
 * @example
 * ```ts
 * import { createPolicy, tokenBucket } from 'sluice'
 *
 * const policy = createPolicy({
 *   levels: [
 *     { name: 'global', limit: tokenBucket({ capacity: 10_000, refill: '10000/s' }) },
 *     { name: 'user', key: ['user'], limit: tokenBucket({ capacity: 20, refill: '5/s' }) },
 *   ],
 * })
 * const verdict = policy.check({ user: 'user:42' })
 * if (!verdict.allowed) console.log(`denied by ${verdict.deniedBy}, come back in ${verdict.retryAfterMs} ms`)
 * ```
 */
export function createPolicy<const Levels extends readonly Level[]>(
  options: OwnPolicyOptions<Levels> | StoredPolicyOptions<Levels, SyncStore>,
): Policy<AttributesOf<Levels>, Levels[number]['name']>
export function createPolicy<const Levels extends readonly Level[]>(
  options: StoredPolicyOptions<Levels, AsyncStore>,
): AsyncPolicy<AttributesOf<Levels>, Levels[number]['name']>
export function createPolicy<const Levels extends readonly Level[]>(
  options: StoredPolicyOptions<Levels, SyncStore | AsyncStore>,
): Policy<AttributesOf<Levels>, Levels[number]['name']> | AsyncPolicy<AttributesOf<Levels>, Levels[number]['name']>
export function createPolicy(options: PolicyData & { store?: unknown; clock?: unknown }): Policy | AsyncPolicy {
  const {
    store: _,
    clock: __,
    ...data
  } = checkOptions('createPolicy', options, ['version', 'name', 'ipv6Prefix', 'levels', 'store', 'clock'])
  const read = readPolicy(data)
  if (read.problems.length > 0) throw new InvalidPolicyError(read.problems)
  const store = storeOption(options)
  if (options.store !== undefined && read.name === undefined) {
    throw invalidType('name (which keeps policies on one store apart)', "text such as 'api'", read.name)
  }
  const name = read.name ?? 'default'
  const matcher = new Matcher(name, read, (named) => store.prepare?.(named))
  warnOf(name, read.warnings)
  return isSynchronous(store)
    ? new SyncPolicy(name, matcher, store, read.warnings)
    : new StorePolicy(name, matcher, store, read.warnings)
}

const MOST_WARNINGS = 5

/** Says once what is odd about a policy. The policy's `warnings` has all of it. */
function warnOf(name: string, warnings: readonly PolicyProblem[]): void {
  if (warnings.length === 0) return
  const lines = warnings.slice(0, MOST_WARNINGS).map(({ path, message }) => `${pathText(path)}: ${message}`)
  if (warnings.length > MOST_WARNINGS) lines.push(`and ${warnings.length - MOST_WARNINGS} more`)
  warn(`policy ${name}: ${lines.join('; ')}`, 'SLUICE_POLICY')
}
