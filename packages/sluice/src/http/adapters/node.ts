/** `sluice/node`: rate limiting for `node:http`, `node:http2` and whatever takes their requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { invalidType } from '../../errors.js'
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import { reasonOf, warn } from '../../stores/warn.js'
import type { Fields } from '../dialects.js'
import { Guard, type Passage } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { mergeFields, withoutBodyFields } from '../merge-fields.js'
import type { RequestReader } from '../request-facts.js'
import { admit, goesAtOnce } from './admit.js'
import { attemptAll, errorOf } from './attempt.js'
import { type NodeRequest, type NodeResponse, remoteAddressOf } from './node-messages.js'

export type { NodeRequest, NodeResponse }

/** See {@link GuardOptions}. */
export type NodeOptions<
  Request extends NodeRequest = IncomingMessage,
  Response extends NodeResponse = ServerResponse,
> = GuardOptions<Request> & {
  /** Answers a denied request in your own way. Status and fields are set; it has to send the body and end. */
  readonly onDenied?: (request: Request, response: Response, verdict: Verdict) => Awaitable<void>
}

/** Calls `next` for a request that may go, now or when it is its turn; answers one that may not. */
export type NodeGuard<Request, Response> = (request: Request, response: Response, next: () => void) => void

/**
 * Limits requests in front of a handler. Where the store is in memory all of it happens at once. A request that cannot be
 * decided on, because an option is a function that throws, is answered with 500 and goes no further.
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
>(options: NodeOptions<Request, Response>): NodeGuard<Request, Response> {
  const limited = nodeMiddleware(options, reader)
  return (request, response, next) => {
    if (typeof next !== 'function') throw invalidType('the third argument', 'a function that goes on', next)
    limited(request, response, (error?: unknown) => {
      if (error === undefined) next()
      else fail(response, error)
    })
  }
}

/** Nobody is there to be told of the error, and a handler that is called in spite of it would be one without a limit. */
function fail(response: NodeResponse, error: unknown): void {
  warn(`a request was answered with 500: ${reasonOf(error)}`, 'SLUICE_REQUEST')
  if (!response.headersSent) response.statusCode = 500
  response.end()
}

/** What a request of Node.js says of itself. */
export const reader: RequestReader<NodeRequest> = {
  method: ({ method }) => method ?? '',
  url: ({ url }) => url ?? '',
  remoteAddress: ({ socket }) => remoteAddressOf(socket),
  field: ({ headers }, name) => fieldText(headers[name]),
}

/** Middleware of Connect: `next` is called for a request that may go, or with an error. */
export type NodeMiddleware<Request, Response> = (
  request: Request,
  response: Response,
  next: (error?: unknown) => void,
) => void

/** The same for a framework on top of it, whose requests are read in another way, and which has a use for errors. */
export function nodeMiddleware<Request extends NodeRequest, Response extends NodeResponse>(
  options: NodeOptions<Request, Response>,
  requests: RequestReader<Request>,
): NodeMiddleware<Request, Response> {
  const guard = new Guard<Request>(options, requests, ['onDenied'])
  const { onDenied } = options
  const proceed = (passage: Passage, request: Request, response: Response, next: (error?: unknown) => void): void => {
    if (passage.allowed) {
      setFields(response, passage.headers, passage.isPlain)
      if (goesAtOnce(passage)) next()
      else admit(undefined, passage, { response, socket: request.socket, next })
      return
    }
    // Somebody has answered already, and called `next` all the same.
    if (response.headersSent) return
    setFields(response, onDenied === undefined ? passage.headers : withoutBodyFields(passage.headers))
    response.statusCode = passage.status
    if (onDenied === undefined) response.end(passage.body)
    else attemptAll(() => onDenied(request, response, passage.verdict), next)
  }
  return (request, response, next) => {
    let passage: string | Awaitable<Passage> | undefined
    try {
      passage = guard.pass(request)
    } catch (error) {
      next(errorOf(error))
      return
    }
    if (typeof passage === 'string') {
      appendQuota(response, guard.policyField, passage)
      next()
    } else if (passage === undefined) next()
    else if (passage instanceof Promise)
      passage.then(
        (entered) => proceed(entered, request, response, next),
        (error) => next(errorOf(error)),
      )
    else proceed(passage, request, response, next)
  }
}

/** Sets the fields of a passage beside those that another limiter has set. */
export function setFields(response: NodeResponse, fields: Readonly<Fields>, isPlain = false): void {
  if (isPlain) {
    appendQuota(response, fields['RateLimit-Policy'], fields.RateLimit)
    return
  }
  try {
    const merged = mergeFields(fields, new FieldsOf(response))
    for (const name in merged) response.setHeader(name, merged[name])
  } catch (error) {
    rethrowUnlessSent(response, error)
  }
}

/**
 * The same for the two fields that are plain lists: nobody has to look at what is there, which takes longer than the rest,
 * for Express makes every look at a response slow.
 */
function appendQuota(response: NodeResponse, policy: string, quota: string): void {
  try {
    response.appendHeader('RateLimit-Policy', policy)
    response.appendHeader('RateLimit', quota)
  } catch (error) {
    rethrowUnlessSent(response, error)
  }
}

/** Somebody may have answered already, and called `next` all the same. */
function rethrowUnlessSent({ headersSent }: NodeResponse, error: unknown): void {
  if (!headersSent) throw error
}

/** The fields of a response that are set already. */
export class FieldsOf {
  readonly #response: NodeResponse

  constructor(response: NodeResponse) {
    this.#response = response
  }

  has(name: string): boolean {
    return this.#response.hasHeader(name)
  }

  get(name: string): string {
    return fieldText(this.#response.getHeader(name)) ?? ''
  }
}

/** A field's value, of one line or several. */
export function fieldText(value: number | string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value?.toString()
}
