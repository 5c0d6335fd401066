/** `sluice/fastify`: rate limiting for Fastify 4 and 5. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { inheritedOptions } from '../inherited-options.js'
import {
  FastifyLimit,
  type FastifyLimitOptions,
  type FastifyOptions,
  type FastifyReplyLike,
  type FastifyRequestLike,
} from './fastify-limit.js'
import { type FastifyServing, holdEarlyAnswers, reachedHooks } from './hold-early-answers.js'
import { attempt } from './node-exchange.js'

export type { FastifyOptions, FastifyReplyLike, FastifyRequestLike }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A limit for this route, in addition to the limit for all routes, from which it inherits options. */
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

/** A Fastify plugin, to be registered. */
export type FastifyRateLimit = (app: FastifyLike, options: object, done: (error?: Error) => void) => void

/**
 * Makes a plugin that limits all routes, and in addition every route that has its own `config.rateLimit`. Without options, only
 * the limits of routes apply. A route's limit inherits options about clients and answers from the nearest plugin: that of its
 * own context, or of the contexts around it.
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
  const given = options as FastifyLimitOptions | undefined
  const forAll = given === undefined ? undefined : new FastifyLimit(given)
  const inherited: Inherited = { options: given, limits: new WeakMap() }
  const plugin: FastifyRateLimit = (app, _options, done) => {
    if (given !== undefined) {
      Object.assign(app, { [INHERITED]: inherited })
      holdEarlyAnswers(app as unknown as FastifyServing)
    }
    // A mistake in a route's options shows when the route is added, if the plugin is loaded by then.
    app.addHook('onRoute', function (this: object, { config }) {
      if (config?.rateLimit !== undefined) routeLimit(config.rateLimit, this)
    })
    app.addHook('onRequest', (request, reply, next) => {
      reachedHooks(request.raw)
      attempt(
        () => ownLimit(request),
        next,
        (ofRoute) => {
          if (forAll !== undefined) forAll.enter(request, reply, next, ofRoute)
          else if (ofRoute !== undefined) ofRoute.enter(request, reply, next)
          else next()
        },
      )
    })
    done()
  }
  // The hooks are for the application that registers the plugin, not only for routes inside the plugin.
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'sluice',
    [Symbol.for('plugin-meta')]: { name: 'sluice', fastify: '>=4' },
  })
}

/** Requests whose route's limit is decided already: the plugin may be registered twice. */
const decided = new WeakSet<object>()

/** The limit of a request's own route, the first time that it is asked for. */
function ownLimit(request: FastifyRequestLike): FastifyLimit | undefined {
  const own = request.routeOptions?.config?.rateLimit
  if (own === undefined || decided.has(request)) return undefined
  decided.add(request)
  return routeLimit(own as FastifyLimitOptions, request.server)
}

/**
 * What routes inherit, as a property of the context in which the plugin is registered. The prototype of a Fastify context is
 * the context around it, so a context inherits from the nearest plugin.
 */
const INHERITED = Symbol('sluice.inherited')

interface Inherited {
  readonly options: FastifyLimitOptions | undefined
  /** The limits of routes, by their own options. */
  readonly limits: WeakMap<object, FastifyLimit>
}

const NOTHING_INHERITED: Inherited = { options: undefined, limits: new WeakMap() }

/** The limit of a route by its options. Routes with the same options object share it, as GET and its HEAD do. */
function routeLimit(own: FastifyLimitOptions, context: { [INHERITED]?: Inherited } = {}): FastifyLimit {
  const { options, limits } = context[INHERITED] ?? NOTHING_INHERITED
  const limit = limits.get(own) ?? new FastifyLimit(inheritedOptions(own, options))
  limits.set(own, limit)
  return limit
}
