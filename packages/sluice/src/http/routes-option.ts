/** The types of limits of routes, in adapters that do not know the routes of the application. */
import type { AnyPolicy, AttributeOf } from './attributes-option.js'
import type { GuardOptions, PolicyOptions } from './guard-options.js'

/**
 * The option `routes`. The compiler finds the `Policies` of the routes in the call, and so knows the attributes that each of
 * them asks about. `Denial` is how the adapter answers a denied request.
 */
export interface RoutesOption<Request, Response, Address extends string | undefined, Denial, Policies = AnyPolicies> {
  /**
   * Limits of routes, by method and path: `'POST /login'`, or `'/v1/**'` for all methods and everything below. Such a limit
   * adds to the limit before all, from which it inherits options. With `instead: true` it replaces that limit and those of
   * wider routes. `false` frees a route of them.
   */
  readonly routes?: {
    readonly [Route in keyof Policies]:
      | ({ readonly policy?: Policies[Route] } & RuleOptions<Request, Response, Address, Policies[Route]> &
          Denial &
          InsteadOption)
      | false
  }
}

/** The policies of routes, if the compiler does not see the call. */
export type AnyPolicies = Readonly<Record<string, AnyPolicy | undefined>>

/** A limit, a limiter or the policy `P`, with the options that belong to it. */
type RuleOptions<Request, Response, Address extends string | undefined, P> = [P] extends [AnyPolicy]
  ? string extends AttributeOf<P>
    ? GuardOptions<Request, Response, Address>
    : PolicyOptions<Request, Response, Address, P>
  : GuardOptions<Request, Response, Address>

interface InsteadOption {
  /** True: this limit replaces the limit before all and those of wider routes. Default false: a request has to pass all. */
  readonly instead?: boolean
}
