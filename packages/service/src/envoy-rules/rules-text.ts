import { buildData } from '../policy-file/build-data.js'
import { NodeFinder } from '../policy-file/node-finder.js'
import { readYaml } from '../policy-file/read-yaml.js'
import { type Fault, keyText, type MapEntry, type MapNode, type SourceNode } from '../policy-file/source-node.js'
import type { TextLines } from '../policy-file/text-lines.js'

/** The contents of a file of rules, within the bounds of policy files. */
export interface RulesText {
  /** Absent if the file is empty. */
  readonly root: MapNode | undefined
  readonly finder: NodeFinder
  /** The plain data of the root. */
  readonly data: Readonly<Record<string, unknown>>
}

/** How envoyproxy/ratelimit begins its message for a file that is no YAML, or has a value of a wrong type. */
export const NOT_LOADED = 'error loading config file: '

/** Reads YAML, and JSON, which is YAML. Returns the faults if it is neither. */
export function readRulesText(text: string, lines: TextLines): RulesText | readonly Fault[] {
  const read = readYaml(text)
  if (read.faults.length > 0) return read.faults.map(notLoaded)
  const { node } = read
  if (node === undefined || isNothing(node))
    return { root: undefined, finder: new NodeFinder(NOTHING, new Map()), data: {} }
  if (node.kind !== 'map')
    return [notLoaded({ offset: node.offset, message: 'it must have domain: and descriptors:, each on a line' })]
  const { data, faults, targets } = buildData(node, lines, true)
  if (data === undefined || faults.length > 0) return faults.map(notLoaded)
  return { root: node, finder: new NodeFinder(node, targets), data: data as Record<string, unknown> }
}

/** Is the text that of rules, and not of a policy? Rules have a `domain`. */
export function looksLikeRules(text: string): boolean {
  return /^["']?(?:domain|descriptors)["']?\s*:/m.test(text) && !/^["']?levels["']?\s*:/m.test(text)
}

const NOTHING: SourceNode = { kind: 'map', offset: 0, entries: [] }

function isNothing(node: SourceNode): boolean {
  return node.kind === 'scalar' && node.value === null
}

function notLoaded({ offset, message }: Fault): Fault {
  return { offset, message: `${NOT_LOADED}${message}` }
}

/**
 * The entries of a map, with those of the maps that `<<` merges into it. Its own come first, then those of the first merged map; of
 * entries with one name, the first counts.
 */
export function entriesOf(map: MapNode, finder: NodeFinder): readonly MapEntry[] {
  if (!map.entries.some(isMerge)) return map.entries
  const all = new Map<string, MapEntry>()
  const add = (entries: readonly MapEntry[]) => {
    for (const entry of entries) {
      const name = keyText(entry) ?? ''
      if (!all.has(name)) all.set(name, entry)
    }
  }
  add(map.entries.filter((entry) => !isMerge(entry)))
  for (const { value } of map.entries.filter(isMerge)) {
    const target = finder.followed(value)
    const maps = target.kind === 'list' ? target.items.map((item) => finder.followed(item)) : [target]
    for (const each of maps) if (each.kind === 'map') add(entriesOf(each, finder))
  }
  return [...all.values()]
}

function isMerge(entry: MapEntry): boolean {
  return keyText(entry) === '<<'
}
