/** `sluice/fetch`: rate limiting for handlers that turn a `Request` into a `Response`: Next.js, Bun, Deno and others. */
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import type { AnyLimiter, AnyPolicy, AnyStore } from '../attributes-option.js'
import type { GuardOptions, RateLimitOptions } from '../guard-options.js'
import type { AnyPassage } from '../joint-passage.js'
import { atOnce, mapped } from '../mapped.js'
import { targetOf } from '../request-attributes.js'
import { requestGuard } from '../request-guard.js'
import type { AnyPolicies, RoutesOption } from '../routes-option.js'
import { inTurn } from './in-turn.js'
import { ownDenial, withFields } from './with-fields.js'

export { rateLimitOf } from '../rate-limit-of.js'

/** See {@link GuardOptions}. */
export type FetchOptions<Rest extends readonly unknown[] = readonly unknown[]> = GuardOptions<
  Request,
  Response | undefined,
  string | undefined
> &
  FetchDenialOptions &
  FetchAddressOption<Rest> &
  FetchRoutesOption

/** Limits of routes, by method and path. `Policies` are those of the routes, which the compiler finds in a call. */
export type FetchRoutesOption<Policies = AnyPolicies> = RoutesOption<
  Request,
  Response | undefined,
  string | undefined,
  FetchDenialOptions,
  Policies
>

/** Where a request comes from. */
export interface FetchAddressOption<Rest extends readonly unknown[]> {
  /**
   * Returns the address of the connection, which a `Request` does not contain: `(request, info) => info.remoteAddr.hostname`
   * in Deno, `(request, server) => server.requestIP(request)?.address` in Bun. Required without a `key`.
   */
  readonly address?: (request: Request, ...rest: Rest) => string | null | undefined
}

/** How a denied request is answered. */
export interface FetchDenialOptions {
  /** Answers a denied request in your own way. The fields are added to the response that it returns. */
  readonly onDenied?: (request: Request, verdict: Verdict) => Awaitable<Response>
}

/** The further arguments of a handler, for `address`. A property, because an asynchronous option may ask for them later. */
const REST = Symbol('sluice.rest')

type WithRest = Request & { [REST]?: readonly unknown[] }

/** Turns a request into a response. The platform decides about further arguments. */
export type FetchHandler<Req extends Request, Rest extends readonly unknown[]> = (
  request: Req,
  ...rest: Rest
) => Awaitable<Response>

/** Puts a limit in front of a handler. */
export type FetchLimit<Rest extends readonly unknown[]> = <Req extends Request, More extends Rest>(
  handler: FetchHandler<Req, More>,
) => FetchHandler<Req, More>

/**
 * Makes a function that puts a limit in front of a handler. Handlers that share the function share the limit.
 *
 * @example
 * ```ts
 * import { tokenBucket } from 'sluice'
 * import { rateLimit } from 'sluice/fetch'
 *
 * const limited = rateLimit({
 *   limit: tokenBucket({ capacity: 100, refill: '100/m' }),
 *   key: (request) => request.headers.get('x-api-key') ?? 'none',
 * })
 * export const GET = limited(() => new Response('hello'))
 * ```
 */
export function rateLimit<
  // biome-ignore lint/suspicious/noExplicitAny: the platform decides about further arguments
  Rest extends readonly unknown[] = any[],
  P extends AnyPolicy | undefined = undefined,
  L extends AnyLimiter | undefined = undefined,
  S extends AnyStore | undefined = undefined,
  R = AnyPolicies,
>(
  options: RateLimitOptions<Request, Response | undefined, string | undefined, P, L, S> &
    FetchDenialOptions &
    FetchAddressOption<Rest> &
    FetchRoutesOption<R>,
): FetchLimit<Rest> {
  const { address } = options ?? {}
  const guard = requestGuard<Request, Response | undefined>(
    options as FetchOptions<Rest>,
    {
      method: ({ method }) => method,
      url: ({ url }) => targetOf(url),
      ...(address && {
        remoteAddress: (request: Request) =>
          atOnce('address', address(request, ...((request as WithRest)[REST] as Rest))) ?? undefined,
      }),
      field: ({ headers }, name) => headers.get(name),
    },
    ['address', 'onDenied'],
  )
  const respond = (passage: AnyPassage, request: Request, handle: () => Awaitable<Response>): Awaitable<Response> => {
    const { allowed, status, headers, body } = passage
    if (allowed) return mapped(inTurn(passage, request, handle), (response) => withFields(response, headers, request))
    const onDenied = passage.onDenied as FetchDenialOptions['onDenied']
    if (onDenied === undefined) return new Response(body, { status, headers })
    return mapped(onDenied(request, passage.verdict), (response) => ownDenial(response, passage, request))
  }
  return (handler) =>
    (request, ...more) => {
      if (address !== undefined) (request as WithRest)[REST] = more
      const handle = () => handler(request, ...more)
      return mapped(guard.enter(request), (passage) =>
        passage === undefined ? handle() : respond(passage, request, handle),
      )
    }
}
