import { type CanActivate, type ExecutionContext, HttpException } from '@nestjs/common'
import { InvalidTypeError } from '../../errors.js'
import type { Verdict } from '../../policy/index.js'
import { Guard, type Passage } from '../guard.js'
import type { GuardOptions } from '../guard-options.js'
import { mergeFields } from '../merge-fields.js'
import { admit, goesAtOnce } from './admit.js'
import { type ExpressRequest, expressReader } from './express.js'
import type { NodeResponse } from './node-messages.js'

/** See {@link GuardOptions}: a request is that of Express or of Fastify, whichever the application is on. */
// biome-ignore lint/suspicious/noExplicitAny: Nest does not say which
export type NestOptions<Request extends object = any> = GuardOptions<Request>

/** What a denied request is answered with, unless an exception filter does. */
export class RateLimitException extends HttpException {
  readonly verdict: Verdict

  constructor({ verdict, status, body }: Passage) {
    super(JSON.parse(body as string), status)
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

/** A guard of Nest that limits requests of HTTP. Messages of sockets and of transports pass. */
export class RateLimitGuard implements CanActivate {
  readonly #guard: Guard<ExpressRequest>

  constructor(options: NestOptions) {
    this.#guard = new Guard(options, expressReader)
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (skipped.has(context.getHandler()) || skipped.has(context.getClass())) return true
    const [request, response] = messagesOf(context)
    return request === undefined ? true : this.enter(request, response)
  }

  /** Limits a request wherever it is on its way: is it to go on? One that is denied is an error. */
  enter(request: ExpressRequest, response: NodeResponse | FastifyReplyLike): boolean | Promise<boolean> {
    const entered = this.#guard.enter(request)
    if (entered === undefined) return true
    return entered instanceof Promise
      ? entered.then((passage) => proceed(passage, response, request.socket))
      : proceed(entered, response, request.socket)
  }
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
  const merged = mergeFields(passage.headers, {
    has: (name) => response.getHeader(name) !== undefined,
    get: (name) => response.getHeader(name)?.toString() ?? '',
  })
  for (const name in merged) {
    if ('raw' in response) response.header(name, merged[name])
    else response.setHeader(name, merged[name])
  }
  if (!passage.allowed) throw new RateLimitException(passage)
  if (goesAtOnce(passage)) return true
  return new Promise((resolve) => {
    const exchange = { response: raw, socket, next: () => resolve(true), gone: () => resolve(false) }
    admit(undefined, passage, exchange)
  })
}
