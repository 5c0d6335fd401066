import type { PathPattern } from './path-pattern.js'

interface Node<T> {
  readonly named: Map<string, Node<T>>
  any: Node<T> | undefined
  /** Items of patterns that end here. */
  readonly ends: T[]
  /** Items of open patterns that end here: they match every path below. */
  readonly open: T[]
}

/** Items by path pattern. Finds the items of all patterns that match a path by walking the path once. */
export class PathTrie<T> {
  readonly #root: Node<T> = newNode()

  add({ segments, open }: PathPattern, item: T): void {
    let node = this.#root
    for (const segment of segments) node = segment === undefined ? anyOf(node) : namedOf(node, segment)
    ;(open ? node.open : node.ends).push(item)
  }

  /** Does any pattern match? */
  has(path: string): boolean {
    let isFound = false
    this.find(path, () => {
      isFound = true
    })
    return isFound
  }

  /** Calls `found` with each item whose pattern matches. An item that was added twice may come twice. */
  find(path: string, found: (item: T) => void): void {
    walk(this.#root, path, firstSegment(path), found)
  }
}

const NO_MORE = -1

function firstSegment(path: string): number {
  if (path === '' || path === '/') return NO_MORE
  return path.startsWith('/') ? 1 : 0
}

/** Continues from `node` with the segment that begins at index `at` of the path. */
function walk<T>(node: Node<T>, path: string, at: number, found: (item: T) => void): void {
  for (let i = 0; i < node.open.length; i++) found(node.open[i])
  if (at === NO_MORE) {
    for (let i = 0; i < node.ends.length; i++) found(node.ends[i])
    return
  }
  if (node.any === undefined && node.named.size === 0) return
  const slash = path.indexOf('/', at)
  const next = slash < 0 ? NO_MORE : slash + 1
  const named = node.named.get(slash < 0 ? path.slice(at) : path.slice(at, slash))
  if (named !== undefined) walk(named, path, next, found)
  if (node.any !== undefined) walk(node.any, path, next, found)
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
