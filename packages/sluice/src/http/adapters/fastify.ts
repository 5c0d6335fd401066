/** `sluice/fastify`: rate limiting for Fastify 4 and 5. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidTypeError, naming, warn } from '../../errors.js'
import type { AnyLimiter, AnyPolicy, AnyStore } from '../attributes-option.js'
import type { RateLimitOptions } from '../guard-options.js'
import { inheritedOptions } from '../inherited-options.js'
import { LimitNames } from '../limit-names.js'
import {
  type FastifyHook,
  type FastifyInsteadOptions,
  FastifyLimit,
  type FastifyLimitOptions,
  type FastifyOwnOptions,
  type FastifyReplyLike,
  type FastifyRequestLike,
  type FastifyRouteConfig,
  type Next,
} from './fastify-limit.js'
import { type FastifyServing, holdEarlyAnswers, reachedHooks } from './hold-early-answers.js'
import { lastPreHandler } from './last-pre-handler.js'
import { attempt } from './node-exchange.js'

export { rateLimitOf } from '../rate-limit-of.js'
export type {
  FastifyHook,
  FastifyInsteadOptions,
  FastifyOptions,
  FastifyOwnOptions,
  FastifyReplyLike,
  FastifyRequestLike,
  FastifyRouteConfig,
  FastifyRouteOptions,
} from './fastify-limit.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * A limit for this route, in addition to the limit for all routes, from which it inherits options. With `instead: true`
     * it replaces the limit for all routes; `false` frees the route of every limit.
     */
    rateLimit?: FastifyRouteConfig | false
  }
}

interface FastifyLike {
  // biome-ignore lint/suspicious/noExplicitAny: Fastify's own types are generic in ways that a part of them cannot be
  addHook(name: FastifyHook, hook: (request: any, reply: any, next: Next) => void): unknown
  // biome-ignore lint/suspicious/noExplicitAny: see above
  addHook(name: 'onRoute', hook: (route: any) => void): unknown
}

const NO_HOOK =
  'rateLimit makes a plugin, not a hook of a route: write app.register(rateLimit()), and give the route its limit in ' +
  "config: { rateLimit: { limit, name: 'search' } }, with hook: 'preHandler' to decide after other hooks"

/** A Fastify plugin, to be registered. */
export type FastifyRateLimit = (app: FastifyLike, options: object, done: Next) => void

/**
 * Makes a plugin that limits all routes, and in addition every route that has its own `config.rateLimit`. A route's limit with
 * `instead: true` replaces the limit for all routes, and `rateLimit: false` frees the route. Without options, only the limits of
 * routes apply. A route's limit inherits options about clients and answers from the nearest plugin: that of its
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
  P extends AnyPolicy | undefined = undefined,
  L extends AnyLimiter | undefined = undefined,
  S extends AnyStore | undefined = undefined,
>(options?: RateLimitOptions<Request, Reply, string, P, L, S> & FastifyOwnOptions<Request, Reply>): FastifyRateLimit {
  if (typeof (options as Partial<FastifyLike> | null | undefined)?.addHook === 'function') return registeredUnmade()
  const given = options as FastifyLimitOptions | undefined
  const forAll = given === undefined ? undefined : new FastifyLimit(given)
  const inherited: Inherited = { options: given, limits: new WeakMap(), names: new LimitNames() }
  inherited.names?.add('the limit for all routes', forAll?.counts)
  const mayDecideLate = ({ routeOptions }: FastifyRequestLike) =>
    forAll?.hook === 'preHandler' || isLimited(routeOptions?.config?.rateLimit)
  const plugin: FastifyRateLimit = (app, _options, done) => {
    if (typeof app.addHook !== 'function') {
      done(new InvalidTypeError(NO_HOOK))
      return
    }
    if (given !== undefined) {
      Object.assign(app, { [INHERITED]: inherited })
      holdEarlyAnswers(app as unknown as FastifyServing)
    }
    // A mistake in a route's options shows when the route is added, if the plugin is loaded by then.
    app.addHook('onRoute', function (this: object, { config, method, url }) {
      const methods = [method].flat().join(', ')
      // Fastify adds the route of HEAD to that of GET.
      if (methods !== 'HEAD') warnOfSpelling(config, `${methods} ${url}`)
      if (isLimited(config?.rateLimit)) limitOfRoute(config.rateLimit, this, methods, url)
    })
    app.addHook('onRequest', enterAt('onRequest', forAll))
    app.addHook('preHandler', lastPreHandler(enterAt('preHandler', forAll), mayDecideLate))
    done()
  }
  // The hooks are for the application that registers the plugin, not only for routes inside the plugin.
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'sluice',
    [Symbol.for('plugin-meta')]: { name: 'sluice', fastify: '>=4' },
  })
}

/**
 * The options of a route, for `config.rateLimit`. Written directly there they work as well, but the compiler then accepts names that
 * are no options, and does not know the attributes of a policy.
 *
 * @example
 * ```ts
 * import { type FastifyRequest, fastify } from 'fastify'
 * import { createPolicy, tokenBucket } from 'sluice'
 * import { rateLimit, routeLimit } from 'sluice/fastify'
 *
 * const limit = tokenBucket({ capacity: 10, refill: '10/m' })
 * const policy = createPolicy({ levels: [{ name: 'user', key: ['user'], limit }] })
 * const attributes = (request: FastifyRequest) => ({ user: request.headers['x-user'] })
 *
 * const app = fastify()
 * await app.register(rateLimit())
 * app.get('/search', { config: { rateLimit: routeLimit({ policy, attributes }) } }, () => 'found')
 * ```
 */
