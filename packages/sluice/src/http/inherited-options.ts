import { warn } from '../stores/warn.js'
import type { GuardOptions } from './guard-options.js'

/** What a limit inherits from the one before it, be it a limit or a policy. */
const OF_BOTH = [
  'skip',
  'trustedProxies',
  'forwardedIn',
  'dialect',
  'status',
  'expose',
  'jitterMs',
  'onDenied',
] as const
/** What only goes with a limit. A policy has its own prefix, store and keys. */
const OF_LIMITS = ['key', 'ipv6Prefix'] as const
/** What only goes with a limit whose name keeps it apart from others on the same store. */
const OF_NAMED = ['store', 'onFailure'] as const

type ByName = Readonly<Record<string, unknown>>

/**
 * The options of a route's limit. What the route does not say, it inherits from the limit before it: who the client is,
 * which requests to skip, how to answer, and where states are. What is limited is never inherited: `limit`, `policy`, `attributes`,
 * `name`, `cost` and `settle`.
 */
export function inheritedOptions<Options extends GuardOptions<never>>(
  own: Options,
  before: Options | undefined,
): Options {
  if (before === undefined || typeof own !== 'object' || own === null) return own
  const [said, theirs] = [own as object as ByName, before as object as ByName]
  const names: string[] = [...OF_BOTH]
  if (own.policy === undefined) names.push(...OF_LIMITS)
  if (own.policy === undefined && mayShareStore(own, before)) names.push(...OF_NAMED)
  const missing = names.filter((name) => said[name] === undefined && theirs[name] !== undefined)
  if (missing.length === 0) return own
  return { ...own, ...Object.fromEntries(missing.map((name) => [name, theirs[name]])) }
}

/** Two limits of one name on one store would take from each other. */
function mayShareStore(own: GuardOptions<never>, before: GuardOptions<never>): boolean {
  if (own.store !== undefined || before.store === undefined) return false
  if (own.name !== undefined && own.name !== before.name) return true
  warn(
    "a route's limit has no name of its own, so it is not on the store of the limit before it but in the memory of this " +
      "process: give it one, as in name: 'search', or a store",
    'SLUICE_ROUTE',
  )
  return false
}
