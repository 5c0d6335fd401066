import type { PolicyProblem } from 'sluice'
import { type AliasNode, keyText, type MapEntry, type MapNode, type SourceNode } from './source-node.js'

/** Finds the nodes of a file by the paths of a policy's problems. */
export class NodeFinder {
  readonly #root: SourceNode
  readonly #targets: ReadonlyMap<AliasNode, SourceNode>
  readonly #entries = new WeakMap<MapNode, ReadonlyMap<string, MapEntry>>()

  constructor(root: SourceNode, targets: ReadonlyMap<AliasNode, SourceNode>) {
    this.#root = root
    this.#targets = targets
  }

  /** The offset of a problem: of the value, of its key if the key is the problem, or of the parent if it is missing. */
  offsetOf(path: PolicyProblem['path'], isAboutKey: boolean): number {
    let node = this.#root
    for (const [i, step] of path.entries()) {
      const entry = this.#entry(node, step)
      if (entry === undefined) break
      if (isAboutKey && i === path.length - 1 && entry.key !== undefined) return entry.key.offset
      node = entry.value
    }
    return node.offset
  }

  /** The target of an alias; any other node itself. */
  followed(node: SourceNode): SourceNode {
    return node.kind === 'alias' ? (this.#targets.get(node) ?? node) : node
  }

  /** The value of a key, if the node is a map that has it. */
  valueOf(node: SourceNode | undefined, key: string): SourceNode | undefined {
    return node && this.#entry(node, key)?.value
  }

  #entry(node: SourceNode, step: string | number): { key?: SourceNode; value: SourceNode } | undefined {
    const inside = this.followed(node)
    if (inside.kind === 'map') return this.#entriesOf(inside).get(String(step))
    const value = inside.kind === 'list' && typeof step === 'number' ? inside.items[step] : undefined
    return value && { value }
  }

  #entriesOf(map: MapNode): ReadonlyMap<string, MapEntry> {
    const known = this.#entries.get(map)
    if (known !== undefined) return known
    const entries = new Map<string, MapEntry>()
    for (const entry of map.entries) {
      const name = keyText(entry)
      if (name !== undefined && !entries.has(name)) entries.set(name, entry)
    }
    this.#entries.set(map, entries)
    return entries
  }
}
