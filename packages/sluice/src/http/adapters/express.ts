/** `sluice/express`: rate limiting for Express 4 and 5, and for whatever takes middleware of Connect. */
import type { Request as ARequest, Response as AResponse } from 'express'
import { type RequestReader, rewrittenUrl } from '../request-facts.js'
import {
  type NodeMiddleware,
  type NodeOptions,
  type NodeRequest,
  type NodeResponse,
  nodeMiddleware,
  reader,
} from './node.js'

/** As much of a request of Express as is needed. */
export interface ExpressRequest extends NodeRequest {
  /** The whole target, also inside a router that is mounted somewhere. */
  readonly originalUrl?: string
  /** Where the router is mounted that the request is in. */
  readonly baseUrl?: string
}

/** See {@link NodeOptions}. */
export type ExpressOptions<
  Request extends ExpressRequest = ARequest,
  Response extends NodeResponse = AResponse,
> = NodeOptions<Request, Response>

/**
 * Limits what comes after it: a whole application, a router or one route.
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
export function rateLimit<Request extends ExpressRequest = ARequest, Response extends NodeResponse = AResponse>(
  options: ExpressOptions<Request, Response>,
): NodeMiddleware<Request, Response> {
  return nodeMiddleware(options, expressReader)
}

/** How requests of Express are read, and those of Nest, also on Fastify. */
export const expressReader: RequestReader<ExpressRequest> = {
  ...reader,
  url: ({ baseUrl = '', url = '', originalUrl = url }) => {
    // A router that is mounted somewhere has taken its own path off the URL, unless that begins with an origin. If nothing
    // was left, it has put a slash there.
    if (!url.startsWith('/') || baseUrl + url.slice(1) === originalUrl) return originalUrl
    return rewrittenUrl(baseUrl + url, originalUrl)
  },
}
