/** `sluice/hono`: rate limiting for Hono. */
import type { Context } from 'hono'
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import { unknownAddress } from '../gate.js'
import { Guard } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { turn } from '../turn.js'
import { denial, telling, withFields } from './web-response.js'

/** As much of a context of Hono as is needed. */
export interface HonoContextLike {
  readonly req: {
    readonly method: string
    readonly url: string
    readonly raw: Request
    header(name: string): string | undefined
  }
  // biome-ignore lint/suspicious/noExplicitAny: whatever the platform puts there
  readonly env: any
  res: Response
}

/** See {@link GuardOptions}. */
export type HonoOptions<C extends HonoContextLike = Context> = GuardOptions<C> & {
  /**
   * The address that a request came from: `(c) => getConnInfo(c).remote.address`, with `getConnInfo` from Hono's adapter
   * for your platform. Needed where there is no `key`, but on Node.js, where it is known.
   */
  readonly address?: (context: C) => string | undefined
  /** Answers a denied request in your own way. The fields are added to what it returns. */
  readonly onDenied?: (context: C, verdict: Verdict) => Awaitable<Response>
}

/** Middleware of Hono. */
export type HonoMiddleware<C> = (context: C, next: () => Promise<void>) => Promise<Response | undefined>

/**
 * Limits what comes after it.
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
export function rateLimit<C extends HonoContextLike = Context>(options: HonoOptions<C>): HonoMiddleware<C> {
  const { address, onDenied } = options
  const guard = new Guard<C>(
    options,
    {
      method: ({ req }) => req.method,
      url: ({ req }) => req.url,
      remoteAddress: (context) => (address === undefined ? nodeAddress(context) : address(context)),
      field: ({ req }, name) => req.header(name),
    },
    ['address', 'onDenied'],
  )
  return async (context, next) => {
    const entered = guard.enter(context)
    if (entered === undefined) {
      await next()
      return undefined
    }
    const passage = entered instanceof Promise ? await entered : entered
    const { verdict, settle } = passage
    if (!verdict.allowed) {
      return withFields(onDenied === undefined ? denial(passage) : await onDenied(context, verdict), passage)
    }
    if (verdict.delayMs > 0) {
      const { signal } = context.req.raw
      await turn(verdict.delayMs, signal)
      if (signal.aborted) {
        passage.cancel()
        throw signal.reason
      }
    }
    await next()
    if (settle !== undefined) context.res = telling(context.res, settle)
    const response = withFields(context.res, passage)
    if (response !== context.res) context.res = response
    return undefined
  }
}

/** On Node.js, Hono's server hands on the request that it was given. */
function nodeAddress({ env }: HonoContextLike): string | undefined {
  const socket = env?.incoming?.socket
  if (socket !== undefined) return socket.remoteAddress
  return unknownAddress()
}
