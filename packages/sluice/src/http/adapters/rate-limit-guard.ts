import { type CanActivate, type ExecutionContext, HttpException } from '@nestjs/common'
import { InvalidTypeError, warn } from '../../errors.js'
import type { Verdict } from '../../policy/index.js'
import type { Awaitable } from '../../stores/index.js'
import type { AnyLimiter, AnyPolicy, AnyStore } from '../attributes-option.js'
import type { ReadField, RequestReader } from '../client-address.js'
import { type EnterOptions, Guard } from '../guard.js'
import type { GuardOptions, RateLimitOptions } from '../guard-options.js'
import { inheritedOptions } from '../inherited-options.js'
import { mapped } from '../mapped.js'
import { mergeFields } from '../merge-fields.js'
import type { Passage } from '../passage.js'
import { admitted } from './admit.js'
import { checkNestOptions } from './check-nest-options.js'
import { type ExpressRequest, expressReader } from './express.js'
import { HeldPassages } from './held-passages.js'
import { fieldText, type NodeResponse } from './node-exchange.js'

/** See {@link GuardOptions}. A request is Express's or Fastify's, depending on the platform of the application. */
// biome-ignore lint/suspicious/noExplicitAny: Nest does not say which
export type NestOptions<Request extends object = any> = GuardOptions<Request, any>

/** The options of `@RateLimit`. See {@link NestOptions}. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type NestRouteOptions<Request extends object = any> = NestOptions<Request> & NestInsteadOptions

/** The options of one call. See {@link RateLimitOptions}. */
export type NestCallOptions<
  P extends AnyPolicy | undefined,
  L extends AnyLimiter | undefined,
  S extends AnyStore | undefined,
  // biome-ignore lint/suspicious/noExplicitAny: see above
  Request extends object = any,
  // biome-ignore lint/suspicious/noExplicitAny: see above
> = RateLimitOptions<Request, any, string, P, L, S>

/** What `@RateLimit` does with the limits before it. */
export interface NestInsteadOptions {
  /** True: this limit replaces the limits before it, of the application and of the controller. Default: it adds to them. */
  readonly instead?: boolean
}

/** Express passes on the request of the server; a request of Fastify has it in `raw`. */
const reader: RequestReader<ExpressRequest> = {
  ...expressReader,
  serverRequest: (request) => (request as { readonly raw?: object }).raw,
}

/** Thrown for a denied request. Nest answers with it, unless an exception filter does. */
export class RateLimitException extends HttpException {
  readonly verdict: Verdict

  /** `onWrite` is called just before the body is written as JSON. */
  constructor({ verdict, status, body }: Passage, onWrite: () => void) {
    const problem = JSON.parse(body as string)
    const toJSON = () => {
      onWrite()
      return problem
    }
    super(Object.defineProperty(problem, 'toJSON', { value: toJSON }), status)
    this.verdict = verdict
  }
}

/** A response of Express, or the part of a reply of Fastify that is used here. */
export type NestResponse =
  | NodeResponse
  | (Pick<NodeResponse, 'getHeader'> & { readonly raw: NodeResponse; header(name: string, value: string): unknown })

interface GuardKind {
  /** What errors and warnings call the limit of a route. Left out for a limit of the application. */
  readonly where?: string
  /** The function that takes the options, as the caller writes it. */
  readonly what?: string
}

interface NestExchange {
  readonly request: ExpressRequest
  readonly response: NestResponse
}

/** How a request enters. */
interface NestEntry extends EnterOptions {
  /** The passages before this one, which get their units back if this limit denies. */
  readonly held?: HeldPassages | undefined
}

/** Controllers and handlers with `@SkipRateLimit()`. */
const skipped = new WeakSet<object>()

/** The guards that `@RateLimit` has put in front of controllers and handlers. */
const ownGuards = new WeakMap<object, readonly RateLimitGuard[]>()

/** The options of the first limit that a request has passed, which is the limit of the application. */
const firstOptions = new WeakMap<object, NestOptions>()

