/** `sluice/node`: rate limiting for `node:http`, `node:http2` and whatever takes their requests. */
import type { Verdict } from '../../policy/index.js'
import type { Fields } from '../dialects.js'
import { Guard, type Passage } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { mergeFields } from '../merge-fields.js'
import type { RequestReader } from '../request-facts.js'
import { afterTurn } from './after-turn.js'
import { attempt, FAILED } from './attempt.js'
import type { NodeRequest, NodeResponse } from './node-messages.js'
import { whenOver } from './response-outcome.js'

export type { NodeRequest, NodeResponse }

/** See {@link GuardOptions}. */
export type NodeOptions<
  Request extends NodeRequest = NodeRequest,
  Response extends NodeResponse = NodeResponse,
> = GuardOptions<Request> & {
  /** Answers a denied request in your own way. Status and fields are set; it has to send the body and end. */
  readonly onDenied?: (request: Request, response: Response, verdict: Verdict) => void
}

/** Calls `next` for a request that may go, now or when it is its turn; answers one that may not. */
export type NodeMiddleware<Request, Response> = (
  request: Request,
  response: Response,
  next: (error?: unknown) => void,
) => void

/**
 * Limits requests in front of a handler. Where the store is in memory all of it happens at once.
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
export function rateLimit<Request extends NodeRequest = NodeRequest, Response extends NodeResponse = NodeResponse>(
  options: NodeOptions<Request, Response>,
): NodeMiddleware<Request, Response> {
  return nodeMiddleware(options, reader)
}

/** What a request of Node.js says of itself. */
export const reader: RequestReader<NodeRequest> = {
  method: ({ method }) => method ?? '',
  url: ({ url }) => url ?? '',
  remoteAddress: ({ socket }) => socket.remoteAddress,
  field: ({ headers }, name) => fieldText(headers[name]),
}

/** The same for a framework on top of it, whose requests are read in another way. */
export function nodeMiddleware<Request extends NodeRequest, Response extends NodeResponse>(
  options: NodeOptions<Request, Response>,
  requests: RequestReader<Request>,
): NodeMiddleware<Request, Response> {
  const guard = new Guard<Request>(options, requests, ['onDenied'])
  const { onDenied } = options
  const proceed = (passage: Passage, request: Request, response: Response, next: (error?: unknown) => void): void => {
    setFields(response, passage.headers)
    if (passage.verdict.allowed) {
      if (passage.settle !== undefined) whenOver(response, passage.settle)
      afterTurn([passage], response, next)
    } else {
      response.statusCode = passage.status
      if (onDenied === undefined) response.end(passage.body)
      else attempt(() => onDenied(request, response, passage.verdict), next)
    }
  }
  return (request, response, next) => {
    const passage = attempt(() => guard.enter(request), next)
    if (passage === FAILED) return
    if (passage === undefined) next()
    else if (passage instanceof Promise) passage.then((entered) => proceed(entered, request, response, next), next)
    else proceed(passage, request, response, next)
  }
}

/** Sets the fields of a passage beside those that another limiter has set. */
export function setFields(response: NodeResponse, fields: Readonly<Fields>): void {
  if (response.headersSent) return
  const merged = mergeFields(fields, (name) => fieldText(response.getHeader(name)))
  for (const name in merged) response.setHeader(name, merged[name])
}

function fieldText(value: number | string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value?.toString()
}
