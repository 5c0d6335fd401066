/** `sluice/koa`: rate limiting for Koa 2 and 3. */
import type { Context } from 'koa'
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import type { AnyLimiter, AnyPolicy, AnyStore } from '../attributes-option.js'
import type { GuardOptions, RateLimitOptions } from '../guard-options.js'
import type { AnyPassage } from '../joint-passage.js'
import { requestGuard } from '../request-guard.js'
import type { AnyPolicies, RoutesOption } from '../routes-option.js'
import { admitted } from './admit.js'
import { checkFramework } from './check-framework.js'
import {
  fieldText,
  type NodeRequest,
  type NodeResponse,
  remoteAddressOf,
  rewrittenUrl,
  setFields,
} from './node-exchange.js'

export { rateLimitOf } from '../rate-limit-of.js'

/** The part of a Koa context that is used here. */
export interface KoaContextLike {
  readonly method: string
  readonly url: string
  readonly originalUrl: string
  readonly req: NodeRequest
  readonly res: NodeResponse
  status: number
  body: unknown
  get(name: string): string
}

/** See {@link GuardOptions}. */
export type KoaOptions<C extends KoaContextLike = Context> = GuardOptions<C, C['res']> &
  KoaDenialOptions<C> &
  KoaRoutesOption<C>

/** Limits of routes, by method and path. `Policies` are those of the routes, which the compiler finds in a call. */
export type KoaRoutesOption<C extends KoaContextLike, Policies = AnyPolicies> = RoutesOption<
  C,
  C['res'],
  string,
  KoaDenialOptions<C>,
  Policies
>

/** How a denied request is answered. */
export interface KoaDenialOptions<C extends KoaContextLike> {
  /** Answers a denied request in your own way. Status and fields are set; the function sets the body. */
  readonly onDenied?: (context: C, verdict: Verdict) => Awaitable<void>
}

/** Koa middleware. */
export type KoaMiddleware<C> = (context: C, next: () => Promise<unknown>) => Promise<void>

/**
 * Limits the middleware after it.
 *
 * @example
 * ```ts
 * import Koa from 'koa'
 * import { tokenBucket } from 'sluice'
 * import { rateLimit } from 'sluice/koa'
 *
 * const app = new Koa()
 * app.use(rateLimit({ limit: tokenBucket({ capacity: 100, refill: '100/m' }) }))
 * ```
 */
export function rateLimit<
  C extends KoaContextLike = Context,
  P extends AnyPolicy | undefined = undefined,
  L extends AnyLimiter | undefined = undefined,
  S extends AnyStore | undefined = undefined,
  R = AnyPolicies,
>(
  options: RateLimitOptions<C, C['res'], string, P, L, S> & KoaDenialOptions<C> & KoaRoutesOption<C, R>,
): KoaMiddleware<C> {
  const guard = requestGuard<C, C['res']>(
    options as KoaOptions<C>,
    {
      method: ({ method }) => method,
      url: ({ url, originalUrl }) => rewrittenUrl(url, originalUrl),
      remoteAddress: ({ req }) => remoteAddressOf(req.socket),
      field: (context, name) => context.get(name),
      serverRequest: ({ req }) => req,
    },
    ['onDenied'],
  )
  return async (context, next) => {
    checkFramework('sluice/koa', context.res !== undefined && context.req !== undefined)
    const entered = guard.enter(context)
    const passage = entered instanceof Promise ? await entered : entered
    if (passage === undefined) {
      await next()
      return
    }
    setFields(context.res, passage)
    if (!passage.allowed) {
      const onDenied = passage.onDenied as KoaDenialOptions<C>['onDenied']
      context.status = passage.status
      if (onDenied === undefined) context.body = passage.body
      else await onDenied(context, passage.verdict)
      return
    }
    const mayGo = admitted(passage, { request: context.req, response: context.res })
    if (mayGo !== true && !(await mayGo)) return
    try {
      await next()
    } catch (error) {
      // Koa answers an error with the error's own fields and removes all others.
      if (error instanceof Error && Object.isExtensible(error)) {
        const { headers } = error as { headers?: object }
        Object.assign(error, { headers: { ...headers, ...currentFields(context.res, passage) } })
      }
      throw error
    }
  }
}

/** The fields of a passage as the response has them now: others may have added to them. */
function currentFields(response: NodeResponse, { headers }: AnyPassage): object {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, fieldText(response.getHeader(name))]))
}
