/** `sluice/nest`: rate limiting for NestJS, on Express and on Fastify. */
import { type DynamicModule, UseGuards } from '@nestjs/common'
import { APP_GUARD, HttpAdapterHost } from '@nestjs/core'
import { ApplicationGuard } from './nest-application.js'
import { type NestOptions, RateLimitGuard } from './nest-guard.js'

export { type NestOptions, RateLimitException, RateLimitGuard, SkipRateLimit } from './nest-guard.js'

/**
 * A guard with a limit or a policy, for `@UseGuards` and `useGlobalGuards`.
 *
 * @example
 * ```ts no-check
 * app.useGlobalGuards(rateLimit({ limit: tokenBucket({ capacity: 100, refill: '100/m' }) }))
 * ```
 */
export function rateLimit(options: NestOptions): RateLimitGuard {
  return new RateLimitGuard(options)
}

/**
 * A limit for a controller or for one of its routes, besides those for all. What it does not say of clients and answers, it
 * inherits from the first limit that stands before all: that of {@link RateLimitModule}, or of `useGlobalGuards`.
 */
export function RateLimit<Request extends object>(options: NestOptions<Request>): MethodDecorator & ClassDecorator {
  return UseGuards(new RateLimitGuard(options, { isOfRoute: true }))
}

/** How options are made of what the application provides. */
export interface NestAsyncOptions {
  readonly imports?: DynamicModule['imports']
  // biome-ignore lint/suspicious/noExplicitAny: as Nest has it
  readonly inject?: any[]
  // biome-ignore lint/suspicious/noExplicitAny: as Nest has it
  readonly useFactory: (...injected: any[]) => NestOptions | Promise<NestOptions>
}

/** A limit for all of an application: its routes, and what none of them takes. */
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class
export class RateLimitModule {
  static forRoot(options: NestOptions): DynamicModule {
    const guard = rateLimit(options)
    return moduleWith([], [], () => guard)
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: NestAsyncOptions): DynamicModule {
    return moduleWith(imports, inject, async (...injected) => rateLimit(await useFactory(...injected)))
  }
}

function moduleWith(
  imports: NonNullable<DynamicModule['imports']>,
  inject: NonNullable<NestAsyncOptions['inject']>,
  guardOf: (...injected: unknown[]) => RateLimitGuard | Promise<RateLimitGuard>,
): DynamicModule {
  const provider = {
    provide: APP_GUARD,
    inject: [HttpAdapterHost, ...inject],
    useFactory: async (host: HttpAdapterHost, ...injected: unknown[]) =>
      new ApplicationGuard(host, await guardOf(...injected)),
  }
  return { module: RateLimitModule, imports, providers: [provider] }
}
