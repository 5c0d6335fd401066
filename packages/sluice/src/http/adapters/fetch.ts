/** `sluice/fetch`: rate limiting for handlers that turn a `Request` into a `Response`: Next.js, Bun, Deno and others. */
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import { mapped } from '../gate.js'
import { Guard, type Passage } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { turn } from '../turn.js'
import { denial, telling, withFields } from './web-response.js'

/** See {@link GuardOptions}. */
export type FetchOptions<Rest extends readonly unknown[] = readonly unknown[]> = GuardOptions<Request> & {
  /**
   * The address that a request came from, which it does not say itself: `(request, info) => info.remoteAddr.hostname` in
   * Deno, `(request, server) => server.requestIP(request)?.address` in Bun. Needed, unless there is a `key`.
   */
  readonly address?: (request: Request, ...rest: Rest) => string | undefined
  /** Answers a denied request in your own way. The fields are added to what it returns. */
  readonly onDenied?: (request: Request, verdict: Verdict) => Awaitable<Response>
}

/** Turns a request into a response; what else it is told depends on who calls it. */
export type FetchHandler<Rest extends readonly unknown[]> = (request: Request, ...rest: Rest) => Awaitable<Response>

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
export function rateLimit<Rest extends readonly unknown[] = readonly unknown[]>(
  options: FetchOptions<Rest>,
): (handler: FetchHandler<Rest>) => FetchHandler<Rest> {
  const { address, onDenied } = options
  // What came with a request is only known while it is entered, and only the address is asked of it.
  let rest: Rest
  const guard = new Guard<Request>(
    options,
    {
      method: ({ method }) => method,
      url: ({ url }) => url,
      ...(address && { remoteAddress: (request: Request) => address(request, ...rest) }),
      field: ({ headers }, name) => headers.get(name),
    },
    ['address', 'onDenied'],
  )
  return (handler) =>
    (request, ...more) => {
      rest = more
      const entered = guard.enter(request)
      if (entered === undefined) return handler(request, ...more)
      const go = (passage: Passage): Awaitable<Response> => {
        if (!passage.verdict.allowed) {
          const answer = onDenied === undefined ? denial(passage) : onDenied(request, passage.verdict)
          return mapped(answer, (response) => withFields(response, passage))
        }
        const finish = (response: Response) => {
          const { settle } = passage
          return withFields(settle === undefined ? response : telling(response, settle), passage)
        }
        if (passage.verdict.delayMs === 0) return mapped(handler(request, ...more), finish)
        return turn(passage.verdict.delayMs, request.signal).then(() => {
          if (!request.signal.aborted) return mapped(handler(request, ...more), finish)
          passage.cancel()
          throw request.signal.reason
        })
      }
      return entered instanceof Promise ? entered.then(go) : go(entered)
    }
}
