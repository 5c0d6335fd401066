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

/** What a file's nodes come to. */
export interface BuiltData {
  /** Plain data, shared where aliases share it. `undefined` if aliases make more of it than anybody could read. */
  readonly data: unknown
  readonly faults: readonly Fault[]
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<AliasNode, SourceNode>
}

/** Data, and how much and how deep it is with all that aliases stand for. */
interface Built {
  readonly data: unknown
  readonly values: number
  readonly depth: number
}

const NOTHING: Built = { data: null, values: 1, depth: 0 }

/** Thrown to leave when there is no end in sight. */
class TooMuch extends Error {}

/** Makes data of nodes, and finds keys that come twice and aliases that come to nothing, or to far too much. */
export function buildData(root: SourceNode, lines: TextLines): BuiltData {
  const builder = new Builder(lines)
  const { faults, targets } = builder
  try {
    return { data: builder.build(root, 0).data, faults, targets }
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    return { data: undefined, faults, targets }
  }
}

/**
 * An alias becomes the very object that it stands for, so it takes no memory; but whoever reads the data meets it again
 * each time, and that is what is counted.
 */
class Builder {
  readonly faults: Fault[] = []
  readonly targets = new Map<AliasNode, SourceNode>()
  readonly #anchors = new Map<string, SourceNode>()
  readonly #built = new Map<SourceNode, Built>()
  readonly #lines: TextLines
  #values = 0

  constructor(lines: TextLines) {
    this.#lines = lines
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
    for (const entry of entries) {
      const { offset } = entry.key
      const name = keyText(entry)
      const value = part(entry.value)
      const earlier = name === undefined ? undefined : places.get(name)
      if (name === undefined) this.#add(offset, 'a key must be text')
      else if (name === '' && entry.key.kind === 'scalar' && entry.key.plain === '') {
        this.#add(offset, "a key is missing before ':'")
      } else if (name === '<<') {
        this.#add(
          offset,
          'merge keys (<<) are not supported: write the entries out, or make an alias of the whole value',
        )
      } else if (earlier !== undefined) {
        const { line } = this.#lines.at(earlier)
        this.#add(offset, `'${name.slice(0, 60)}' is here a second time: the first is in line ${line}`)
      } else {
        places.set(name, offset)
        // Assigning it would set the prototype.
        if (name === '__proto__')
          Object.defineProperty(data, name, { value, enumerable: true, configurable: true, writable: true })
        else data[name] = value
      }
    }
    return data
  }

  #alias(alias: AliasNode, depth: number): Built {
    const target = this.#anchors.get(alias.name)
    const built = target && this.#built.get(target)
    if (target === undefined) this.#add(alias.offset, `there is no &${alias.name} above for this alias to stand for`)
    else if (built === undefined) this.#add(alias.offset, `*${alias.name} is inside of what it stands for, without end`)
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
