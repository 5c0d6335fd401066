import { inheritedOptions } from '../inherited-options.js'
import { FastifyLimit, type FastifyLimitOptions, type FastifyRequestLike } from './fastify-limit.js'

/** The options of the plugin in each context in which it is registered. */
const optionsOfContexts = new WeakMap<object, FastifyLimitOptions>()

/** Notes the options that routes of a context inherit. */
export function setContextOptions(context: object, options: FastifyLimitOptions): void {
  optionsOfContexts.set(context, options)
}

/** The options of the nearest plugin. The prototype of a Fastify context is the context around it. */
function contextOptions(context: object | undefined): FastifyLimitOptions | undefined {
  for (let each = context ?? null; each !== null; each = Object.getPrototypeOf(each)) {
    const options = optionsOfContexts.get(each as object)
    if (options !== undefined) return options
  }
  return undefined
}

/** Limits of routes, by the options that they inherit from, and then by their own. */
const limits = new WeakMap<object, WeakMap<object, FastifyLimit>>()
const NOTHING_INHERITED = {}

/** The limit of a route, if it has one. Routes with the same options object share it, as GET and its HEAD do. */
export function routeLimit(config: RouteConfig | undefined, context: object | undefined): FastifyLimit | undefined {
  const own = config?.rateLimit as FastifyLimitOptions | undefined
  if (own === undefined) return undefined
  const before = contextOptions(context)
  const inheriting = limits.get(before ?? NOTHING_INHERITED) ?? new WeakMap<object, FastifyLimit>()
  limits.set(before ?? NOTHING_INHERITED, inheriting)
  const limit = inheriting.get(own) ?? new FastifyLimit(inheritedOptions(own, before))
  inheriting.set(own, limit)
  return limit
}

type RouteConfig = NonNullable<NonNullable<FastifyRequestLike['routeOptions']>['config']>
