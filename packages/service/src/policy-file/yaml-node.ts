import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml'
import type { MapEntry, ScalarNode, SourceNode } from './source-node.js'

/** Nodes that were converted before the rest of the document: items of lists, by the offset of their list. */
export class FinishedItems {
  /** Lists and maps in brackets that bypassed the parser, by their offset. */
  readonly flows = new Map<number, SourceNode>()
  readonly #lists = new Map<number, SourceNode[]>()

  /** Converts the items of a part of a list, and returns all items of that list so far. */
  add(offset: number, part: Node | null): readonly SourceNode[] {
    const items = this.#lists.get(offset) ?? []
    if (isSeq(part)) for (const item of part.items) items.push(itemOf(item as Node | Pair<Node, Node>, this))
    this.#lists.set(offset, items)
    return items
  }
}

/** Converts a node of the YAML parser to a `SourceNode`, which takes much less memory. */
export function yamlNode(node: Node | null, finished: FinishedItems): SourceNode {
  const offset = node?.range?.[0] ?? 0
  if (isAlias(node)) return { kind: 'alias', offset, name: node.source }
  const anchor = (node as { anchor?: string } | null)?.anchor
  if (isMap(node)) {
    return {
      kind: 'map',
      offset,
      anchor,
      entries: node.items.map((pair) => entryOf(pair as Pair<Node, Node>, finished)),
    }
  }
  if (isSeq(node)) {
    return { kind: 'list', offset, anchor, items: finished.add(offset, node) }
  }
  if (!isScalar(node)) return { kind: 'scalar', offset, value: null, plain: '' }
  const flow = node.type === 'PLAIN' ? finished.flows.get(offset) : undefined
  if (flow !== undefined) return anchor === undefined ? flow : { ...flow, anchor }
  const plain = node.type === 'PLAIN' ? node.source : undefined
  return { kind: 'scalar', offset, anchor, value: node.value as ScalarNode['value'], plain }
}

/** An item of `[a: b]` is a pair, which means a map of one entry. */
function itemOf(item: Node | Pair<Node, Node>, finished: FinishedItems): SourceNode {
  if (!('key' in item)) return yamlNode(item, finished)
  const entry = entryOf(item, finished)
  return { kind: 'map', offset: entry.key.offset, entries: [entry] }
}

function entryOf({ key, value }: Pair<Node, Node>, finished: FinishedItems): MapEntry {
  const keyNode = yamlNode(key, finished)
  // A key without a value gets an empty value at the key's own offset.
  if (value === null) return { key: keyNode, value: { kind: 'scalar', offset: keyNode.offset, value: null, plain: '' } }
  return { key: keyNode, value: yamlNode(value, finished) }
}
