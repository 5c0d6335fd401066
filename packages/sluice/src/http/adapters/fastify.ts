/** `sluice/fastify`: rate limiting for Fastify 4 and 5. */
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Verdict } from '../../policy/index.js'
import { Guard, type Passage } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { mergeFields } from '../merge-fields.js'
import type { RequestReader } from '../request-facts.js'
import { admit } from './admit.js'
import { attempt, attemptAll, FAILED } from './attempt.js'
import { type NodeRequest, type NodeResponse, remoteAddressOf } from './node-messages.js'

/** As much of a request of Fastify as is needed. */
export interface FastifyRequestLike {
  readonly method: string
  readonly originalUrl: string
  readonly headers: NodeRequest['headers']
  readonly socket: NodeRequest['socket']
  readonly routeOptions?: { readonly config?: object }
}

/** As much of a reply of Fastify as is needed. */
export interface FastifyReplyLike {
  readonly raw: NodeResponse
  code(status: number): unknown
  getHeader(name: string): number | string | string[] | undefined
  header(name: string, value: string): unknown
  send(body?: unknown): unknown
}

/** See {@link GuardOptions}. */
export type FastifyOptions<
  Request extends FastifyRequestLike = FastifyRequest,
  Reply extends FastifyReplyLike = FastifyReply,
> = GuardOptions<Request> & {
  /** Answers a denied request in your own way. Status and fields are set; it has to send the reply. */
  readonly onDenied?: (request: Request, reply: Reply, verdict: Verdict) => unknown
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A limit for this route, besides the one for all. */
    rateLimit?: FastifyOptions
  }
}

interface FastifyLike {
  addHook(
    name: 'onRequest',
    // biome-ignore lint/suspicious/noExplicitAny: Fastify's own types are generic in ways that a part of them cannot be
    hook: (request: any, reply: any, done: (error?: Error) => void) => void,
  ): unknown
  // biome-ignore lint/suspicious/noExplicitAny: see above
  addHook(name: 'onRoute', hook: (route: any) => void): unknown
}

/** A plugin, to be registered. */
export type FastifyRateLimit = (app: FastifyLike, options: object, done: (error?: Error) => void) => void

const reader: RequestReader<FastifyRequestLike> = {
  method: ({ method }) => method,
  url: ({ originalUrl }) => originalUrl,
  remoteAddress: ({ socket }) => remoteAddressOf(socket),
  field: ({ headers }, name) => {
    const value = headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  },
}

/**
 * A plugin that limits all routes, and each one besides that says so in its `config.rateLimit`. Without options there are
 * only the limits of routes.
 *
 * @example
 * ```ts
 * import { fastify } from 'fastify'
 * import { tokenBucket } from 'sluice'
 * import { rateLimit } from 'sluice/fastify'
 *
 * const app = fastify()
 * app.register(rateLimit({ limit: tokenBucket({ capacity: 100, refill: '100/m' }) }))
 * const search = { limit: tokenBucket({ capacity: 10, refill: '10/m' }), name: 'search' }
 * app.get('/search', { config: { rateLimit: search } }, () => 'found')
 * ```
 */
export function rateLimit<
  Request extends FastifyRequestLike = FastifyRequest,
  Reply extends FastifyReplyLike = FastifyReply,
>(options?: FastifyOptions<Request, Reply>): FastifyRateLimit {
  const forAll = options === undefined ? undefined : new Limited(options as unknown as LikeOptions)
  const ofRoutes = new WeakMap<object, Limited>()
  const ofRoute = (config: FastifyContextConfig | undefined): Limited | undefined => {
    const own = config?.rateLimit
    if (own === undefined) return undefined
    // Routes may be told the same options, as GET and its HEAD are: then they share the limit.
    const limited = ofRoutes.get(own) ?? new Limited(own as unknown as LikeOptions)
    ofRoutes.set(own, limited)
    return limited
  }
  const plugin: FastifyRateLimit = (app, _options, done) => {
    // So that a mistake in a route's options shows at once, if the plugin is there by then.
    app.addHook('onRoute', ({ config }) => void ofRoute(config))
    app.addHook('onRequest', (request, reply, next) => {
      const own = attempt(() => ofRoute(request.routeOptions?.config), next)
      if (own === FAILED) return
      const [first, then] = forAll === undefined ? [own] : [forAll, own]
      if (first === undefined) next()
      else first.enter(request, reply, next, then)
    })
    done()
  }
  // The hooks are for the application that registers the plugin, and not for the plugin alone.
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'sluice',
    [Symbol.for('plugin-meta')]: { name: 'sluice', fastify: '>=4' },
  })
}

type Next = (error?: Error) => void
type LikeOptions = FastifyOptions<FastifyRequestLike, FastifyReplyLike>

/** A guard, and what it does to replies. */
class Limited {
  readonly #guard: Guard<FastifyRequestLike>
  readonly #onDenied: LikeOptions['onDenied']

  constructor(options: LikeOptions) {
    this.#guard = new Guard(options, reader, ['onDenied'])
    this.#onDenied = options.onDenied
  }

  /** Lets a request go on, to the limit `then` if there is one. */
  enter(request: FastifyRequestLike, reply: FastifyReplyLike, next: Next, then?: Limited, before?: Passage): void {
    const passage = attempt(() => this.#guard.enter(request, then === undefined ? undefined : true), next)
    if (passage === FAILED) return
    if (passage instanceof Promise) {
      passage.then((entered) => this.#proceed(entered, request, reply, next, then, before), next)
    } else this.#proceed(passage, request, reply, next, then, before)
  }

  #proceed(
    passage: Passage | undefined,
    request: FastifyRequestLike,
    reply: FastifyReplyLike,
    next: Next,
    then: Limited | undefined,
    before: Passage | undefined,
  ): void {
    if (passage !== undefined) setFields(reply, passage)
    if (passage !== undefined && !passage.verdict.allowed) {
      before?.cancel()
      reply.code(passage.status)
      if (this.#onDenied === undefined) reply.send(passage.body)
      else attemptAll(() => this.#onDenied?.(request, reply, passage.verdict), next)
      return
    }
    if (then !== undefined) then.enter(request, reply, next, undefined, passage)
    else admit([before, passage], reply.raw, next)
  }
}

function setFields(reply: FastifyReplyLike, { headers }: Passage): void {
  const merged = mergeFields(headers, (name) => reply.getHeader(name)?.toString())
  for (const name in merged) reply.header(name, merged[name])
}
