/** A policy as plain data, as code or a file has it. */
import type { BlockFor, Limit } from '../limits/index.js'
import type { OnFailure } from '../stores/index.js'

/** A value to compare an attribute with. Numbers and booleans are compared as text. */
export type ConditionValue = string | number | boolean

/**
 * A condition on one attribute: a value, a list of values, `null` for an absent attribute, or one of the objects below.
 * A value of `path` is a pattern. A value of `ip` is an address or CIDR range. A value of `method` ignores case.
 */
export type Condition =
  | ConditionValue
  | null
  | readonly (ConditionValue | null)[]
  /** The attribute is present, or absent. */
  | { readonly present: boolean }
  /** The attribute is anything else, or absent. */
  | { readonly not: ConditionValue | null | readonly (ConditionValue | null)[] }
  /** Path patterns for an attribute of another name: `'/v1/charges/:id'`, `'/v1/**'`. */
  | { readonly path: string | readonly string[] }
  /** Addresses or CIDR ranges for an attribute of another name: `'10.0.0.0/8'`. */
  | { readonly cidr: string | readonly string[] }

/** Conditions by attribute. All of them must hold. */
export interface When {
  readonly [attribute: string]: Condition
}

/** Other limits for some requests of a level. The first override that matches applies. */
export interface Override {
  readonly when: When
  /** One limit, or several that must all allow. */
  readonly limit: Limit | readonly Limit[]
}

/** A named limit of a policy, with the requests that it applies to and the attributes that make its key. */
export interface Level {
  /** Letters, digits, `.`, `_` and `-`, at most 64. Names the level's states in the store, and the level in `deniedBy`. */
  readonly name: string
  /** The requests that the level applies to. Default: all that have its key. */
  readonly when?: When
  /**
   * The attributes that make the key: a list, or one as a text such as `'merchant'`. The level ignores requests that lack
   * one. Default: none, one state for all.
   */
  readonly key?: string | readonly string[]
  /**
   * One limit, or several that must all allow: 10 a second and 250 a day. A limit's position in the list names its
   * states, so add new limits at the end.
   */
  readonly limit: Limit | readonly Limit[]
  /** Other limits for some requests. Many overrides are as fast as none. */
  readonly overrides?: readonly Override[]
  /** The cost of a request in this level: a number, or the attribute that has it. Default: the cost of the call. */
  readonly cost?: number | string
  /** Evaluated and charged like any level, but its denial does not deny the request. Default false. */
  readonly shadow?: boolean
  /** The answer when the store fails. Default: the store's `onFailure`. */
  readonly onFailure?: OnFailure
  /**
   * How long this level denies a key everything once the key exceeds one of its limits: `'15m'`, or
   * `{ first: '1m', factor: 2, most: '1d', forget: '1d' }` to block longer each time. Default: not at all.
   */
  readonly blockFor?: BlockFor
}

/** A policy as plain data. */
export interface PolicyData {
  /** The version of this format. There is one: 1. */
  readonly version?: 1
  /** Keeps the states of two policies on one store apart. */
  readonly name?: string
  /** How many leading bits of an IPv6 address are part of a key with `ip`: from 1 to 128. Default 56. */
  readonly ipv6Prefix?: number
  /** A request must pass every level that matches it. */
  readonly levels: readonly Level[]
}
