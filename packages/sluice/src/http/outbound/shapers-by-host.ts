import { checkOptions } from '../../checks/check-options.js'
import { checkKey } from '../../checks/check-value.js'
import { invalidType, invalidValue, naming, shown } from '../../errors.js'
import { checkStoreName } from '../../limiter/store-option.js'
import type { Rate } from '../../limits/index.js'
import { createShaper, type FleetShaperOptions, type Shaper } from '../../shaper/index.js'
import type { AsyncStore } from '../../stores/index.js'
import {
  type FetchHostOptions,
  type FetchRateOptions,
  SHAPER_OPTIONS,
  type ShapedFetchOptions,
} from './shaped-fetch-options.js'

/** The shapers in which calls wait. */
export interface ShapersByHost {
  /** The shaper of a host, as `hostOf` returns it. */
  readonly shaperOf: (host: string) => Shaper
  /** The shapers to close. A shaper that was given belongs to its caller. */
  readonly ownShapers: readonly Shaper[]
}

/** The host of a URL with its port. A dot at the end of a name is removed: it is the same host without it. */
export function hostOf(url: string): string {
  return withoutLastDot(new URL(url).host)
}

function withoutLastDot(host: string): string {
  return host.replace(/([^.])\.(:\d+)?$/, '$1$2')
}

/** The shaper that was given. Otherwise one shaper for all hosts, and one for each host with its own numbers. */
export function shapersByHost(options: ShapedFetchOptions): ShapersByHost {
  const { shaper } = options
  if (shaper === undefined) return ownShapers(options as FetchRateOptions)
  const given = options as object as Readonly<Record<string, unknown>>
  for (const name of SHAPER_OPTIONS) {
    if (given[name] !== undefined)
      throw invalidType(name, 'left out beside a shaper, which has its own numbers', given[name])
  }
  if (typeof shaper !== 'object' || shaper === null || typeof shaper.run !== 'function')
    throw invalidType('shaper', 'a shaper made by createShaper', shaper)
  return { shaperOf: () => shaper, ownShapers: [] }
}

function ownShapers(given: FetchRateOptions): ShapersByHost {
  const { drain, capacity, store, clock, onFailure, hosts = {} } = given
  if (typeof hosts !== 'object' || hosts === null || Array.isArray(hosts))
    throw invalidType('hosts', "an object of hosts, as in { 'api.example.com': { drain: '2/s' } }", hosts)
  // Otherwise createShaper would offer `concurrency`, which is no option here.
  if (drain === undefined) throw invalidType('drain', "a rate such as '10/s'", drain)
  const name = store === undefined && given.name === undefined ? 'fetch' : given.name
  if (store === undefined) checkKey(name, 'name')
  else checkStoreName(name, 'queues')
  const make = (name: string, numbers: { readonly drain: Rate; readonly capacity: number }) =>
    // createShaper checks which options the kind of store allows.
    createShaper({ name, ...numbers, store, clock, onFailure } as FleetShaperOptions<AsyncStore>)
  const common = make(name, { drain, capacity })
  const byHost = new Map<string, Shaper>()
  for (const [written, numbers] of Object.entries(hosts)) {
    checkHost(written)
    const host = withoutLastDot(written)
    if (byHost.has(host))
      throw invalidValue('hosts', 'an object with each host once, with or without a dot at the end', written)
    naming(`hosts[${shown(written)}]`, () => {
      const own = checkOptions('it', numbers, ['drain', 'capacity']) as FetchHostOptions
      const shaper = make(`${name}/${host}`, { drain: own.drain ?? drain, capacity: own.capacity ?? capacity })
      byHost.set(host, shaper)
    })
  }
  return { shaperOf: (host) => byHost.get(host) ?? common, ownShapers: [common, ...byHost.values()] }
}

/** A host that is written unlike in URLs would never be found. */
function checkHost(host: string): void {
  const isWritten = (scheme: string) =>
    URL.canParse(`${scheme}://${host}`) && new URL(`${scheme}://${host}`).host === host
  if (isWritten('http') && isWritten('https')) return
  const wanted =
    "an object with hosts as in URLs, such as 'api.example.com' or 'localhost:8080', without the ports 80 and 443"
  throw invalidValue('hosts', wanted, host)
}
