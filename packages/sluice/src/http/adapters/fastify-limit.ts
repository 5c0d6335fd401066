import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Verdict } from '../../policy/index.js'
import type { Fields } from '../dialect.js'
import { Guard } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { mergeFields, withoutBodyFields } from '../merge-fields.js'
import { bothAdmissions, type Passage } from '../passage.js'
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
   * this one: if it denies, this limit gets its units back.
   */
  enter(request: FastifyRequestLike, reply: FastifyReplyLike, next: Next, second?: FastifyLimit): void {
    attempt(
      () => this.#guard.enter(request, second !== undefined),
      next,
      (passage) => {
        if (!this.#tell(passage, request, reply, next)) return
        if (second !== undefined) second.#enterAfter(passage, request, reply, next)
        else if (passage === undefined || passage.goesAtOnce) next()
        else admit(passage, { request, response: reply.raw }, next)
      },
    )
  }

  #enterAfter(first: Passage | undefined, request: FastifyRequestLike, reply: FastifyReplyLike, next: Next): void {
    const fail = (error: Error) => {
      first?.cancel()
      next(error)
    }
    attempt(
      () => this.#guard.enter(request),
      fail,
      (passage) => {
        if (this.#tell(passage, request, reply, next))
          admit(bothAdmissions(first, passage), { request, response: reply.raw }, next)
        else first?.cancel()
      },
    )
  }

  /** Sets the fields of a passage and answers a denied request. Returns whether the request goes on. */
  #tell(passage: Passage | undefined, request: FastifyRequestLike, reply: FastifyReplyLike, next: Next): boolean {
    if (passage === undefined) return true
    if (passage.allowed) {
      setFields(reply, passage)
      return true
    }
    const onDenied = this.#onDenied
    setFields(reply, passage, onDenied && withoutBodyFields(passage.headers))
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
    return false
  }
}

/** Sets the fields of a passage beside those that another limiter has set, by Fastify's means or on the response itself. */
function setFields(reply: FastifyReplyLike, passage: Passage, fields?: Readonly<Fields>): void {
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
  const merged = mergeFields(fields ?? passage.headers, (name) => fieldText(reply.getHeader(name)))
  for (const name in merged) reply.header(name, merged[name])
}
