/** `sluice/hono`: rate limiting for Hono. */
import type { Context, MiddlewareHandler } from 'hono'
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import type { AnyLimiter, AnyPolicy, AnyStore } from '../attributes-option.js'
import type { GuardOptions, RateLimitOptions } from '../guard-options.js'
import { atOnce } from '../mapped.js'
import { targetOf } from '../request-attributes.js'
import { requestGuard } from '../request-guard.js'
import type { AnyPolicies, RoutesOption } from '../routes-option.js'
import { checkFramework } from './check-framework.js'
import { inTurn } from './in-turn.js'
import { remoteAddressOf } from './node-exchange.js'
import { ownDenial, withFields } from './with-fields.js'

export { rateLimitOf } from '../rate-limit-of.js'

/** The part of a Hono context that is used here. */
export interface HonoContextLike {
  readonly req: {
    readonly method: string
    readonly url: string
    /** The path as Hono's router sees it, after `getPath`. */
    readonly path: string
    readonly raw: Request
    header(name: string): string | undefined
  }
  // biome-ignore lint/suspicious/noExplicitAny: the platform decides about its contents
  readonly env: any
  res: Response
  header(name: string, value: string, options: { append: boolean }): void
  // biome-ignore lint/suspicious/noExplicitAny: a status is one of many literal types there
  body(body: string, status: any): Response
}

/** See {@link GuardOptions}. */
export type HonoOptions<C extends HonoContextLike = Context> = GuardOptions<
  C,
  Response | undefined,
  string | undefined
> &
  HonoDenialOptions<C> &
  HonoAddressOption<C> &
  HonoRoutesOption<C>

/** Limits of routes, by method and path. `Policies` are those of the routes, which the compiler finds in a call. */
export type HonoRoutesOption<C extends HonoContextLike, Policies = AnyPolicies> = RoutesOption<
  C,
  Response | undefined,
  string | undefined,
  HonoDenialOptions<C>,
  Policies
>

/** Where a request comes from. */
export interface HonoAddressOption<C extends HonoContextLike> {
  /**
   * Returns the address of the connection: `(c) => getConnInfo(c).remote.address`, with `getConnInfo` from Hono's adapter
   * for your platform. Required without a `key`, except on Node.js, where the address is known.
   */
  readonly address?: (context: C) => string | undefined
}

/** How a denied request is answered. */
export interface HonoDenialOptions<C extends HonoContextLike> {
  /** Answers a denied request in your own way. The fields are added to the response that it returns. */
  readonly onDenied?: (context: C, verdict: Verdict) => Awaitable<Response>
}

/**
 * Limits the handlers after it.
 *
 * @example
 * ```ts
 * import { Hono } from 'hono'
 * import { tokenBucket } from 'sluice'
 * import { rateLimit } from 'sluice/hono'
 *
 * const app = new Hono()
 * app.use(rateLimit({ limit: tokenBucket({ capacity: 100, refill: '100/m' }) }))
 * ```
 */
export function rateLimit<
  C extends HonoContextLike = Context,
  P extends AnyPolicy | undefined = undefined,
  L extends AnyLimiter | undefined = undefined,
  S extends AnyStore | undefined = undefined,
  R = AnyPolicies,
>(
  options: RateLimitOptions<C, Response | undefined, string | undefined, P, L, S> &
    HonoDenialOptions<C> &
    HonoAddressOption<C> &
    HonoRoutesOption<C, R>,
): MiddlewareHandler {
  const { address } = options ?? {}
  const guard = requestGuard<C, Response | undefined>(
    options as HonoOptions<C>,
    {
      method: ({ req }) => req.method,
      url: ({ req }) => routedTarget(targetOf(req.url), req.path),
      remoteAddress: (context) => (address === undefined ? nodeAddress(context) : atOnce('address', address(context))),
      field: ({ req }, name) => req.header(name),
      serverRequest: ({ env, req }) => env?.incoming ?? req.raw,
    },
    ['address', 'onDenied'],
  )
  const limited = async (context: C, next: () => Promise<void>): Promise<Response | undefined> => {
    checkFramework('sluice/hono', context.req?.raw !== undefined)
    const entered = guard.enter(context)
    const passage = entered instanceof Promise ? await entered : entered
    if (passage === undefined) {
      await next()
      return undefined
    }
    if (!passage.allowed) {
      const onDenied = passage.onDenied as HonoDenialOptions<C>['onDenied']
      if (onDenied !== undefined) return ownDenial(await onDenied(context, passage.verdict), passage, context)
      // Hono makes the response, so that it has the fields that other middleware has set.
      return withFields(context.body(passage.body ?? '', passage.status), passage.headers, context)
    }
    const { isPlain } = passage
    if (isPlain) {
      context.header('RateLimit-Policy', passage.policyField, APPEND)
      context.header('RateLimit', passage.quotaField, APPEND)
    }
    const response = await inTurn(passage, context.req.raw, async () => {
      await next()
      return context.res
    })
    const hasFields =
      isPlain &&
      hasItem(response, 'RateLimit', passage.quotaField) &&
      hasItem(response, 'RateLimit-Policy', passage.policyField)
    put(context, hasFields ? response : withFields(response, passage.headers, context))
    return undefined
  }
  return limited as unknown as MiddlewareHandler
}

const APPEND = { append: true }

/**
 * Whether the list in a field contains an item. A response that Hono made has the fields that were set on the context before;
 * a response that the handler made itself has not.
 */
function hasItem({ headers }: Response, name: string, item: string): boolean {
  return `, ${headers.get(name)}, `.includes(`, ${item}, `)
}

/** Replaces the response. The old one is removed first, or Hono would copy its fields to the new one. */
function put(context: HonoContextLike, response: Response): void {
  if (response === context.res) return
  const writable = context as { res: Response | undefined }
  writable.res = undefined
  writable.res = response
}

/** On Node.js, Hono's server passes on the request of Node.js. Elsewhere the address is not known. */
function nodeAddress({ env }: HonoContextLike): string | null | undefined {
  const socket = env?.incoming?.socket
  return socket === undefined ? null : remoteAddressOf(socket)
}

/** The target and, if it differs, the path that Hono routes by: decoded, or as `getPath` returns it. */
function routedTarget(target: string, path: string): string | readonly string[] {
  const hasPath = target.startsWith(path) && (target.length === path.length || target[path.length] === '?')
  return hasPath ? target : [path, target]
}
