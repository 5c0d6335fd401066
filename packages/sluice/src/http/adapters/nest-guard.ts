import { type CanActivate, type ExecutionContext, HttpException } from '@nestjs/common'
import { InvalidTypeError } from '../../errors.js'
import type { Verdict } from '../../policy/index.js'
import { Guard, type Passage } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { inheritedOptions } from '../inherited-options.js'
import { mergeFields, withoutBodyFields } from '../merge-fields.js'
import { admit, goesAtOnce } from './admit.js'
import { type ExpressRequest, expressReader } from './express.js'
import type { NodeResponse } from './node-messages.js'

/** See {@link GuardOptions}: a request is that of Express or of Fastify, whichever the application is on. */
// biome-ignore lint/suspicious/noExplicitAny: Nest does not say which
export type NestOptions<Request extends object = any> = GuardOptions<Request>

/** What a denied request is answered with, unless an exception filter does. */
export class RateLimitException extends HttpException {
  readonly verdict: Verdict

  /** `onWrite` is called when the body is about to be written, as JSON. */
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

/** As much of a reply of Fastify as is needed. */
export interface FastifyReplyLike {
  readonly raw: NodeResponse
  getHeader(name: string): number | string | string[] | undefined
  header(name: string, value: string): unknown
}

const skipped = new WeakSet<object>()

/** The options of the first limit that a request has passed: the one before all. */
const passed = new WeakMap<object, NestOptions>()

/** A guard of Nest that limits requests of HTTP. Messages of sockets and of transports pass. */
export class RateLimitGuard implements CanActivate {
  readonly #options: NestOptions
  readonly #guard: Guard<ExpressRequest>
  readonly #isOfRoute: boolean
  /** Of a route: by the options that each inherits from, because several applications may have the controller. */
  readonly #inheriting = new WeakMap<object, Guard<ExpressRequest>>()

  /** The guard of a route inherits from the limit before all. Mistakes in its own options show at once all the same. */
  constructor(options: NestOptions, { isOfRoute = false }: { readonly isOfRoute?: boolean } = {}) {
    this.#options = options
    this.#guard = new Guard(isOfRoute ? withoutNeeds(options) : options, expressReader)
    this.#isOfRoute = isOfRoute
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (skipped.has(context.getHandler()) || skipped.has(context.getClass())) return true
    const [request, response] = messagesOf(context)
    return request === undefined ? true : this.enter(request, response)
  }

  /** Limits a request wherever it is on its way: is it to go on? One that is denied is an error. */
  enter(request: ExpressRequest, response: NodeResponse | FastifyReplyLike): boolean | Promise<boolean> {
    const entered = this.#guardOf(request).enter(request)
    if (entered === undefined) return true
    return entered instanceof Promise
      ? entered.then((passage) => proceed(passage, response, request.socket))
      : proceed(entered, response, request.socket)
  }

  /** Decorators come before the application, so what stands before a route is known when a request has passed it. */
  #guardOf(request: ExpressRequest): Guard<ExpressRequest> {
    const before = passed.get(request)
    if (before === undefined && !this.#isOfRoute) passed.set(request, this.#options)
    if (before === undefined || !this.#isOfRoute) return this.#guard
    const guard = this.#inheriting.get(before) ?? new Guard(inheritedOptions(this.#options, before), expressReader)
    this.#inheriting.set(before, guard)
    return guard
  }
}

/** Without what only means something beside an option that a route may inherit, but has not said itself. */
function withoutNeeds(options: NestOptions): NestOptions {
  if (typeof options !== 'object' || options === null) return options
  const { onFailure, forwardedIn, ...others } = options
  return {
    ...others,
    ...(onFailure !== undefined && options.store !== undefined && { onFailure }),
    ...(forwardedIn !== undefined && options.trustedProxies !== undefined && { forwardedIn }),
  } as NestOptions
}

/** No limit of Sluice for a controller or for one of its routes. */
export function SkipRateLimit(): MethodDecorator & ClassDecorator {
  return (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor) => {
    skipped.add(descriptor === undefined ? target : descriptor.value)
  }
}

type Messages = [request: ExpressRequest | undefined, response: NodeResponse | FastifyReplyLike]

/** The request and response of a context; of GraphQL, those of the HTTP request that it came by. */
function messagesOf(context: ExecutionContext): Messages {
  if (context.getType<string>() === 'graphql') {
    const { req, res = req?.res } = context.getArgByIndex(2) ?? {}
    if (req !== undefined && res !== undefined) return [req, res]
    throw new InvalidTypeError(
      'rateLimit needs req and res in the context of GraphQL: context: ({ req, res }) => ({ req, res })',
    )
  }
  if (context.getType() !== 'http') return [undefined, undefined as never]
  const http = context.switchToHttp()
  return [http.getRequest(), http.getResponse()]
}

function proceed(
  passage: Passage,
  response: NodeResponse | FastifyReplyLike,
  socket: ExpressRequest['socket'],
): boolean | Promise<boolean> {
  const raw = 'raw' in response ? response.raw : response
  const set = (name: string, value: string) =>
    'raw' in response ? response.header(name, value) : response.setHeader(name, value)
  const merged = mergeFields(withoutBodyFields(passage.headers), {
    has: (name) => response.getHeader(name) !== undefined,
    get: (name) => response.getHeader(name)?.toString() ?? '',
  })
  for (const name in merged) set(name, merged[name])
  if (!passage.allowed) {
    // Nest 11 on Express takes a type that is set before the body for a mistake, warns and overwrites it; Fastify forgets it;
    // and an exception filter may answer with another body. So the type comes with the body.
    throw new RateLimitException(passage, () => {
      if (!raw.headersSent) set('Content-Type', passage.headers['Content-Type'])
    })
  }
  if (goesAtOnce(passage)) return true
  return new Promise((resolve) => {
    const exchange = { response: raw, socket, next: () => resolve(true), gone: () => resolve(false) }
    admit(undefined, passage, exchange)
  })
}
