import type { CanActivate, ExecutionContext, OnModuleInit } from '@nestjs/common'
import type { HttpAdapterHost } from '@nestjs/core'
import { attemptAll } from './attempt.js'
import type { ExpressRequest } from './express.js'
import { holdUnmet, isHeld, meet } from './fastify-before-hooks.js'
import type { FastifyReplyLike, RateLimitGuard } from './nest-guard.js'
import type { NodeResponse } from './node-messages.js'

/** Guards of Nest stand before handlers; this one makes another stand before what has none, too. */
export class ApplicationGuard implements CanActivate, OnModuleInit {
  readonly #host: HttpAdapterHost
  readonly #guard: RateLimitGuard
  /** Requests that have had a handler, which may have passed them on. */
  readonly #handled = new WeakSet<object>()
  /** Requests that were taken to have none, and may come to what another module has put there later, such as GraphQL. */
  readonly #entered = new WeakSet<object>()

  constructor(host: HttpAdapterHost, guard: RateLimitGuard) {
    this.#host = host
    this.#guard = guard
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = requestOf(context)
    if (request !== undefined && this.#entered.has(request)) return true
    if (request !== undefined) this.#handled.add(request)
    return this.#guard.canActivate(context)
  }

  onModuleInit(): void {
    const { httpAdapter } = this.#host
    // Routes of Express are there by now, and the answer to what they do not take is not.
    if (httpAdapter?.getType() === 'express') {
      httpAdapter.use(this.#limitFailed)
      httpAdapter.use(this.#limitUnhandled)
    }
    if (httpAdapter?.getType() === 'fastify') {
      const app = httpAdapter.getInstance()
      holdUnmet(app)
      app.addHook('onRequest', this.#limitUnhandled)
    }
  }

  readonly #limitUnhandled = (
    request: UnhandledRequest,
    response: NodeResponse | FastifyReplyLike,
    next: (error?: unknown) => void,
  ): void => {
    if (request.raw !== undefined) meet(request.raw)
    if (this.#isHandled(request) || this.#entered.has(request)) {
      next()
      return
    }
    this.#entered.add(request)
    attemptAll(
      () => this.#guard.enter(request, response),
      next,
      (goes) => {
        if (goes) next()
      },
    )
  }

  /** Is a request left to the guards of its handler? Those that Fastify answers before its hooks have none. */
  #isHandled(request: UnhandledRequest): boolean {
    const { is404, raw } = request
    return raw === undefined ? this.#handled.has(request) : is404 !== true && !isHeld(raw)
  }

  /** The same for errors that come before a handler: a parameter that Express cannot decode, a body that cannot be read. */
  readonly #limitFailed = (
    error: unknown,
    request: UnhandledRequest,
    response: NodeResponse,
    next: (error?: unknown) => void,
  ): void => this.#limitUnhandled(request, response, (denial) => next(denial ?? error))
}

/** A request of Express, or of Fastify, which has another one inside. */
type UnhandledRequest = ExpressRequest & { readonly is404?: boolean; readonly raw?: object }

/** The request of HTTP that a context came by, if any. */
function requestOf(context: ExecutionContext): object | undefined {
  const type = context.getType<string>()
  const request = type === 'graphql' ? context.getArgByIndex(2)?.req : context.switchToHttp().getRequest()
  const isOfHttp = type === 'graphql' || type === 'http'
  return isOfHttp && typeof request === 'object' && request !== null ? request : undefined
}
