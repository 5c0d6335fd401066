/**
 * Options of other libraries, and of other adapters, for the places where TypeScript accepts every name: `config.rateLimit` of a route in Fastify, and
 * what the factory of Nest's `forRootAsync` returns. The compiler refuses these names, and its error tells the right one.
 * A name that is not among these is refused when the application starts.
 */

/** A wrong option. The error shows the type: `Type 'number' is not assignable to type 'Write<"limit">'`. */
interface Write<Option extends string> {
  readonly write: Option
}

/** The names that the compiler refuses. */
export interface RefusedOptions {
  readonly routes?: Write<'config.rateLimit' | '@RateLimit'>
  readonly max?: Write<'limit'>
  readonly points?: Write<'limit'>
  readonly ttl?: Write<'limit'>
  readonly throttlers?: Write<'limit'>
  readonly windowMs?: Write<'limit'>
  readonly timeWindow?: Write<'limit'>
  readonly keyGenerator?: Write<'key'>
  readonly getTracker?: Write<'key'>
  readonly groupId?: Write<'policy'>
  readonly ipv6Subnet?: Write<'ipv6Prefix'>
  readonly allowList?: Write<'skip'>
  readonly skipIf?: Write<'skip'>
  readonly handler?: Write<'onDenied'>
  readonly message?: Write<'onDenied'>
  readonly errorMessage?: Write<'onDenied'>
  readonly errorResponseBuilder?: Write<'onDenied'>
  readonly statusCode?: Write<'status'>
  readonly onExceeded?: Write<'onDecision'>
  readonly onExceeding?: Write<'onDecision'>
  readonly ban?: Write<'blockFor'>
  readonly onBanReach?: Write<'blockFor'>
  readonly blockDuration?: Write<'blockFor'>
  readonly continueExceeding?: Write<'blockFor'>
  readonly exponentialBackoff?: Write<'blockFor'>
  readonly redis?: Write<'store'>
  readonly cache?: Write<'store'>
  readonly storage?: Write<'store'>
  readonly nameSpace?: Write<'name'>
  readonly skipOnError?: Write<'onFailure'>
  readonly addHeaders?: Write<'dialect'>
  readonly addHeadersOnExceeding?: Write<'dialect'>
  readonly setHeaders?: Write<'dialect'>
  readonly enableDraftSpec?: Write<'dialect'>
  readonly trustProxy?: Write<'trustedProxies'>
}
