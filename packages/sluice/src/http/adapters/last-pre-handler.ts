/**
 * Fastify runs the `preHandler` hooks of contexts in the order in which they were added, and then those of the route. A limit
 * by `request.user` must decide after all of them, and Fastify has no later hook. An `onRoute` hook could add to the hooks of a
 * route, but Fastify does not call it for routes that were added before the plugin was loaded. So the first request of a route
 * puts the hook at the end of the route's list, which Fastify keeps in the route's context.
 */
import { warn } from '../../errors.js'

/** A hook of Fastify. */
export type FastifyHookFunction<Request extends object, Reply> = (
  request: Request,
  reply: Reply,
  next: (error?: Error) => void,
) => void

const NO_LIST =
  'this version of Fastify does not show the preHandler hooks of a route, so a limit with hook: ' +
  "'preHandler' decides before hooks that are added after it, and before those of routes"

/**
 * Makes a `preHandler` hook that calls `last` after every other `preHandler` of a request, and once for a request that
 * `callNotFound` sends through the hooks again. `applies` says whether `last` has anything to do: always the same for a route.
 */
export function lastPreHandler<Request extends object, Reply>(
  last: FastifyHookFunction<Request, Reply>,
  applies: (request: Request) => boolean,
): FastifyHookFunction<Request, Reply> {
  const listOf = listReader()
  const extended = new WeakSet<object>()
  const entered = new WeakSet<object>()
  const enter: typeof last = (request, reply, next) => {
    if (entered.has(request)) {
      next()
      return
    }
    entered.add(request)
    last(request, reply, next)
  }
  return (request, reply, next) => {
    if (!applies(request)) {
      next()
      return
    }
    const list = listOf(request)
    if (list === undefined) {
      enter(request, reply, next)
      return
    }
    if (!extended.has(list)) {
      extended.add(list)
      list.push(enter)
    }
    next()
  }
}

/** Makes a function that finds the `preHandler` hooks of a request's route. Fastify reads the list anew after each hook. */
function listReader(): (request: object) => unknown[] | undefined {
  let symbol: symbol | undefined
  let hasWarned = false
  return (request) => {
    symbol ??= Object.getOwnPropertySymbols(request).find(({ description }) => description === 'fastify.context')
    const context = symbol && (request as Record<symbol, { readonly preHandler?: unknown } | undefined>)[symbol]
    if (Array.isArray(context?.preHandler)) return context.preHandler
    if (!hasWarned) warn(NO_LIST, 'SLUICE_HOOK')
    hasWarned = true
    return undefined
  }
}
