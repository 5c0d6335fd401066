/** A policy as data: in code, in a file, over a wire. */
import type { Limit } from '../limits/index.js'
import type { OnFailure } from '../stores/index.js'

/** What an attribute may be equal to. Numbers and booleans are compared by their text. */
export type ConditionValue = string | number | boolean

/**
 * What is asked of one attribute: a value, one of a list, `null` for absent, or one of the words below. Some attributes
 * have a sense of their own: of `path`, a value is a pattern; of `ip`, an address or block; `method` has no case.
 */
export type Condition =
  | ConditionValue
  | null
  | readonly (ConditionValue | null)[]
  /** There at all, or not. */
  | { readonly present: boolean }
  /** Anything but this, absent included. */
  | { readonly not: ConditionValue | null | readonly (ConditionValue | null)[] }
  /** A path, in an attribute of another name: `'/v1/charges/:id'`, `'/v1/**'`. */
  | { readonly path: string | readonly string[] }
  /** An address in a block, in an attribute of another name: `'10.0.0.0/8'`. */
  | { readonly cidr: string | readonly string[] }

/** What is asked of a request: all of it must be so. */
export interface When {
  readonly [attribute: string]: Condition
}

/** Another limit for some of a level's keys. The first that matches counts. */
export interface Override {
  readonly when: When
  /** One limit, or several that all must allow. */
  readonly limit: Limit | readonly Limit[]
}

/** A named limit of a policy, with what it matches and how its key is made. */
export interface Level {
  /** Letters, digits, `.`, `_` and `-`, at most 64. What keeps a level's states apart, and what a denial is told by. */
  readonly name: string
  /** Which requests it is about. Default: all that have its key. */
  readonly when?: When
  /** The attributes that make the key. Default none: one state for all. A request without one of them is not matched. */
  readonly key?: string | readonly string[]
  /**
   * One limit, or several that all must allow: 10 a second and 250 a day. States are known by their place in the list,
   * so append to it.
   */
  readonly limit: Limit | readonly Limit[]
  /** Other limits for some. With many of them it decides as fast as with none. */
  readonly overrides?: readonly Override[]
  /** What a request takes here: a number, or the attribute that says it. Default: the cost of the call. */
  readonly cost?: number | string
  /** Decides and counts, but never denies: to see what a limit would do. Default false. */
  readonly shadow?: boolean
  /** What a request is told when the store does not answer. Default: what the store says. */
  readonly onFailure?: OnFailure
}

/** A policy as it is written in a file. */
export interface PolicyData {
  /** The version of this form. There is one: 1. */
  readonly version?: 1
  /** What keeps the states of two policies on one store apart. */
  readonly name?: string
  /** By how many bits an IPv6 address is known where `ip` is part of a key: from 1 to 128. Default 56. */
  readonly ipv6Prefix?: number
  /** A request must pass every level that matches it. */
  readonly levels: readonly Level[]
}
