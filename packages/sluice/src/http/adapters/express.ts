/** `sluice/express`: rate limiting for Express 4 and 5, and for other frameworks with Connect middleware. */
import type { Request as ARequest, Response as AResponse } from 'express'
import type { AnyLimiter, AnyPolicy, AnyStore } from '../attributes-option.js'
import type { RequestReader } from '../client-address.js'
import type { RateLimitOptions } from '../guard-options.js'
import type { AnyPolicies } from '../routes-option.js'
import {
  type NodeDenialOptions,
  type NodeMiddleware,
  type NodeOptions,
  type NodeRoutesOption,
  nodeMiddleware,
  nodeReader,
} from './node.js'
import { type NodeRequest, type NodeResponse, rewrittenUrl } from './node-exchange.js'

export { rateLimitOf } from '../rate-limit-of.js'

/** The part of an Express request that is used here. */
export interface ExpressRequest extends NodeRequest {
  /** The whole target, also inside a mounted router. */
  readonly originalUrl?: string
  /** The path at which the current router is mounted. */
  readonly baseUrl?: string
}

/** See {@link NodeOptions}. */
export type ExpressOptions<
  Request extends ExpressRequest = ARequest,
  Response extends NodeResponse = AResponse,
> = NodeOptions<Request, Response>

/**
 * Limits the handlers after it: a whole application, a router or one route.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { tokenBucket } from 'sluice'
 * import { rateLimit } from 'sluice/express'
 *
 * const app = express()
 * app.use(rateLimit({ limit: tokenBucket({ capacity: 100, refill: '100/m' }) }))
 * ```
 */
export function rateLimit<
  Request extends ExpressRequest = ARequest,
  Response extends NodeResponse = AResponse,
  P extends AnyPolicy | undefined = undefined,
  L extends AnyLimiter | undefined = undefined,
  S extends AnyStore | undefined = undefined,
  R = AnyPolicies,
>(
  options: RateLimitOptions<Request, Response, string, P, L, S> &
    NodeDenialOptions<Request, Response> &
    NodeRoutesOption<Request, Response, R>,
): NodeMiddleware<Request, Response> {
  return nodeMiddleware(options as ExpressOptions<Request, Response>, expressReader, 'sluice/express')
}

/** Reads requests of Express, and of Nest on Express or Fastify. */
export const expressReader: RequestReader<ExpressRequest> = {
  ...nodeReader,
  url: ({ baseUrl = '', url = '', originalUrl = url }) => {
    // A mounted router removes its own path from the URL, and leaves a slash if nothing else remains. It leaves a URL with an
    // origin as it is.
    if (!url.startsWith('/') || baseUrl + url.slice(1) === originalUrl) return originalUrl
    return rewrittenUrl(baseUrl + url, originalUrl)
  },
}
