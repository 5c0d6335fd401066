import type { CanActivate, ExecutionContext, OnModuleInit } from '@nestjs/common'
import type { HttpAdapterHost } from '@nestjs/core'
import { attemptAll } from './attempt.js'
import type { ExpressRequest } from './express.js'
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
    if (httpAdapter?.getType() === 'express') httpAdapter.use(this.#limitUnhandled)
    if (httpAdapter?.getType() === 'fastify') httpAdapter.getInstance().addHook('onRequest', this.#limitUnhandled)
  }

  readonly #limitUnhandled = (
    request: ExpressRequest & { readonly is404?: boolean },
    response: NodeResponse | FastifyReplyLike,
    next: (error?: unknown) => void,
  ): void => {
    const isHandled = request.is404 === undefined ? this.#handled.has(request) : !request.is404
    if (isHandled || this.#entered.has(request)) {
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
}

/** The request of HTTP that a context came by, if any. */
function requestOf(context: ExecutionContext): object | undefined {
  const type = context.getType<string>()
  const request = type === 'graphql' ? context.getArgByIndex(2)?.req : context.switchToHttp().getRequest()
  const isOfHttp = type === 'graphql' || type === 'http'
  return isOfHttp && typeof request === 'object' && request !== null ? request : undefined
}
