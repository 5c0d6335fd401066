import type { CanActivate, ExecutionContext, OnModuleInit } from '@nestjs/common'
import type { HttpAdapterHost } from '@nestjs/core'
import type { ExpressRequest } from './express.js'
import { holdEarlyAnswers, isHeld, reachedHooks } from './hold-early-answers.js'
import { attempt } from './node-exchange.js'
import { type NestResponse, type RateLimitGuard, requestOf } from './rate-limit-guard.js'

/** Nest runs guards in front of handlers only. This guard also limits requests that reach no handler, such as a 404. */
export class ApplicationGuard implements CanActivate, OnModuleInit {
  readonly #host: HttpAdapterHost
  readonly #guard: RateLimitGuard
  /** Requests that reached a handler. The handler may have called `next`. */
  readonly #handled = new WeakSet<object>()
  /** Requests that were limited without a handler. They may still reach one that another module adds later, as GraphQL does. */
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
    // By now the routes of Express are registered, and Nest's answer to unknown paths is not.
    if (httpAdapter?.getType() === 'express') {
      httpAdapter.use(this.#limitFailed)
      httpAdapter.use(this.#limitUnhandled)
    }
    if (httpAdapter?.getType() === 'fastify') {
      const app = httpAdapter.getInstance()
      holdEarlyAnswers(app)
      app.addHook('onRequest', this.#limitUnhandled)
    }
  }

  readonly #limitUnhandled = (
    request: UnhandledRequest,
    response: NestResponse,
    next: (error?: unknown) => void,
  ): void => {
    if (request.raw !== undefined) reachedHooks(request.raw)
    if (this.#isHandled(request) || this.#entered.has(request)) {
      next()
      return
    }
    this.#entered.add(request)
    attempt(
      () => this.#guard.enter(request, response),
      next,
      (goes) => goes && next(),
    )
  }

  /** Whether the guards of a handler limit the request. An early answer of Fastify has no handler. */
  #isHandled(request: UnhandledRequest): boolean {
    const { is404, raw } = request
    return raw === undefined ? this.#handled.has(request) : is404 !== true && !isHeld(raw)
  }

  /** The same for errors before a handler: a parameter that Express cannot decode, or a body that it cannot read. */
  readonly #limitFailed = (
    error: unknown,
    request: UnhandledRequest,
    response: NestResponse,
    next: (error?: unknown) => void,
  ): void => this.#limitUnhandled(request, response, (denial) => next(denial ?? error))
}

/** A request of Express, or of Fastify, which has the request of Node.js in `raw`. */
type UnhandledRequest = ExpressRequest & { readonly is404?: boolean; readonly raw?: object }
