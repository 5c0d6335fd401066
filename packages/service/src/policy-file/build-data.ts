import {
  type AliasNode,
  DEEPEST,
  type Fault,
  keyText,
  type MapNode,
  MOST_VALUES,
  type SourceNode,
  TOO_DEEP,
  TOO_MANY,
} from './source-node.js'
import type { TextLines } from './text-lines.js'

/** The plain data of a file's nodes. */
export interface BuiltData {
  /** Aliases share the object of their target. `undefined` if aliases multiply the data beyond the bounds. */
  readonly data: unknown
  readonly faults: readonly Fault[]
  /** The target of each alias. */
  readonly targets: ReadonlyMap<AliasNode, SourceNode>
}

/** Data with its size and depth, counting the target of each alias. */
interface Built {
  readonly data: unknown
  readonly values: number
  readonly depth: number
}

const NOTHING: Built = { data: null, values: 1, depth: 0 }

/** Thrown to stop at the bounds. */
class TooMuch extends Error {}

/**
 * Converts nodes to plain data. Finds duplicate keys, and aliases without a target or with too large a target. `hasMergeKeys`: the
 * entries of the maps that `<<` names are part of the map, unless it has them itself.
 */
export function buildData(root: SourceNode, lines: TextLines, hasMergeKeys = false): BuiltData {
  const builder = new Builder(lines, hasMergeKeys)
  const { faults, targets } = builder
  try {
    return { data: builder.build(root, 0).data, faults, targets }
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    return { data: undefined, faults, targets }
  }
}

/**
 * An alias becomes the same object as its target, so it takes no memory. But a reader of the data visits that object once
 * for each alias, so each visit counts.
 */
class Builder {
  readonly faults: Fault[] = []
  readonly targets = new Map<AliasNode, SourceNode>()
  readonly #anchors = new Map<string, SourceNode>()
  readonly #built = new Map<SourceNode, Built>()
  readonly #lines: TextLines
  readonly #hasMergeKeys: boolean
  #values = 0

  constructor(lines: TextLines, hasMergeKeys: boolean) {
    this.#lines = lines
    this.#hasMergeKeys = hasMergeKeys
  }

  build(node: SourceNode, depth: number): Built {
    if (node.kind === 'alias') return this.#alias(node, depth)
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    this.#count(1, node.offset)
    const built = this.#own(node, depth + 1)
    if (node.anchor !== undefined) this.#built.set(node, built)
    return built
  }

  #own(node: Exclude<SourceNode, AliasNode>, depth: number): Built {
    if (node.kind === 'scalar') return { data: node.value, values: 1, depth: 0 }
    const parts: Built[] = []
    const part = (each: SourceNode) => {
      const built = this.build(each, depth)
      parts.push(built)
      return built.data
    }
    const data = node.kind === 'list' ? node.items.map(part) : this.#map(node, part)
    const values = parts.reduce((sum, each) => sum + each.values, 1)
    return { data, values, depth: parts.reduce((most, each) => Math.max(most, each.depth), 0) + 1 }
  }

  #map({ entries }: MapNode, part: (node: SourceNode) => unknown): object {
    const data: Record<string, unknown> = {}
    const places = new Map<string, number>()
    const merged: object[] = []
    for (const entry of entries) {
      const { offset } = entry.key
      const name = keyText(entry)
      const value = part(entry.value)
      const earlier = name === undefined ? undefined : places.get(name)
      if (name === undefined) this.#add(offset, 'a key must be text')
      else if (name === '' && entry.key.kind === 'scalar' && entry.key.plain === '') {
        this.#add(offset, "a key is missing before ':'")
      } else if (name === '<<' && this.#hasMergeKeys) {
        const maps = Array.isArray(value) ? value : [value]
        merged.push(...maps)
        if (!maps.every(isPlainObject)) this.#add(offset, 'after <<: comes a map, or a list of maps')
      } else if (name === '<<') {
        this.#add(
          offset,
          'merge keys (<<) are not supported: write out the entries, or use an alias for the whole value',
        )
      } else if (earlier !== undefined) {
        const { line } = this.#lines.at(earlier)
        this.#add(offset, `'${name.slice(0, 60)}' is here a second time: the first is in line ${line}`)
      } else {
        places.set(name, offset)
        define(data, name, value)
      }
    }
    for (const map of merged.filter(isPlainObject))
      for (const [name, value] of Object.entries(map)) if (!Object.hasOwn(data, name)) define(data, name, value)
    return data
  }

  #alias(alias: AliasNode, depth: number): Built {
    const target = this.#anchors.get(alias.name)
    const built = target && this.#built.get(target)
    if (target === undefined) this.#add(alias.offset, `there is no &${alias.name} above this alias`)
    else if (built === undefined) this.#add(alias.offset, `*${alias.name} is inside its own target, which never ends`)
    if (target === undefined || built === undefined) return NOTHING
    this.#count(built.values, alias.offset)
    if (depth + built.depth > DEEPEST) {
      this.#add(alias.offset, TOO_DEEP)
      throw new TooMuch()
    }
    this.targets.set(alias, target)
    return built
  }

  #count(values: number, offset: number): void {
    this.#values += values
    if (this.#values <= MOST_VALUES) return
    this.#add(offset, TOO_MANY)
    throw new TooMuch()
  }

  #add(offset: number, message: string): void {
    this.faults.push({ offset, message })
  }
}

function define(data: Record<string, unknown>, name: string, value: unknown): void {
  // An assignment would set the prototype.
  if (name === '__proto__')
    Object.defineProperty(data, name, { value, enumerable: true, configurable: true, writable: true })
  else data[name] = value
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
