/**
 * What a file says and where, before anybody asks what it means. YAML and JSON are both read into this, so that
 * everything after has one form to know.
 */

interface Placed {
  /** Where it begins in the text. */
  readonly offset: number
  readonly anchor?: string | undefined
}

export interface ScalarNode extends Placed {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  /** As it was written, if that was without quotes. */
  readonly plain?: string | undefined
}

export interface ListNode extends Placed {
  readonly kind: 'list'
  readonly items: readonly SourceNode[]
}

export interface MapEntry {
  readonly key: SourceNode
  readonly value: SourceNode
}

export interface MapNode extends Placed {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface AliasNode extends Placed {
  readonly kind: 'alias'
  readonly name: string
}

export type SourceNode = ScalarNode | ListNode | MapNode | AliasNode

/** Something wrong at a place of the text. */
export interface Fault {
  readonly offset: number
  readonly message: string
}

/** What was read of a text. With faults of form there may be no node, or one that is not to be trusted. */
export interface ReadText {
  readonly node: SourceNode | undefined
  readonly faults: readonly Fault[]
}

/** How deep lists and maps may lie in each other. A policy needs nine. */
export const DEEPEST = 64

/** How many values a file may have, those that aliases stand for counted each time. */
export const MOST_VALUES = 2_000_000

export const TOO_DEEP = `lists and maps lie in each other more than ${DEEPEST} deep`
export const TOO_MANY = `there are more than ${MOST_VALUES.toLocaleString('en')} values up to here, which is too many for one policy`

/** The name of an entry as text: `7: x` is called 7. Nothing, if the key is a list, a map or an alias. */
export function keyText({ key }: MapEntry): string | undefined {
  return key.kind === 'scalar' ? (key.plain ?? String(key.value)) : undefined
}
