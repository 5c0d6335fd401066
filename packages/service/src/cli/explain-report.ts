import type { Foretold } from './foretell.js'

/** Everything that `explain` found out. */
export interface ExplainReport extends Foretold {
  readonly file: string
  readonly policy: string
  readonly cost: number
  /** Attributes of the request that the policy never asks about. */
  readonly unused: readonly { readonly attribute: string; readonly didYouMean?: string }[]
  /** Where what is left was looked up: `memory`, or the address of a Redis. */
  readonly store: string
}
