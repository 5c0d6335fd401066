/** `sluice/hono`: rate limiting for Hono. */
import type { Context, MiddlewareHandler } from 'hono'
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import type { Fields } from '../dialects.js'
import { unknownAddress } from '../gate.js'
import { Guard } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { targetOf } from '../request-facts.js'
import { turn } from '../turn.js'
import { remoteAddressOf } from './node-messages.js'
import { ownDenial, telling, withFields } from './web-response.js'

/** As much of a context of Hono as is needed. */
export interface HonoContextLike {
  readonly req: {
    readonly method: string
    readonly url: string
    /** As its router sees it: see `getPath`. */
    readonly path: string
    readonly raw: Request
    header(name: string): string | undefined
  }
  // biome-ignore lint/suspicious/noExplicitAny: whatever the platform puts there
  readonly env: any
  res: Response
  header(name: string, value: string, options: { append: boolean }): void
  // biome-ignore lint/suspicious/noExplicitAny: a status is one of many literal types there
  body(body: string, status: any): Response
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
export function rateLimit<C extends HonoContextLike = Context>(options: HonoOptions<C>): MiddlewareHandler {
  const { address, onDenied } = options ?? {}
  const guard = new Guard<C>(
    options,
    {
      method: ({ req }) => req.method,
      url: ({ req }) => routedTarget(targetOf(req.url), req.path),
      remoteAddress: (context) => (address === undefined ? nodeAddress(context) : address(context)),
      field: ({ req }, name) => req.header(name),
    },
    ['address', 'onDenied'],
  )
  const limited = async (context: C, next: () => Promise<void>): Promise<Response | undefined> => {
    const entered = guard.pass(context)
    if (entered === undefined) {
      await next()
      return undefined
    }
    if (typeof entered === 'string') {
      const quota = { 'RateLimit-Policy': guard.policyField, RateLimit: entered }
      prepare(context, quota)
      await next()
      if (!isTold(context.res, quota)) put(context, withFields(context.res, quota, context))
      return undefined
    }
    const passage = entered instanceof Promise ? await entered : entered
    const { allowed, delayMs, settle, headers, isPlain } = passage
    if (!allowed) {
      if (onDenied !== undefined) return ownDenial(await onDenied(context, passage.verdict), passage, context)
      // Made by Hono, so that it has what others have set.
      return withFields(context.body(passage.body ?? '', passage.status), headers, context)
    }
    const { raw } = context.req
    if (delayMs > 0) {
      await turn(delayMs, raw.signal)
      if (raw.signal.aborted) {
        passage.cancel()
        throw raw.signal.reason
      }
    }
    if (isPlain) prepare(context, headers)
    try {
      await next()
    } catch (error) {
      settle?.({ status: 500, length: 0, completed: false })
      throw error
    }
    const isThere = isPlain && isTold(context.res, headers)
    const told = settle === undefined ? context.res : telling(context.res, raw, settle)
    put(context, isThere ? told : withFields(told, headers, context))
    return undefined
  }
  return limited as unknown as MiddlewareHandler
}

const APPEND = { append: true }

function prepare(context: HonoContextLike, fields: Readonly<Fields>): void {
  for (const name in fields) context.header(name, fields[name], APPEND)
}

/** What Hono makes has the fields that were prepared. What a handler has made itself has not. */
function isTold(response: Response, fields: Readonly<Fields>): boolean {
  return has(response, 'RateLimit', fields.RateLimit) && has(response, 'RateLimit-Policy', fields['RateLimit-Policy'])
}

/** Are these items, whole ones, in the list that a field is? */
function has({ headers }: Response, name: string, items: string): boolean {
  return `, ${headers.get(name)}, `.includes(`, ${items}, `)
}

/** Without the old one there is nothing that Hono would copy fields from. */
function put(context: HonoContextLike, response: Response): void {
  if (response === context.res) return
  const writable = context as { res: Response | undefined }
  writable.res = undefined
  writable.res = response
}

/** On Node.js, Hono's server hands on the request that it was given. */
function nodeAddress({ env }: HonoContextLike): string | undefined {
  const socket = env?.incoming?.socket
  if (socket !== undefined) return remoteAddressOf(socket)
  return unknownAddress()
}

/** The target, and the path that Hono routes by if that is another: decoded, or what `getPath` makes of it. */
function routedTarget(target: string, path: string): string | readonly string[] {
  const hasPath = target.startsWith(path) && (target.length === path.length || target[path.length] === '?')
  return hasPath ? target : [path, target]
}
