import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidValue } from '../../errors.js'
import type { Verdict } from '../../policy/index.js'
import type { RequestReader } from '../client-address.js'
import { enterAll } from '../enter-all.js'
import { Guard } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import type { AnyPassage } from '../joint-passage.js'
import type { LimitCounts } from '../limit-names.js'
import { mergeFields } from '../merge-fields.js'
import type { RefusedOptions } from '../refused-options.js'
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
  readonly routeOptions?: { readonly url?: string | undefined; readonly config?: { readonly rateLimit?: unknown } }
  readonly raw?: object
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
> = GuardOptions<Request, Reply> & FastifyOwnOptions<Request, Reply>

/** How a denied request is answered, and when the limit decides. */
export interface FastifyOwnOptions<Request extends FastifyRequestLike, Reply extends FastifyReplyLike> {
  /** Answers a denied request in your own way. Status and fields are set; the function sends the reply or returns its body. */
  readonly onDenied?: (request: Request, reply: Reply, verdict: Verdict) => unknown
  /**
   * When the limit decides: `'onRequest'` (default), before the body is read, or `'preHandler'`, after every other
   * `preHandler` of the request, when `request.user` and the body are there.
   */
  readonly hook?: FastifyHook
}

/** The options of a route. See {@link FastifyOptions}. */
export type FastifyRouteOptions<
  Request extends FastifyRequestLike = FastifyRequest,
  Reply extends FastifyReplyLike = FastifyReply,
> = FastifyOptions<Request, Reply> & FastifyInsteadOptions

/** What the limit of a route does with the limit for all routes. */
export interface FastifyInsteadOptions {
  /** True: this limit replaces the limit for all routes. Default false: a request has to pass both. */
  readonly instead?: boolean
}

const HOOKS = ['onRequest', 'preHandler'] as const

/** A hook in which a limit can decide. */
export type FastifyHook = (typeof HOOKS)[number]

/** The type of `config.rateLimit`. `routeLimit(options)` makes one and checks more of it. */
export type FastifyRouteConfig = RefusedOptions & FastifyRouteOptions

/** The options of a limit, for the parts of requests and replies that are used here. */
export type FastifyLimitOptions = FastifyRouteOptions<FastifyRequestLike, FastifyReplyLike>

/** Continues with the next hook of Fastify, or with an error. */
export type Next = (error?: Error) => void

const reader: RequestReader<FastifyRequestLike> = {
  method: ({ method }) => method,
  url: ({ url, originalUrl }) => rewrittenUrl(url, originalUrl),
  remoteAddress: ({ socket }) => remoteAddressOf(socket),
  field: ({ headers }, name) => fieldText(headers[name]),
  serverRequest: ({ raw }) => raw,
}

/** A limit for all routes or for one route. */
export class FastifyLimit {
  readonly #guard: Guard<FastifyRequestLike, FastifyReplyLike>
  readonly hook: FastifyHook

  /** `more` are the names of options that only routes have. */
  constructor(options: FastifyLimitOptions, more: readonly string[] = []) {
    this.#guard = new Guard(options, reader, ['onDenied', 'hook', ...more])
    const { hook = 'onRequest' } = options
    if (!HOOKS.includes(hook)) throw invalidValue('hook', "'onRequest' or 'preHandler'", hook)
    this.hook = hook
  }

  /** See {@link Guard.counts}. */
  get counts(): LimitCounts | undefined {
    return this.#guard.counts
  }

  /**
   * Calls `next` when an allowed request may go on, or with an error. Answers a denied request. `second` is a limit behind
   * this one: if it denies, this one gets its units back.
   */
  enter(request: FastifyRequestLike, reply: FastifyReplyLike, next: Next, second?: FastifyLimit): void {
    attempt(
      () => (second === undefined ? this.#guard.enter(request) : enterAll([this.#guard, second.#guard], request)),
      next,
      (passage) => {
        if (passage !== undefined) setFields(reply, passage)
        if (passage?.allowed === false) deny(passage, request, reply, next)
        else if (passage === undefined || passage.goesAtOnce) next()
        else admit(passage, { request, response: reply.raw, reply }, next)
      },
    )
  }
}

function deny(passage: AnyPassage, request: FastifyRequestLike, reply: FastifyReplyLike, next: Next): void {
  const onDenied = passage.onDenied as FastifyLimitOptions['onDenied']
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

/** Sets the fields of a passage beside those that another limiter has set, by Fastify's means or on the response itself. */
function setFields(reply: FastifyReplyLike, passage: AnyPassage): void {
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
