/** `sluice/fastify`: rate limiting for Fastify 4 and 5. */
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import { Guard, type Passage } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { inheritedOptions } from '../inherited-options.js'
import { lowerCase, mergeFields, withoutBodyFields } from '../merge-fields.js'
import { type RequestReader, rewrittenUrl } from '../request-facts.js'
import { admit, goesAtOnce } from './admit.js'
import { attemptAll, errorOf } from './attempt.js'
import { type FastifyServing, holdUnmet, meet } from './fastify-before-hooks.js'
import { fieldText } from './node.js'
import { type NodeRequest, type NodeResponse, remoteAddressOf } from './node-messages.js'

/** As much of a request of Fastify as is needed. */
export interface FastifyRequestLike {
  readonly method: string
  readonly url: string
  /** Before `rewriteUrl`. */
  readonly originalUrl: string
  readonly headers: NodeRequest['headers']
  readonly socket: NodeRequest['socket']
  readonly routeOptions?: { readonly config?: FastifyContextConfig }
  /** The context of its route. */
  readonly server?: object
}

/** As much of a reply of Fastify as is needed. */
export interface FastifyReplyLike {
  readonly raw: NodeResponse
  readonly sent: boolean
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
    /** A limit for this route, besides the one for all, from which it inherits what it does not say. */
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
  url: ({ url, originalUrl }) => rewrittenUrl(url, originalUrl),
  remoteAddress: ({ socket }) => remoteAddressOf(socket),
  field: ({ headers }, name) => fieldText(headers[name]),
}

/**
 * A plugin that limits all routes, and each one besides that says so in its `config.rateLimit`. Without options there are
 * only the limits of routes. What a route's limit does not say of clients and answers, it inherits from the nearest plugin
 * of its context or of those around it.
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
  const plugin: FastifyRateLimit = (app, _options, done) => {
    if (options !== undefined) {
      forContexts.set(app, options as unknown as LikeOptions)
      holdUnmet(app as unknown as FastifyServing)
    }
    // So that a mistake in a route's options shows at once, if the plugin is there by then.
    app.addHook('onRoute', function (this: object, { config }) {
      ofRoute(config, this)
    })
    app.addHook('onRequest', (request, reply, next) => {
      meet(request.raw)
      let own: Limited | undefined
      try {
        own = onceOfRoute(request)
      } catch (error) {
        next(errorOf(error))
        return
      }
      if (forAll !== undefined) forAll.enter(request, reply, next, own)
      else if (own !== undefined) own.enter(request, reply, next)
      else next()
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

/** What the plugin was told in each context that it is registered in. */
const forContexts = new WeakMap<object, LikeOptions>()

/** The options of the limit for all routes of a context. A context of Fastify has the one around it as its prototype. */
function forContext(context: object | undefined): LikeOptions | undefined {
  for (let each = context ?? null; each !== null; each = Object.getPrototypeOf(each)) {
    const options = forContexts.get(each as object)
    if (options !== undefined) return options
  }
  return undefined
}

/** Limits of routes, by the options that they inherit from, and by their own. */
const ofRoutes = new WeakMap<object, WeakMap<object, Limited>>()
const NOTHING = {}
const met = new WeakSet<object>()

/** The limit of a route, if it has one. Routes that are told the same options, as GET and its HEAD are, share it. */
function ofRoute(config: FastifyContextConfig | undefined, context: object | undefined): Limited | undefined {
  const own = config?.rateLimit as unknown as LikeOptions | undefined
  if (own === undefined) return undefined
  const before = forContext(context)
  const inheriting = ofRoutes.get(before ?? NOTHING) ?? new WeakMap<object, Limited>()
  ofRoutes.set(before ?? NOTHING, inheriting)
  const limited = inheriting.get(own) ?? new Limited(inheritedOptions(own, before))
  inheriting.set(own, limited)
  return limited
}

/** The same for a request, the first time it is asked: the plugin may be registered twice. */
function onceOfRoute(request: FastifyRequestLike): Limited | undefined {
  const config = configOf(request)
  if (config?.rateLimit === undefined || met.has(request)) return undefined
  const own = ofRoute(config, request.server)
  met.add(request)
  return own
}

/** Where requests hold what is known of their route, if that is known. */
let slot: symbol | undefined

/**
 * The config of a request's route. `routeOptions` is made anew each time it is asked for, which takes longer than the
 * decision: so the first time that it has a config, this is looked for in what the request holds.
 */
