/** `sluice/koa`: rate limiting for Koa 2 and 3. */
import type { Context } from 'koa'
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import { Guard, type Passage } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { withoutBodyFields } from '../merge-fields.js'
import { rewrittenUrl } from '../request-facts.js'
import { admit, goesAtOnce } from './admit.js'
import { fieldText, setFields } from './node.js'
import { type NodeRequest, type NodeResponse, remoteAddressOf } from './node-messages.js'

/** As much of a context of Koa as is needed. */
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
export type KoaOptions<C extends KoaContextLike = Context> = GuardOptions<C> & {
  /** Answers a denied request in your own way. Status and fields are set; it has to set the body. */
  readonly onDenied?: (context: C, verdict: Verdict) => Awaitable<void>
}

/** Middleware of Koa. */
export type KoaMiddleware<C> = (context: C, next: () => Promise<unknown>) => Promise<void>

/**
 * Limits what comes after it.
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
export function rateLimit<C extends KoaContextLike = Context>(options: KoaOptions<C>): KoaMiddleware<C> {
  const { onDenied } = options ?? {}
  const guard = new Guard<C>(
    options,
    {
      method: ({ method }) => method,
      url: ({ url, originalUrl }) => rewrittenUrl(url, originalUrl),
      remoteAddress: ({ req }) => remoteAddressOf(req.socket),
      field: (context, name) => context.get(name),
    },
    ['onDenied'],
  )
  return async (context, next) => {
    const entered = guard.enter(context)
    const passage = entered instanceof Promise ? await entered : entered
    if (passage === undefined) {
      await next()
      return
    }
    const isOwnAnswer = !passage.allowed && onDenied !== undefined
    setFields(context.res, isOwnAnswer ? withoutBodyFields(passage.headers) : passage.headers, passage.isPlain)
    if (!passage.allowed) {
      context.status = passage.status
      if (onDenied === undefined) context.body = passage.body
      else await onDenied(context, passage.verdict)
      return
    }
    const mayGo = admitted(context, passage)
    if (mayGo !== true && !(await mayGo)) return
    try {
      await next()
    } catch (error) {
      // Koa answers an error with the fields of the error alone.
      if (error instanceof Error && Object.isExtensible(error)) {
        const { headers } = error as { headers?: object }
        Object.assign(error, { headers: { ...headers, ...fieldsNow(context.res, passage) } })
      }
      throw error
    }
  }
}

/** Says whether the request may go, when it is its turn. */
function admitted({ req: { socket }, res }: KoaContextLike, passage: Passage): Awaitable<boolean> {
  if (goesAtOnce(passage)) return true
  return new Promise((resolve) => {
    admit(undefined, passage, { response: res, socket, next: () => resolve(true), gone: () => resolve(false) })
  })
}

/** What the response says by now in the fields of a passage: others may have added to them. */
function fieldsNow(response: NodeResponse, { headers }: Passage): object {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, fieldText(response.getHeader(name))]))
}
