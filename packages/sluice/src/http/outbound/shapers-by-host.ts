import { checkOptions } from '../../checks/check-options.js'
import { checkKey } from '../../checks/check-value.js'
import { invalidType, invalidValue, naming, shown } from '../../errors.js'
import { DRAIN_HABITS } from '../../limits/leaky-bucket.js'
import { createShaper, type Shaper, type SharedShaperOptions } from '../../shaper/index.js'
import type { AsyncStore } from '../../stores/index.js'
import { withoutLastDot } from './host-of.js'
import type { FetchHostOptions, FetchRateOptions } from './shaped-fetch-options.js'

/** Which shaper calls of a host wait in. */
export interface ShapersByHost {
  /** The host is one that `hostOf` gives. */
  readonly shaperOf: (host: string) => Shaper
  /** Those to close: one that was given is somebody else's. */
  readonly ownShapers: readonly Shaper[]
}

/** The names of the options that say how calls are shaped. */
export const SHAPER_OPTIONS = ['drain', 'capacity', 'name', 'store', 'onFailure', 'hosts']

/** The shaper that was given, or one for all hosts and one for each that has numbers of its own. */
export function shapersByHost(given: Record<string, unknown>): ShapersByHost {
  const { shaper } = given
  if (shaper === undefined) return ownShapers(given as unknown as FetchRateOptions)
  for (const name of SHAPER_OPTIONS) {
    if (given[name] !== undefined)
      throw invalidType(name, 'left out beside a shaper, which has its own numbers', given[name])
  }
  if (typeof shaper !== 'object' || shaper === null || typeof (shaper as Shaper).run !== 'function')
    throw invalidType('shaper', 'a shaper made by createShaper', shaper)
  return { shaperOf: () => shaper as Shaper, ownShapers: [] }
}

function ownShapers(given: FetchRateOptions): ShapersByHost {
  const { drain, capacity, store, clock, onFailure, hosts } = given
  const name = store === undefined && given.name === undefined ? 'fetch' : given.name
  checkKey(name, store === undefined ? 'name' : 'name (which keeps queues on one store apart)')
  const make = (name: string, numbers: { readonly drain: string; readonly capacity: number }) =>
    // Whichever kind of store it is, or none, createShaper checks what goes with it.
    createShaper({ name, ...numbers, store, clock, onFailure } as SharedShaperOptions<AsyncStore>)
  const common = make(name, { drain, capacity })
  const byHost = new Map<string, Shaper>()
  for (const [written, numbers] of Object.entries(hosts === undefined ? {} : checkObject('hosts', hosts))) {
    checkHost(written)
    const host = withoutLastDot(written)
    if (byHost.has(host))
      throw invalidValue('hosts', 'of hosts that are there once, with or without a last dot', written)
    naming(`hosts[${shown(written)}]`, () => {
      const own = checkOptions('it', numbers, ['drain', 'capacity'], DRAIN_HABITS) as FetchHostOptions
      const shaper = make(`${name}/${host}`, { drain: own.drain ?? drain, capacity: own.capacity ?? capacity })
      byHost.set(host, shaper)
    })
  }
  return { shaperOf: (host) => byHost.get(host) ?? common, ownShapers: [common, ...byHost.values()] }
}

function checkObject(option: string, value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw invalidType(option, "an object of hosts, as in { 'api.example.com': { drain: '2/s' } }", value)
}

/** One that no URL has would never be found. */
function checkHost(host: string): void {
  const isWritten = (scheme: string) =>
    URL.canParse(`${scheme}://${host}`) && new URL(`${scheme}://${host}`).host === host
  if (isWritten('http') && isWritten('https')) return
  const wanted =
    "of hosts as URLs have them, such as 'api.example.com' or 'localhost:8080', without the ports 80 and 443"
  throw invalidValue('hosts', wanted, host)
}
