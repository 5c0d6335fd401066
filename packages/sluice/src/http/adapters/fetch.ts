/** `sluice/fetch`: rate limiting for handlers that turn a `Request` into a `Response`: Next.js, Bun, Deno and others. */
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import { mapped } from '../gate.js'
import { Guard, type Passage } from '../guard.js'
import { atOnce, type GuardOptions } from '../guard-options.js'
import { targetOf } from '../request-facts.js'
import { turn } from '../turn.js'
import { denial, ownDenial, telling, withFields } from './web-response.js'

/** See {@link GuardOptions}. */
export type FetchOptions<Rest extends readonly unknown[] = readonly unknown[]> = GuardOptions<Request> & {
  /**
   * The address that a request came from, which it does not say itself: `(request, info) => info.remoteAddr.hostname` in
   * Deno, `(request, server) => server.requestIP(request)?.address` in Bun. Needed, unless there is a `key`.
   */
  readonly address?: (request: Request, ...rest: Rest) => string | null | undefined
  /** Answers a denied request in your own way. The fields are added to what it returns. */
  readonly onDenied?: (request: Request, verdict: Verdict) => Awaitable<Response>
}

/** Turns a request into a response; what else it is told depends on who calls it. */
export type FetchHandler<Req extends Request, Rest extends readonly unknown[]> = (
  request: Req,
  ...rest: Rest
) => Awaitable<Response>

/** Makes a limited handler of a handler. */
export type FetchLimit<Rest extends readonly unknown[]> = <Req extends Request, More extends Rest>(
  handler: FetchHandler<Req, More>,
) => FetchHandler<Req, More>

/**
 * Makes limited handlers of handlers.
 *
 * @example
 * ```ts
 * import { tokenBucket } from 'sluice'
 * import { rateLimit } from 'sluice/fetch'
 *
 * const limited = rateLimit({
 *   limit: tokenBucket({ capacity: 100, refill: '100/m' }),
 *   key: (request) => request.headers.get('x-api-key') ?? 'nobody',
 * })
 * export const GET = limited(() => new Response('hello'))
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: whatever comes with a request
export function rateLimit<Rest extends readonly unknown[] = any[]>(options: FetchOptions<Rest>): FetchLimit<Rest> {
  const { address, onDenied } = options ?? {}
  // What came with a request is only known while it is entered, and only the address is asked of it.
  let rest: Rest
  const guard = new Guard<Request>(
    options,
    {
      method: ({ method }) => method,
      url: ({ url }) => targetOf(url),
      ...(address && {
        remoteAddress: (request: Request) => atOnce('address', address(request, ...rest)) ?? undefined,
      }),
      field: ({ headers }, name) => headers.get(name),
    },
    ['address', 'onDenied'],
  )
  const goOn = async (passage: Passage, request: Request, handle: () => Awaitable<Response>): Promise<Response> => {
    const { delayMs, settle, headers } = passage
    if (delayMs > 0) {
      await turn(delayMs, request.signal)
      if (request.signal.aborted) {
        passage.cancel()
        throw request.signal.reason
      }
    }
    try {
      const response = await handle()
      return withFields(settle === undefined ? response : telling(response, request, settle), headers, request)
    } catch (error) {
      settle?.({ status: 500, length: 0, completed: false })
      throw error
    }
  }
  return (handler) =>
    (request, ...more) => {
      rest = more
      const entered = guard.enter(request)
      if (entered === undefined) return handler(request, ...more)
      const go = (passage: Passage): Awaitable<Response> => {
        const { allowed, delayMs, settle, headers } = passage
        if (!allowed) {
          if (onDenied === undefined) return denial(passage)
          return mapped(onDenied(request, passage.verdict), (response) => ownDenial(response, passage, request))
        }
        const handle = () => handler(request, ...more)
        if (delayMs > 0 || settle !== undefined) return goOn(passage, request, handle)
        return mapped(handle(), (response) => withFields(response, headers, request))
      }
      return entered instanceof Promise ? entered.then(go) : go(entered)
    }
}
