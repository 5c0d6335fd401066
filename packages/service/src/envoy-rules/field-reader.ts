import type { NodeFinder } from '../policy-file/node-finder.js'
import { keyText, type MapNode, type SourceNode } from '../policy-file/source-node.js'
import type { Findings } from './check-keys.js'
import { entriesOf, NOT_LOADED } from './rules-text.js'

/** Words for a boolean in YAML 1.1, which envoyproxy/ratelimit reads. */
const TRUE = /^(y|yes|true|on)$/i
const FALSE = /^(n|no|false|off)$/i
const LARGEST = 2 ** 32 - 1

/** Reads the fields of one map, and notes what is wrong with them. */
export class FieldReader {
  readonly map: MapNode
  readonly finder: NodeFinder
  readonly findings: Findings
  readonly #fields = new Map<string, SourceNode>()

  constructor(map: MapNode, finder: NodeFinder, findings: Findings) {
    this.map = map
    this.finder = finder
    this.findings = findings
    for (const entry of entriesOf(map, finder)) {
      const name = keyText(entry)
      if (name !== undefined) this.#fields.set(name, finder.followed(entry.value))
    }
  }

  /** The value; `undefined` if the field is absent or has none. */
  node(name: string): SourceNode | undefined {
    const node = this.#fields.get(name)
    return node?.kind === 'scalar' && node.value === null ? undefined : node
  }

  has(name: string): boolean {
    return this.node(name) !== undefined
  }

  /** A text as it is written: `value: 007` is '007'. Empty if it is absent. */
  text(name: string): string {
    const node = this.node(name)
    if (node === undefined) return ''
    if (node.kind === 'scalar') return node.plain ?? String(node.value)
    this.wrong(name, 'text')
    return ''
  }

  flag(name: string): boolean {
    const node = this.node(name)
    if (node === undefined) return false
    const word = node.kind === 'scalar' ? node.plain : undefined
    // A file in JSON has no plain texts.
    if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value
    if (word !== undefined && (TRUE.test(word) || FALSE.test(word))) return TRUE.test(word)
    this.wrong(name, 'true or false')
    return false
  }

  /** A whole number of 32 bits; `undefined` if it is absent or wrong. */
  whole(name: string): number | undefined {
    const node = this.node(name)
    if (node === undefined) return undefined
    const written =
      node.kind === 'scalar' ? (node.plain ?? (typeof node.value === 'number' ? `${node.value}` : '')) : ''
    const digits = written.replace(/(?<=\d)_(?=\d)/g, '')
    const number = /^(0|[1-9]\d{0,9})$/.test(digits) ? Number(digits) : Number.NaN
    if (number <= LARGEST) return number
    this.wrong(name, 'a whole number from 0 to 4294967295', isQuotedNumber(node))
    return undefined
  }

  /** Texts: one, or a list of them. */
  texts(name: string): readonly string[] {
    const node = this.node(name)
    const items =
      node === undefined ? [] : node.kind === 'list' ? node.items.map((item) => this.finder.followed(item)) : [node]
    const texts = items.flatMap((item) => (item.kind === 'scalar' ? [item.plain ?? String(item.value)] : []))
    if (texts.length < items.length || (node !== undefined && texts.length === 0) || texts.includes(''))
      this.wrong(name, 'a text or a list of texts')
    return texts
  }

  /** The maps of a list. Items of other kinds are refused where the keys are checked. */
  maps(name: string): readonly MapNode[] {
    const node = this.node(name)
    if (node === undefined) return []
    if (node.kind === 'list')
      return node.items.flatMap((item) => {
        const inside = this.finder.followed(item)
        return inside.kind === 'map' ? [inside] : []
      })
    this.wrong(name, 'a list')
    return []
  }

  /** Notes a value of a wrong type. */
  wrong(name: string, wanted: string, isQuoted = false): void {
    const node = this.node(name) ?? this.map
    const got = node.kind === 'scalar' ? `'${`${node.plain ?? node.value}`.slice(0, 60)}'` : `a ${node.kind}`
    const shown = isQuoted ? `the text ${got}: write it without quotes` : got
    this.fault(`${NOT_LOADED}${name} must be ${wanted}, got ${shown}`, name)
  }

  /** Notes a problem with a field, or with the map as a whole. */
  fault(message: string, name?: string): void {
    const node = (name === undefined ? undefined : this.#fields.get(name)) ?? this.map
    this.findings.faults.push({ offset: node.offset, message })
  }

  warn(message: string): void {
    this.findings.warnings.push({ offset: this.map.offset, message })
  }
}

/** A number in quotes is a text, as envoyproxy/ratelimit reads it. */
function isQuotedNumber(node: SourceNode): boolean {
  return (
    node.kind === 'scalar' && typeof node.value === 'string' && node.plain === undefined && /^\d+$/.test(node.value)
  )
}
