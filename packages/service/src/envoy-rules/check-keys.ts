import { nearestName } from 'sluice'
import type { NodeFinder } from '../policy-file/node-finder.js'
import { type Fault, keyText, type MapNode, type SourceNode } from '../policy-file/source-node.js'
import { entriesOf } from './rules-text.js'

/** The keys of envoyproxy/ratelimit, in whatever place: there, a key in a wrong place is ignored. */
const THEIRS = [
  'domain',
  'key',
  'value',
  'descriptors',
  'rate_limit',
  'unit',
  'requests_per_unit',
  'unlimited',
  'shadow_mode',
  'quota_mode',
  'name',
  'replaces',
  'detailed_metric',
  'value_to_metric',
  'share_threshold',
  'metadata',
]

/** The keys of each place, with those that only Sluice has. */
const FILE = ['domain', 'descriptors']
const DESCRIPTOR = [
  'key',
  'value',
  'prefix',
  'cidr',
  'rate_limit',
  'descriptors',
  'shadow_mode',
  'quota_mode',
  'detailed_metric',
  'value_to_metric',
  'share_threshold',
  'count_over_limit',
  'metadata',
]
const RATE_LIMIT = [
  'unit',
  'requests_per_unit',
  'unlimited',
  'name',
  'replaces',
  'algorithm',
  'window',
  'burst',
  'slices',
]
const REPLACES = ['name']
const ALL = [...new Set([...THEIRS, ...FILE, ...DESCRIPTOR, ...RATE_LIMIT])]

/** What keys a map of the file may have, and what their values are. */
interface Place {
  readonly name: string
  readonly keys: readonly string[]
}

const PLACES = {
  file: { name: 'a file', keys: FILE },
  descriptor: { name: 'a descriptor', keys: DESCRIPTOR },
  rateLimit: { name: 'rate_limit', keys: RATE_LIMIT },
  replaces: { name: 'an entry of replaces', keys: REPLACES },
} as const satisfies Readonly<Record<string, Place>>

/** The places of the maps in a value. The values of other keys are checked where they are read. */
const INSIDE: Readonly<Record<string, Place>> = {
  descriptors: PLACES.descriptor,
  rate_limit: PLACES.rateLimit,
  replaces: PLACES.replaces,
}

/** Faults, which make a file unusable, and warnings. */
export interface Findings {
  readonly faults: Fault[]
  readonly warnings: Fault[]
}

/** Finds keys that a file of rules does not have, with the words of envoyproxy/ratelimit. */
export function checkKeys(root: MapNode, finder: NodeFinder, findings: Findings): void {
  checkMap(root, PLACES.file)

  function checkMap(map: MapNode, place: Place): void {
    for (const entry of entriesOf(map, finder)) {
      const name = keyText(entry)
      if (name === undefined) continue
      const { key } = entry
      if (key.kind === 'scalar' && typeof key.value !== 'string')
        findings.faults.push({ offset: key.offset, message: `config error, key is not of type string: ${name}` })
      else if (!place.keys.includes(name)) refuse(name, key.offset, place)
      else checkValue(finder.followed(entry.value), INSIDE[name])
    }
  }

  function checkValue(value: SourceNode, place: Place | undefined): void {
    if (place === undefined) return
    if (value.kind === 'map') checkMap(value, place)
    if (value.kind !== 'list') return
    for (const item of value.items) {
      const inside = finder.followed(item)
      if (inside.kind === 'map') checkMap(inside, place)
      else findings.faults.push({ offset: item.offset, message: `${NOT_A_MAP}${shownNode(inside)}` })
    }
  }

  function refuse(name: string, offset: number, place: Place): void {
    const isIgnored = THEIRS.includes(name)
    const message = isIgnored
      ? `'${name}' has no effect in ${place.name}, which has ${place.keys.join(', ')}`
      : `config error, unknown key '${name.slice(0, 60)}'${advice(name, place)}`
    const list = isIgnored ? findings.warnings : findings.faults
    list.push({ offset, message })
  }
}

const NOT_A_MAP = 'config error, yaml file contains list of type other than map: '

function advice(name: string, place: Place): string {
  if (name === 'levels') return ': this is a policy file, which has a place of its own'
  const meant = nearestName(name, place.keys) ?? nearestName(name, ALL)
  if (meant === undefined) return `; ${place.name} has ${place.keys.join(', ')}`
  return meant === name ? `; ${place.name} has ${place.keys.join(', ')}` : `; did you mean '${meant}'?`
}

function shownNode(node: SourceNode): string {
  return node.kind === 'scalar' ? `${node.plain ?? node.value}`.slice(0, 60) : `a ${node.kind}`
}
