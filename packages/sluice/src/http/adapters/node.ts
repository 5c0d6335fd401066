/** `sluice/node`: rate limiting for `node:http`, `node:http2` and everything that passes on their requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { invalidType, reasonOf, warn } from '../../errors.js'
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import type { AnyLimiter, AnyPolicy, AnyStore } from '../attributes-option.js'
import type { RequestReader } from '../client-address.js'
import type { GuardOptions, RateLimitOptions } from '../guard-options.js'
import type { AnyPassage } from '../joint-passage.js'
import { requestGuard } from '../request-guard.js'
import type { AnyPolicies, RoutesOption } from '../routes-option.js'
import { admit } from './admit.js'
import { checkFramework, isOfNode } from './check-framework.js'
import { attempt, fieldText, type NodeRequest, type NodeResponse, remoteAddressOf, setFields } from './node-exchange.js'

export { rateLimitOf } from '../rate-limit-of.js'

export type { NodeRequest, NodeResponse } from './node-exchange.js'

/** See {@link GuardOptions}. */
export type NodeOptions<
  Request extends NodeRequest = IncomingMessage,
  Response extends NodeResponse = ServerResponse,
> = GuardOptions<Request, Response> & NodeDenialOptions<Request, Response> & NodeRoutesOption<Request, Response>

/** Limits of routes, by method and path. `Policies` are those of the routes, which the compiler finds in a call. */
export type NodeRoutesOption<
  Request extends NodeRequest,
  Response extends NodeResponse,
  Policies = AnyPolicies,
> = RoutesOption<Request, Response, string, NodeDenialOptions<Request, Response>, Policies>

/** How a denied request is answered. */
export interface NodeDenialOptions<Request extends NodeRequest, Response extends NodeResponse> {
  /** Answers a denied request in your own way. Status and fields are set; the function writes the body and ends it. */
  readonly onDenied?: (request: Request, response: Response, verdict: Verdict) => Awaitable<void>
}

/** Calls `next` for an allowed request, now or when it is its turn, or with an error. Answers a denied request. */
export type NodeMiddleware<Request, Response> = (
  request: Request,
  response: Response,
  next: (error?: unknown) => void,
) => void

/**
 * Limits requests in front of a handler. On a memory store, `next` is called before the function returns. A request that
 * cannot be decided on, because a function among the options throws, is answered with 500: `next` never gets an error here.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { tokenBucket } from 'sluice'
 * import { rateLimit } from 'sluice/node'
 *
 * const limited = rateLimit({ limit: tokenBucket({ capacity: 100, refill: '100/m' }) })
 * const server = createServer((req, res) => limited(req, res, () => res.end('hello')))
 * ```
 */
export function rateLimit<
  Request extends NodeRequest = IncomingMessage,
  Response extends NodeResponse = ServerResponse,
  P extends AnyPolicy | undefined = undefined,
  L extends AnyLimiter | undefined = undefined,
  S extends AnyStore | undefined = undefined,
  R = AnyPolicies,
>(
  options: RateLimitOptions<Request, Response, string, P, L, S> &
    NodeDenialOptions<Request, Response> &
    NodeRoutesOption<Request, Response, R>,
): NodeMiddleware<Request, Response> {
  const limited = nodeMiddleware(options as NodeOptions<Request, Response>, nodeReader, 'sluice/node')
  return (request, response, next) => {
    if (typeof next !== 'function')
      throw invalidType('the third argument', 'a function that is called for an allowed request', next)
    limited(request, response, (error?: unknown) => {
      if (error === undefined) next()
      else fail(response, error)
    })
  }
}

/** `node:http` has no place for errors. The handler must not run, because the request was not limited. */
function fail(response: NodeResponse, error: unknown): void {
  // What another framework passes cannot be answered.
  if (typeof response?.end !== 'function') throw error
  warn(`a request was answered with 500: ${reasonOf(error)}`, 'SLUICE_REQUEST')
  if (!response.headersSent) response.statusCode = 500
  response.end()
}

/** Reads requests of Node.js. */
export const nodeReader: RequestReader<NodeRequest> = {
  method: ({ method }) => method ?? '',
  url: ({ url }) => url ?? '',
  remoteAddress: ({ socket }) => remoteAddressOf(socket),
  field: ({ headers }, name) => fieldText(headers[name]),
}

/** Makes Connect middleware, for frameworks that read requests in their own way and handle errors. `own` is its module. */
export function nodeMiddleware<Request extends NodeRequest, Response extends NodeResponse>(
  options: NodeOptions<Request, Response>,
  reader: RequestReader<Request>,
  own: string,
): NodeMiddleware<Request, Response> {
  let isChecked = false
  const guard = requestGuard<Request, Response>(options, reader, ['onDenied'])
  const deny = (passage: AnyPassage, request: Request, response: Response, next: (error: unknown) => void): void => {
    // A handler may have answered already and called `next` all the same.
    if (response.headersSent) return
    response.statusCode = passage.status
    setFields(response, passage)
    const onDenied = passage.onDenied as NodeDenialOptions<Request, Response>['onDenied']
    if (onDenied === undefined) response.end(passage.body)
    else attempt(() => onDenied(request, response, passage.verdict), next)
  }
  return (request, response, next) => {
    // Koa passes no third argument, so an error has to be thrown.
    if (typeof next !== 'function') checkFramework(own, isOfNode(request, response))
    attempt(
      () => {
        // Once, because Express makes every property of a response slow to read.
        if (!isChecked) checkFramework(own, isOfNode(request, response))
        isChecked = true
        return guard.enter(request)
      },
      next,
      (passage) => {
        if (passage?.allowed === false) {
          deny(passage, request, response, next)
          return
        }
        if (passage !== undefined) setFields(response, passage)
        if (passage === undefined || passage.goesAtOnce) next()
        else admit(passage, { request, response }, next)
      },
    )
  }
}