/** A Nest guard that limits HTTP requests. Messages of sockets and of transports pass. */
export class RateLimitGuard implements CanActivate {
  readonly #options: NestRouteOptions
  readonly #guard: Guard<ExpressRequest>
  readonly #where: string | undefined
  #hasWarned = false
  /** Guards of a route, by the options that they inherit from: several applications may have the same controller. */
  readonly #inheriting = new WeakMap<object, Guard<ExpressRequest>>()

  /**
   * The guard of a route inherits from the limit of the application. Mistakes in its own options still show at once, and say
   * that `what` takes the options.
   */
  constructor(options: NestRouteOptions, { where, what = 'rateLimit' }: GuardKind = {}) {
    checkNestOptions(what, options)
    this.#options = options
    this.#guard = where === undefined ? new Guard(options, reader, [], what) : routeGuard(withoutDependents(options))
    this.#where = where
  }

  /** Puts this guard in front of a controller or a handler. */
  putBefore(target: object): void {
    ownGuards.set(target, [...(ownGuards.get(target) ?? []), this])
  }

  canActivate(context: ExecutionContext): Awaitable<boolean> {
    if (skipped.has(context.getHandler()) || isSkipped(context.getClass())) return true
    const [request, response] = [requestOf(context), responseOf(context)]
    const guards = routeGuards(context)
    if (request !== undefined && guards.some(isInstead) && !guards.includes(this)) {
      this.#noteFirst(request)
      return true
    }
    const isGraphql = context.getType<string>() === 'graphql'
    if (request !== undefined && response !== undefined) {
      const mustHold = guards.length > 0 && guards.at(-1) !== this
      const held = guards.length > 0 ? heldOf(context) : undefined
      return this.enter(request, response, { mayRepeat: isGraphql, mustHold, held })
    }
    if (!isGraphql) return true
    throw new InvalidTypeError(
      'the limit needs req and res in the GraphQL context: context: ({ req, res }) => ({ req, res })',
    )
  }

  /**
   * Limits a request, and returns whether it goes on: `false` if the client is gone. Throws if the request is denied. A query
   * of GraphQL counts for each field (`mayRepeat`): otherwise one request could try a thousand passwords.
   */
  enter(request: ExpressRequest, response: NestResponse, { held, ...how }: NestEntry = {}): Awaitable<boolean> {
    const enter = () =>
      mapped(this.#guardOf(request).enter(request, how), (passage) => {
        if (passage === undefined) return true
        const exchange = { request, response }
        if (!passage.allowed) return mapped(giveBack(held, response), () => proceed(passage, exchange))
        if (how.mustHold === true) held?.add(passage)
        return proceed(passage, exchange)
      })
    return held === undefined ? enter() : held.cancelUnless(enter)
  }

  /** Decorators run before the application exists, so the limit before a route is known only when a request has passed it. */
  #guardOf(request: ExpressRequest): Guard<ExpressRequest> {
    const before = firstOptions.get(request)
    this.#noteFirst(request)
    if (this.#where === undefined) return this.#guard
    if (before === undefined) {
      this.#warnOfDependents()
      return this.#guard
    }
    const guard = this.#inheriting.get(before) ?? routeGuard(inheritedOptions(this.#options, before, this.#where))
    this.#inheriting.set(before, guard)
    return guard
  }

  /** Warns once of options that have no effect, because there is no limit before this one. */
  #warnOfDependents(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    for (const { option, needs } of dependentsOf(this.#options))
      warn(
        `${option} of @RateLimit has no effect, because no limit is before it from which it inherits ${needs}: give it ${needs}`,
        'SLUICE_ROUTE',
      )
  }

  #noteFirst(request: ExpressRequest): void {
    if (this.#where === undefined && !firstOptions.has(request)) firstOptions.set(request, this.#options)
  }

  get isInstead(): boolean {
    return this.#options.instead === true
  }
}

function routeGuard(options: NestRouteOptions): Guard<ExpressRequest> {
  return new Guard(options, reader, ['instead'], 'RateLimit')
}

function isInstead(guard: RateLimitGuard): boolean {
  return guard.isInstead
}

/**
 * The guards of a route, in the order in which Nest runs them: of its controller, then its own. With `instead`, its own stand
 * for all.
 */
