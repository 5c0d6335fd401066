/**
 * The contents of a file with their positions. YAML and JSON are both read into these nodes, so that later steps handle
 * one form.
 */

interface Positioned {
  /** The index of the node's first character in the text. */
  readonly offset: number
  readonly anchor?: string | undefined
}

export interface ScalarNode extends Positioned {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  /** The text as written, if it has no quotes. */
  readonly plain?: string | undefined
}

export interface ListNode extends Positioned {
  readonly kind: 'list'
  readonly items: readonly SourceNode[]
}

export interface MapEntry {
  readonly key: SourceNode
  readonly value: SourceNode
}

export interface MapNode extends Positioned {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface AliasNode extends Positioned {
  readonly kind: 'alias'
  readonly name: string
}

export type SourceNode = ScalarNode | ListNode | MapNode | AliasNode

/** A problem at an offset of the text. */
export interface Fault {
  readonly offset: number
  readonly message: string
}

/** The result of reading a text. If there are faults, do not use the node. */
export interface ReadText {
  readonly node: SourceNode | undefined
  readonly faults: readonly Fault[]
}

/** How deep lists and maps may be nested. A policy needs nine levels. */
export const DEEPEST = 64

/** How many values a file may have. The target of an alias counts each time the alias is used. */
export const MOST_VALUES = 2_000_000

export const TOO_DEEP = `lists and maps are nested more than ${DEEPEST} deep`
export const TOO_MANY = `there are more than ${MOST_VALUES.toLocaleString('en')} values up to here, which is too many for one policy`

/** The name of an entry as text: that of `7: x` is '7'. `undefined` if the key is a list, a map or an alias. */
export function keyText({ key }: MapEntry): string | undefined {
  return key.kind === 'scalar' ? (key.plain ?? String(key.value)) : undefined
}
