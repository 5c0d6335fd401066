/**
 * What the service answers to `POST /v1/inspect`, and what `GET /v1/admin/policy` says about the text of the policy. The page
 * compiles against this file, so it imports types of the library only.
 */
import type { Explanation } from 'sluice'

/** The body of `POST /v1/inspect`: the attributes of a request, or the `id` of a recent one. Takes nothing from any limit. */
export type InspectQuestion =
  | { readonly attributes: Readonly<Record<string, string | number | boolean>>; readonly cost?: number }
  | { readonly recent: string; readonly cost?: number }

/** An attribute of the request that the policy asks nothing about. */
export interface UnusedAttribute {
  readonly attribute: string
  readonly didYouMean?: string
}

/** What was decided about a recent request, when it came. */
export interface RecentDecision {
  readonly atMs: number
  readonly allowed: boolean
  /** The levels that denied it. Empty of a denied request if the store failed with an error. */
  readonly deniedBy: readonly string[]
  /** Was it decided without the store? */
  readonly degraded: boolean
}

/**
 * How every level of the policy applies to a request now. `Infinity` is `null` in JSON. Of a recent request, without the admin
 * token, keys and values are masked, and so are reasons that quote them.
 */
export interface InspectAnswer {
  readonly atMs: number
  readonly policy: string
  readonly allowed: boolean
  /** The levels that deny it, in the order of the policy. Shadow levels are not among them. */
  readonly deniedBy: readonly string[]
  /** Until the same request would be allowed. 0 if it is; absent if never. */
  readonly retryAfterMs?: number
  /** The attributes that were asked about: those of the question, or those of the recent request. */
  readonly attributes: Readonly<Record<string, string>>
  readonly cost: number
  readonly levels: readonly Explanation[]
  readonly unused: readonly UnusedAttribute[]
  /** True if keys and values are masked. */
  readonly isMasked: boolean
  /** Only of a recent request. */
  readonly decided?: RecentDecision
}

/** A problem of the policy's text, or a warning about it. Line and column count from 1. */
export interface PolicyTextProblem {
  readonly kind: 'error' | 'warning'
  readonly line: number
  readonly column: number
  readonly message: string
}

/** A text of a policy, as it is in a file. */
export interface PolicyTextAnswer {
  /** The file's name without its folders. */
  readonly file: string
  readonly text: string
  readonly problems: readonly PolicyTextProblem[]
}

/** What `GET /v1/admin/policy` says beside `name`, `attributes`, `policy` and `warnings`. */
export interface PolicyAnswer {
  /** The text in force, with its warnings. */
  readonly inForce: PolicyTextAnswer
  /** The text that was read last, if it is bad: the text in force stays until it is mended. */
  readonly refused?: PolicyTextAnswer
}
