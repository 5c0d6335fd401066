/** `sluice/nest`: rate limiting for NestJS, on Express and on Fastify. */
import { type DynamicModule, Inject, Optional, UseGuards } from '@nestjs/common'
import { APP_GUARD, HttpAdapterHost } from '@nestjs/core'
import { InvalidTypeError, naming } from '../../errors.js'
import type { AnyLimiter, AnyPolicy, AnyStore } from '../attributes-option.js'
import type { RefusedOptions } from '../refused-options.js'
import { ApplicationGuard } from './application-guard.js'
import {
  type NestCallOptions,
  type NestInsteadOptions,
  type NestOptions,
  type NestRouteOptions,
  RateLimitGuard,
} from './rate-limit-guard.js'

export { rateLimitOf } from '../rate-limit-of.js'

export {
  type NestOptions,
  type NestRouteOptions,
  RateLimitException,
  RateLimitGuard,
  SkipRateLimit,
} from './rate-limit-guard.js'

/**
 * Makes a guard with a limit or a policy, for `@UseGuards` and `useGlobalGuards`.
 *
 * @example
 * ```ts no-check
 * app.useGlobalGuards(rateLimit({ limit: tokenBucket({ capacity: 100, refill: '100/m' }) }))
 * ```
 */
export function rateLimit<
  P extends AnyPolicy | undefined = undefined,
  L extends AnyLimiter | undefined = undefined,
  S extends AnyStore | undefined = undefined,
>(options: NestCallOptions<P, L, S>): RateLimitGuard {
  return new RateLimitGuard(options as NestOptions)
}

/**
 * Limits a controller or one of its routes, in addition to the limit of the application: that of {@link RateLimitModule} or
 * of `useGlobalGuards`. Options about clients and answers that are not set here are inherited from that limit. With
 * `instead: true` it replaces the limits before it; `@SkipRateLimit()` frees a route of every limit.
 */
export function RateLimit<
  Request extends object,
  P extends AnyPolicy | undefined = undefined,
  L extends AnyLimiter | undefined = undefined,
  S extends AnyStore | undefined = undefined,
>(options: NestCallOptions<P, L, S, Request> & NestInsteadOptions): MethodDecorator & ClassDecorator {
  let made: RateLimitGuard | undefined
  return (target: object, name?: string | symbol, descriptor?: PropertyDescriptor) => {
    const where = `@RateLimit of ${decorated(target, name)}`
    made ??= naming(where, () => new RateLimitGuard(options as NestRouteOptions, { where }))
    const guard = made
    const use = UseGuards(guard) as (target: object, name?: string | symbol, descriptor?: PropertyDescriptor) => void
    guard.putBefore(descriptor === undefined ? target : descriptor.value)
    use(target, name, descriptor)
  }
}

/** `Shop` for a controller, `Shop.search` for one of its routes. */
function decorated(target: object, name: string | symbol | undefined): string {
  const controller = typeof target === 'function' ? target : target.constructor
  return name === undefined ? controller.name : `${controller.name}.${String(name)}`
}

/** Makes options from providers of the application. */
export interface NestAsyncOptions<Made = NestOptions> {
  readonly imports?: DynamicModule['imports']
  // biome-ignore lint/suspicious/noExplicitAny: as Nest has it
  readonly inject?: any[]
  // biome-ignore lint/suspicious/noExplicitAny: as Nest has it
  readonly useFactory: (...injected: any[]) => Made | Promise<Made>
}

/** What only `forRoot` and `forRootAsync` provide. */
const HAS_OPTIONS = Symbol('sluice.has-options')
const NO_OPTIONS =
  'RateLimitModule has no options and would limit nothing: import RateLimitModule.forRoot({ limit }), or forRootAsync. If only routes ' +
  'have limits, leave the module out: @RateLimit needs none'

/** Limits a whole application: its routes, and requests that match no route. */
export class RateLimitModule {
  /** Nest makes an instance of every module that is imported. A module without options would limit nothing. */
  constructor(hasOptions?: boolean) {
    if (hasOptions !== true) throw new InvalidTypeError(NO_OPTIONS)
  }

  static forRoot<
    P extends AnyPolicy | undefined = undefined,
    L extends AnyLimiter | undefined = undefined,
    S extends AnyStore | undefined = undefined,
  >(options: NestCallOptions<P, L, S>): DynamicModule {
    const guard = new RateLimitGuard(options as NestOptions, { what: 'RateLimitModule.forRoot' })
    return moduleWith({ useFactory: () => guard })
  }

  static forRootAsync<
    P extends AnyPolicy | undefined = undefined,
    L extends AnyLimiter | undefined = undefined,
    S extends AnyStore | undefined = undefined,
  >({ useFactory, ...given }: NestAsyncOptions<NestCallOptions<P, L, S> & RefusedOptions>): DynamicModule {
    const made = async (...injected: unknown[]) =>
      new RateLimitGuard((await useFactory(...injected)) as NestOptions, { what: 'RateLimitModule.forRootAsync' })
    return moduleWith({ ...given, useFactory: made })
  }
}

// Decorators of parameters need a compiler option.
Inject(HAS_OPTIONS)(RateLimitModule, undefined, 0)
Optional()(RateLimitModule, undefined, 0)

function moduleWith({ imports = [], inject = [], useFactory }: NestAsyncOptions<RateLimitGuard>): DynamicModule {
  const provider = {
    provide: APP_GUARD,
    inject: [HttpAdapterHost, ...inject],
    useFactory: async (host: HttpAdapterHost, ...injected: unknown[]) =>
      new ApplicationGuard(host, await useFactory(...injected)),
  }
  return { module: RateLimitModule, imports, providers: [provider, { provide: HAS_OPTIONS, useValue: true }] }
}