export function routeLimit<
  Request extends FastifyRequestLike = FastifyRequest,
  Reply extends FastifyReplyLike = FastifyReply,
  P extends AnyPolicy | undefined = undefined,
  L extends AnyLimiter | undefined = undefined,
  S extends AnyStore | undefined = undefined,
>(
  options: RateLimitOptions<Request, Reply, string, P, L, S> &
    FastifyOwnOptions<Request, Reply> &
    FastifyInsteadOptions,
): FastifyRouteConfig {
  return options as object as FastifyRouteConfig
}

/** Fastify keeps whatever is in `config`, so a limit under a misspelt name would be lost silently. */
function warnOfSpelling(config: object = {}, route: string): void {
  for (const name of Object.keys(config)) {
    if (name === 'rateLimit' || name.replace(/[-_]/g, '').toLowerCase() !== 'ratelimit') continue
    warn(`config.${name} of ${route} has no effect: write config.rateLimit`, 'SLUICE_ROUTE')
  }
}

/** Fastify calls `rateLimit` itself as a plugin, and waits for the promise of a plugin. An error would end the process. */
function registeredUnmade(): never {
  const message = 'rateLimit makes the plugin: write register(rateLimit({ limit })), not register(rateLimit, …)'
  return Promise.reject(new InvalidTypeError(message)) as never
}

/** Decides in one hook: by the limit for all routes if this is its hook, and by the limit of the request's own route. */
function enterAt(hook: FastifyHook, forAll: FastifyLimit | undefined) {
  const before = forAll?.hook === hook ? forAll : undefined
  return (request: FastifyRequestLike & { readonly raw: object }, reply: FastifyReplyLike, next: Next): void => {
    if (hook === 'onRequest') reachedHooks(request.raw)
    const own = request.routeOptions?.config?.rateLimit
    if (!isLimited(own)) {
      if (before === undefined || own === false) next()
      else before.enter(request, reply, next)
      return
    }
    attempt(
      () => ownLimit(request, own, hook),
      next,
      (ofRoute) => {
        if (before !== undefined && own.instead !== true) before.enter(request, reply, next, ofRoute)
        else if (ofRoute !== undefined) ofRoute.enter(request, reply, next)
        else next()
      },
    )
  }
}

/** Whether a route has a limit of its own. `false` frees the route; everything else is options, perhaps wrong ones. */
function isLimited(own: unknown): own is FastifyLimitOptions {
  return own !== undefined && own !== false
}

/** Requests whose route's limit is decided already: the plugin may be registered twice. */
const decided = new WeakSet<object>()

/** The limit of a request's own route, if it decides in this hook, the first time that it is asked for. */
function ownLimit(request: FastifyRequestLike, own: FastifyLimitOptions, hook: FastifyHook): FastifyLimit | undefined {
  const { server, method, routeOptions } = request
  const limit = limitOfRoute(own, server, method, routeOptions?.url ?? '')
  if (limit.hook !== hook || decided.has(request)) return undefined
  decided.add(request)
  return limit
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
  readonly names?: LimitNames
}

const NOTHING_INHERITED: Inherited = { options: undefined, limits: new WeakMap() }

/** The limit of a route by its options. Routes with the same options object share it, as GET and its HEAD do. */
function limitOfRoute(
  own: FastifyLimitOptions,
  context: { [INHERITED]?: Inherited } = {},
  method: string,
  url: string,
): FastifyLimit {
  const { options, limits, names } = context[INHERITED] ?? NOTHING_INHERITED
  const known = limits.get(own)
  if (known !== undefined) return known
  const where = `config.rateLimit of ${method} ${url}`
  const limit = naming(where, () => new FastifyLimit(inheritedOptions(own, options, where), ['instead']))
  names?.add(where, limit.counts)
  limits.set(own, limit)
  return limit
}
