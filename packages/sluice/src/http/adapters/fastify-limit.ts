import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Verdict } from '../../policy/index.js'
import { Guard } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { mergeFields } from '../merge-fields.js'
import type { Passage } from '../passage.js'
import type { RequestReader } from '../request-attributes.js'
import { admit } from './admit.js'
import {
  attempt,
  type FieldValue,
  fieldText,
  type NodeRequest,
  type NodeResponse,
  remoteAddressOf,
  rewrittenUrl,
} from './node-exchange.js'

/** The part of a Fastify request that is used here. */
export interface FastifyRequestLike {
  readonly method: string
  readonly url: string
  /** Before `rewriteUrl`. */
  readonly originalUrl: string
  readonly headers: NodeRequest['headers']
  readonly socket: NodeRequest['socket']
  readonly routeOptions?: { readonly config?: { readonly rateLimit?: unknown } }
  /** The context of the request's route. */
  readonly server?: object
}

/** The part of a Fastify reply that is used here. */
export interface FastifyReplyLike {
  readonly raw: NodeResponse
  readonly sent: boolean
  code(status: number): unknown
  getHeader(name: string): FieldValue
  header(name: string, value: string): unknown
  send(body?: unknown): unknown
}

/** See {@link GuardOptions}. */
export type FastifyOptions<
  Request extends FastifyRequestLike = FastifyRequest,
  Reply extends FastifyReplyLike = FastifyReply,
> = GuardOptions<Request> & {
  /** Answers a denied request in your own way. Status and fields are set; the function sends the reply or returns its body. */
  readonly onDenied?: (request: Request, reply: Reply, verdict: Verdict) => unknown
}

/** The options of a limit, for the parts of requests and replies that are used here. */
export type FastifyLimitOptions = FastifyOptions<FastifyRequestLike, FastifyReplyLike>

/** Continues with the next hook of Fastify, or with an error. */
export type Next = (error?: Error) => void

const reader: RequestReader<FastifyRequestLike> = {
  method: ({ method }) => method,
  url: ({ url, originalUrl }) => rewrittenUrl(url, originalUrl),
  remoteAddress: ({ socket }) => remoteAddressOf(socket),
  field: ({ headers }, name) => fieldText(headers[name]),
}

/** A limit for all routes or for one route. */
export class FastifyLimit {
  readonly #guard: Guard<FastifyRequestLike>
  readonly #onDenied: FastifyLimitOptions['onDenied']

  constructor(options: FastifyLimitOptions) {
    this.#guard = new Guard(options, reader, ['onDenied'])
    this.#onDenied = options.onDenied
  }

  /**
   * Calls `next` when an allowed request may go on, or with an error. Answers a denied request. `second` is a limit behind
   * this one. `first` is the passage through a limit before it, which gets its units back if this limit denies.
   */
  enter(
    request: FastifyRequestLike,
    reply: FastifyReplyLike,
    next: Next,
    second?: FastifyLimit,
    first?: Passage,
  ): void {
    const fail = (error: Error) => {
      first?.cancel()
      next(error)
    }
    attempt(
      () => this.#guard.enter(request, second !== undefined),
      fail,
      (passage) => {
        if (passage !== undefined) setFields(reply, passage)
        if (passage?.allowed === false) {
          first?.cancel()
          this.#deny(passage, request, reply, next)
        } else if (second !== undefined) second.enter(request, reply, next, undefined, passage)
        else if (first === undefined && (passage === undefined || passage.goesAtOnce)) next()
        else {
          const passages = [first, passage].filter((each) => each !== undefined)
          admit(passages, { request, response: reply.raw }, next)
        }
      },
    )
  }

  #deny(passage: Passage, request: FastifyRequestLike, reply: FastifyReplyLike, next: Next): void {
    const onDenied = this.#onDenied
    reply.code(passage.status)
    if (onDenied === undefined) reply.send(passage.body)
    else {
      // As a handler of Fastify, it sends the reply or returns the body.
      attempt(
        () => onDenied(request, reply, passage.verdict),
        next,
        (body) => body !== undefined && body !== reply && !reply.sent && reply.send(body),
      )
    }
  }
}

/** Sets the fields of a passage beside those that another limiter has set, by Fastify's means or on the response itself. */
function setFields(reply: FastifyReplyLike, passage: Passage): void {
  // Names in lower case, because Fastify would convert them.
  if (
    passage.isPlain &&
    reply.getHeader('ratelimit') === undefined &&
    reply.getHeader('ratelimit-policy') === undefined
  ) {
    reply.header('ratelimit-policy', passage.policyField)
    reply.header('ratelimit', passage.quotaField)
    return
  }
  const merged = mergeFields(passage.headers, (name) => fieldText(reply.getHeader(name)))
  for (const name in merged) reply.header(name, merged[name])
}
