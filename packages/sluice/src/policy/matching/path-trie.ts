import type { PathPattern } from './path-pattern.js'

interface Node<T> {
  readonly named: Map<string, Node<T>>
  any: Node<T> | undefined
  /** What ends here, and what matches all below. */
  readonly ends: T[]
  readonly open: T[]
}

/** Many path patterns at once: finds those that match a path by walking it once. */
export class PathTrie<T> {
  readonly #root: Node<T> = newNode()

  add({ segments, open }: PathPattern, item: T): void {
    let node = this.#root
    for (const segment of segments) node = segment === undefined ? anyOf(node) : namedOf(node, segment)
    ;(open ? node.open : node.ends).push(item)
  }

  /** Tells of everything whose pattern matches, once a pattern. */
  find(path: readonly string[], found: (item: T) => void): void {
    walk(this.#root, path, 0, found)
  }
}

function walk<T>(node: Node<T>, path: readonly string[], at: number, found: (item: T) => void): void {
  for (const item of node.open) found(item)
  if (at === path.length) {
    for (const item of node.ends) found(item)
    return
  }
  const named = node.named.get(path[at])
  if (named !== undefined) walk(named, path, at + 1, found)
  if (node.any !== undefined) walk(node.any, path, at + 1, found)
}

function newNode<T>(): Node<T> {
  return { named: new Map(), any: undefined, ends: [], open: [] }
}

function anyOf<T>(node: Node<T>): Node<T> {
  node.any ??= newNode()
  return node.any
}

function namedOf<T>(node: Node<T>, segment: string): Node<T> {
  let next = node.named.get(segment)
  if (next === undefined) {
    next = newNode()
    node.named.set(segment, next)
  }
  return next
}