function routeGuards(context: ExecutionContext): readonly RateLimitGuard[] {
  const ofHandler = ownGuards.get(context.getHandler()) ?? []
  return ofHandler.some(isInstead) ? ofHandler : [...guardsOfController(context.getClass()), ...ofHandler]
}

/**
 * The guards of a controller, after those of the classes that it extends: Nest runs those too. With `instead`, the guards of a
 * class stand for those of the classes that it extends.
 */
function guardsOfController(controller: object): readonly RateLimitGuard[] {
  const guards: RateLimitGuard[] = []
  for (const each of withBaseClasses(controller)) {
    const own = ownGuards.get(each) ?? []
    guards.unshift(...own)
    if (own.some(isInstead)) break
  }
  return guards
}

/** Whether a controller is freed, by itself or by a class that it extends. A class between them may have a limit again. */
function isSkipped(controller: object): boolean {
  for (const each of withBaseClasses(controller)) {
    if (skipped.has(each)) return true
    if (ownGuards.has(each)) return false
  }
  return false
}

function* withBaseClasses(controller: object): Iterable<object> {
  for (let each: object | null = controller; each !== null; each = Object.getPrototypeOf(each)) yield each
}

/** The passages that a request holds, by its context, which Nest makes once for all guards of a handler. */
const heldPassages = new WeakMap<ExecutionContext, HeldPassages>()

function heldOf(context: ExecutionContext): HeldPassages {
  const held = heldPassages.get(context) ?? new HeldPassages()
  heldPassages.set(context, held)
  return held
}

/** Without options that need another option, if the route does not set that one and may still inherit it. */
function withoutDependents(options: NestRouteOptions): NestRouteOptions {
  if (typeof options !== 'object' || options === null) return options
  const dropped = dependentsOf(options).map(({ option }) => [option, undefined])
  return { ...options, ...Object.fromEntries(dropped) }
}

/** The options that need another option, which is not set. */
function dependentsOf({ onFailure, store, forwardedIn, trustedProxies }: NestRouteOptions) {
  return [
    ...(onFailure !== undefined && store === undefined ? [{ option: 'onFailure', needs: 'a store' }] : []),
    ...(forwardedIn !== undefined && trustedProxies === undefined
      ? [{ option: 'forwardedIn', needs: 'trustedProxies' }]
      : []),
  ]
}

/** Turns off all limits of Sluice for a controller or for one of its routes. */
export function SkipRateLimit(): MethodDecorator & ClassDecorator {
  return (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor) => {
    skipped.add(descriptor === undefined ? target : descriptor.value)
  }
}

/** The HTTP request of a context, if it has one. For GraphQL: the request that carries the query. */
export function requestOf(context: ExecutionContext): ExpressRequest | undefined {
  const type = context.getType<string>()
  if (type === 'graphql') return context.getArgByIndex(2)?.req
  return type === 'http' ? context.switchToHttp().getRequest() : undefined
}

function responseOf(context: ExecutionContext): NestResponse | undefined {
  if (context.getType<string>() !== 'graphql') return context.switchToHttp().getResponse()
  const { req, res = req?.res } = context.getArgByIndex(2) ?? {}
  return res
}

function proceed(passage: Passage, { request, response }: NestExchange): Awaitable<boolean> {
  const raw = 'raw' in response ? response.raw : response
  const { 'Content-Type': type, ...headers } = passage.headers
  const merged = mergeFields(headers, reading(response))
  for (const name in merged) setField(response, name, merged[name])
  if (passage.allowed) return admitted(passage, { request, response: raw, reply: response })
  // The type is set together with the body. If it is set before, Nest 11 on Express warns and overwrites it, Fastify drops it,
  // and it is wrong if an exception filter answers with another body.
  throw new RateLimitException(passage, () => {
    if (!raw.headersSent) setField(response, 'Content-Type', type)
  })
}

function giveBack(held: HeldPassages | undefined, response: NestResponse): Awaitable<void> {
  return held?.giveBack(reading(response), (name, value) => setField(response, name, value))
}

function reading(response: NestResponse): ReadField {
  return (name) => fieldText(response.getHeader(name))
}

function setField(response: NestResponse, name: string, value: string): void {
  if ('raw' in response) response.header(name, value)
  else response.setHeader(name, value)
}
