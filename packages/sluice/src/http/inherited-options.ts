import { shown, warn } from '../errors.js'
import type { GuardOptions } from './guard-options.js'

/** Inherited by limits and policies. */
const OF_BOTH = [
  'skip',
  'trustedProxies',
  'forwardedIn',
  'dialect',
  'status',
  'expose',
  'jitterMs',
  'onDenied',
  'onDecision',
  'hook',
]
/** Inherited by limits only. A policy has its own keys and IPv6 prefix. */
const OF_LIMITS = ['key', 'ipv6Prefix']
/** Inherited by limits that keep their states in memory. */
const OF_MEMORY = ['clock']
/** Inherited by limits whose name keeps them apart from the other limits on the store. */
const OF_NAMED_LIMITS = ['store', 'onFailure']

type ByName = Readonly<Record<string, unknown>>

/**
 * The options of a route's limit. An option that the route does not set is inherited from the limit before it: how to
 * identify clients, which requests to skip, how to answer, and where states are kept. The rules themselves are never inherited: `limit`,
 * `limiter`, `policy`, `attributes`, `name`, `cost` and `settle`. `where` is what warnings call the route's limit.
 */
export function inheritedOptions<Options extends GuardOptions<never, never>>(
  own: Options,
  before: Options | undefined,
  where: string,
): Options {
  if (before === undefined || typeof own !== 'object' || own === null) return own
  const [ours, theirs] = [own as object as ByName, before as object as ByName]
  const names = [...OF_BOTH]
  if (own.policy === undefined) names.push(...OF_LIMITS)
  if ((own.policy ?? own.limiter ?? own.store) === undefined) names.push(...OF_MEMORY)
  if (own.policy === undefined && mayShareStore(own, before, where)) names.push(...OF_NAMED_LIMITS)
  const missing = names.filter((name) => ours[name] === undefined && theirs[name] !== undefined)
  if (missing.length === 0) return own
  return { ...own, ...Object.fromEntries(missing.map((name) => [name, theirs[name]])) }
}

/** Two limits with one name on one store would take from each other's units. */
function mayShareStore(own: GuardOptions<never, never>, before: GuardOptions<never, never>, where: string): boolean {
  if (own.limiter !== undefined || own.store !== undefined || before.store === undefined) return false
  if (own.name !== undefined && own.name !== before.name) return true
  const reason =
    own.name === undefined ? 'it has no name' : `its name ${shown(own.name)} is that of the limit before it`
  warn(
    `${where}: ${reason}, so it cannot use the store of the limit before it and counts in the memory of this process: ` +
      "give it a name of its own, as in name: 'search', or a store",
    'SLUICE_ROUTE',
  )
  return false
}
