/** The types of options that depend on the attributes of a policy. */
import type { AsyncLimiter, Limiter } from '../limiter/index.js'
import type { AsyncPolicy, AttributeValue, PathValue, Policy } from '../policy/index.js'
import type { AsyncStore, SyncStore } from '../stores/index.js'
import type { Later } from './mapped.js'

/** A policy on any store. */
export type AnyPolicy = Policy<string, string> | AsyncPolicy<string, string>

/** A limiter on any store. */
export type AnyLimiter = Limiter | AsyncLimiter

/** A store of any kind. */
export type AnyStore = SyncStore | AsyncStore

/** The attributes that a policy asks about: any string if the compiler does not know its levels. */
export type AttributeOf<P extends AnyPolicy> = P['attributes'][number]

/** The attributes of a request that every adapter knows. */
type KnownAttribute = 'method' | 'path' | 'ip'

/**
 * The attributes that the application adds: all that the policy asks about, except those that are known already. Texts in a
 * list, as from a repeated header field, are joined.
 */
type AddedAttributes<Attribute extends string> = string extends Attribute
  ? object
  : { readonly [A in Exclude<Attribute, KnownAttribute>]: AttributeValue | readonly string[] } & {
      readonly [A in KnownAttribute]?: PathValue
    }

/** The option `attributes`. It may be left out if the policy asks only about attributes that are known already. */
export type AttributesOption<Request, Attribute extends string> = string extends Attribute
  ? OptionalAttributes<Request, Attribute>
  : [Exclude<Attribute, KnownAttribute>] extends [never]
    ? OptionalAttributes<Request, Attribute>
    : RequiredAttributes<Request, Attribute>

interface RequiredAttributes<Request, Attribute extends string> {
  /**
   * Returns the attributes that the policy asks about. `method`, `path` and `ip` are known already and may be replaced. Every
   * other attribute must be there, with `null` if the request has no such attribute.
   */
  readonly attributes: (request: Request) => Later<AddedAttributes<Attribute>>
}

interface OptionalAttributes<Request, Attribute extends string> {
  /** See {@link RequiredAttributes.attributes}. */
  readonly attributes?: (request: Request) => Later<AddedAttributes<Attribute>>
}

/** The real cost of a request: a number, or the attributes that levels take their costs from. */
export type SettledCost<Attribute extends string> = number | { readonly [A in Attribute]?: number }