function configOf(request: FastifyRequestLike): FastifyContextConfig | undefined {
  const held = slot === undefined ? undefined : (request as unknown as Record<symbol, Route | undefined>)[slot]
  if (held !== undefined) return held.config
  const config = request.routeOptions?.config
  if (config !== undefined) slot = slotWhere(request, (holds) => holds.config === config)
  return config
}

interface Route {
  readonly config?: FastifyContextConfig
}

/** Under which symbol of its own something holds an object of that kind. */
function slotWhere(holder: object, isMeant: (held: Readonly<Record<string, unknown>>) => boolean): symbol | undefined {
  return Object.getOwnPropertySymbols(holder).find((symbol) => {
    const held: unknown = Reflect.get(holder, symbol)
    return typeof held === 'object' && held !== null && isMeant(held as Record<string, unknown>)
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
    let passage: string | Awaitable<Passage> | undefined
    try {
      passage = then === undefined ? this.#guard.pass(request) : this.#guard.enter(request, true)
    } catch (error) {
      before?.cancel()
      next(errorOf(error))
      return
    }
    if (typeof passage === 'string') {
      tellQuota(reply, this.#guard.policyField, passage)
      if (before === undefined) next()
      else this.#proceed(undefined, request, reply, next, undefined, before)
    } else if (passage instanceof Promise) {
      passage.then(
        (entered) => this.#proceed(entered, request, reply, next, then, before),
        (error) => {
          before?.cancel()
          next(errorOf(error))
        },
      )
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
    if (passage !== undefined) {
      const isOwnAnswer = !passage.allowed && this.#onDenied !== undefined
      setFields(reply, isOwnAnswer ? withoutBodyFields(passage.headers) : passage.headers)
      if (!passage.allowed) {
        before?.cancel()
        this.#deny(passage, request, reply, next)
        return
      }
    }
    if (then !== undefined) then.enter(request, reply, next, undefined, passage)
    else if (goesAtOnce(before) && goesAtOnce(passage)) next()
    else admit(before, passage, { response: reply.raw, socket: request.socket, next })
  }

  #deny({ status, body, verdict }: Passage, request: FastifyRequestLike, reply: FastifyReplyLike, next: Next): void {
    reply.code(status)
    if (this.#onDenied === undefined) reply.send(body)
    else {
      // As handlers do, it may send, or give what is to be sent.
      attemptAll(
        () => this.#onDenied?.(request, reply, verdict),
        next,
        (given) => given !== undefined && given !== reply && !reply.sent && reply.send(given),
      )
    }
  }
}

/** Where replies hold the fields that Fastify was told, once that is known; false if it cannot be. */
let fieldsSlot: symbol | false | undefined

/**
 * The usual case, with nothing made for it: nobody has told of a quota before. Fastify's own methods look a name up anew each
 * time, which takes longer than the decision: so what the first reply holds is looked at for the field that was set.
 */
function tellQuota(reply: FastifyReplyLike, policy: string, quota: string): void {
  const { raw } = reply
  const held = fieldsSlot
    ? (reply as unknown as Record<symbol, Record<string, unknown> | undefined>)[fieldsSlot]
    : undefined
  if (
    held !== undefined &&
    held.ratelimit === undefined &&
    held['ratelimit-policy'] === undefined &&
    !raw.hasHeader('ratelimit') &&
    !raw.hasHeader('ratelimit-policy')
  ) {
    held['ratelimit-policy'] = policy
    held.ratelimit = quota
    return
  }
  setFields(reply, { 'RateLimit-Policy': policy, RateLimit: quota })
  if (fieldsSlot !== undefined) return
  // Where there was something before, what is held now is more than what was told.
  const isOurs = reply.getHeader('ratelimit') === quota && reply.getHeader('ratelimit-policy') === policy
  if (isOurs) fieldsSlot = slotWhere(reply, (holds) => holds.ratelimit === quota) ?? false
}

function setFields(reply: FastifyReplyLike, headers: Passage['headers']): void {
  const merged = mergeFields(headers, new ReplyFields(reply))
  // Fastify would make them small itself, which takes longer.
  for (const name in merged) reply.header(lowerCase(name), merged[name])
}

/** The fields of a reply that are set already, by Fastify's means or past it. */
class ReplyFields {
  readonly #reply: FastifyReplyLike

  constructor(reply: FastifyReplyLike) {
    this.#reply = reply
  }

  has(name: string): boolean {
    return this.#reply.getHeader(name) !== undefined
  }

  get(name: string): string {
    return this.#reply.getHeader(name)?.toString() ?? ''
  }
}
