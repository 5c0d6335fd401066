import 'reflect-metadata'
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type DynamicModule,
  type ExceptionFilter,
  Get,
  HttpException,
  type INestApplication,
  Module,
  Next,
  type Type,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { createPolicy, fixedWindow, InvalidTypeError, memoryStore, type Verdict } from 'sluice'
import { parseRateLimit } from 'sluice/http'
import {
  RateLimit,
  RateLimitException,
  type RateLimitGuard,
  RateLimitModule,
  rateLimit,
  rateLimitOf,
  SkipRateLimit,
} from 'sluice/nest'
import { ManualClock } from 'sluice/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { laterStore } from './later-store.js'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })

/** Decorators are functions, and the tests are compiled by a tool that does not know those of Nest. */
function shop(): Type {
  class Shop {
    list() {
      return 'list'
    }
    search() {
      return 'search'
    }
    health() {
      return 'health'
    }
    pass(next: () => void) {
      next()
    }
  }
  const decorate = (name: keyof Shop & string, ...decorators: MethodDecorator[]) => {
    const descriptor = Object.getOwnPropertyDescriptor(Shop.prototype, name) as PropertyDescriptor
    for (const decorator of decorators) decorator(Shop.prototype, name, descriptor)
  }
  decorate('list', Get('list'))
  decorate('search', Get('search'), RateLimit({ limit: limit(1), name: 'search' }))
  decorate('health', Get('health'), SkipRateLimit())
  decorate('pass', Get('pass'))
  Next()(Shop.prototype, 'pass', 0)
  RateLimit({ limit: limit(5), name: 'shop' })(Shop)
  Controller()(Shop)
  return Shop
}

/** As much of a request as the options below look at. */
interface Fields {
  readonly headers: Readonly<Record<string, string>>
}

/** What else an application is made of. */
interface Spec {
  readonly module?: DynamicModule
  readonly guards?: readonly RateLimitGuard[]
  readonly filters?: readonly ExceptionFilter[]
  readonly controller?: Type
}

/** Things of Nest alone, on one platform, in whichever version of Nest this is imported with. */
export function nestSuite(name: string, platform: 'express' | 'fastify'): void {
  describe(name, () => {
    let app: INestApplication
    const logged: string[] = []
    const record = (...said: unknown[]) => logged.push(said.join(' '))
    const logger = { log: () => {}, error: record, warn: record }

    async function start({ module, guards = [], filters = [], controller = shop() }: Spec): Promise<string> {
      class AppModule {}
      Module({ imports: module === undefined ? [] : [module], controllers: [controller] })(AppModule)
      app =
        platform === 'express'
          ? await NestFactory.create(AppModule, { logger })
          : await NestFactory.create(AppModule, new FastifyAdapter() as never, { logger })
      app.useGlobalFilters(...filters)
      app.useGlobalGuards(...guards)
      await app.listen(0, '127.0.0.1')
      // On a busy machine, Nest warns that a module takes milliseconds to start. The tests are about requests.
      logged.length = 0
      return app.getUrl()
    }

    afterEach(async () => {
      await app?.close()
      logged.length = 0
    })

    async function left(url: string, headers: Record<string, string> = {}) {
      const response = await fetch(url, { headers })
      const { quotas } = parseRateLimit(response.headers)
      return [response.status, Object.fromEntries(quotas.map(({ name, remaining }) => [name, remaining]))]
    }

    it('decorators add to the limit for all, for a controller and for a route', async () => {
      const url = await start({ module: RateLimitModule.forRoot({ limit: limit(9), name: 'all' }) })
      expect(await left(`${url}/list`)).toEqual([200, { all: 8, shop: 4 }])
      expect(await left(`${url}/search`)).toEqual([200, { all: 7, shop: 3, search: 0 }])
      expect(await left(`${url}/search`)).toEqual([429, { all: 7, shop: 3, search: 0 }])
      expect(await left(`${url}/health`)).toEqual([200, {}])
    })

    it('requests without a route meet only the limit for all', async () => {
      const url = await start({ module: RateLimitModule.forRoot({ limit: limit(9), name: 'all' }) })
      expect(await left(`${url}/nothing`)).toEqual([404, { all: 8 }])
    })

    it.runIf(platform === 'express')('counts a request once if its route calls next', async () => {
      const url = await start({ module: RateLimitModule.forRoot({ limit: limit(9), name: 'all' }) })
      expect(await left(`${url}/pass`)).toEqual([404, { all: 8, shop: 4 }])
    })

    it('takes a module whose options are made later', async () => {
      const useFactory = async () => ({ limit: limit(1), name: 'all' })
      const url = await start({ module: RateLimitModule.forRootAsync({ useFactory }) })
      expect((await left(`${url}/list`))[0]).toBe(200)
      expect((await left(`${url}/list`))[0]).toBe(429)
    })

    it.each(['/list', '/nothing'])('denies %s with problem details, and Nest has nothing to warn of', async (path) => {
      const url = await start({ module: RateLimitModule.forRoot({ limit: limit(1), name: 'all' }) })
      await fetch(url + path)
      const denied = await fetch(url + path)
      expect(denied.status).toBe(429)
      expect(denied.headers.get('content-type')).toMatch(/^application\/problem\+json(; charset=utf-8)?$/)
      expect(await denied.json()).toEqual({
        type: expect.stringMatching(/#quota-exceeded$/),
        title: expect.any(String),
        status: 429,
        'violated-policies': ['all'],
      })
      expect(logged).toEqual([])
    })

    it.each<[by: string, spec: () => Spec, path: string]>([
      ['the module', () => ({ module: RateLimitModule.forRoot({ limit: limit(1), name: 'it' }) }), '/list'],
      [
        'the module, without a route',
        () => ({ module: RateLimitModule.forRoot({ limit: limit(1), name: 'it' }) }),
        '/none',
      ],
      ['a guard for all', () => ({ guards: [rateLimit({ limit: limit(1), name: 'it' })] }), '/list'],
      [
        'a decorator',
        () => ({ controller: controllerWith('own', RateLimit({ limit: limit(1), name: 'it' })) }),
        '/own',
      ],
    ])('ten denials by %s are ten problems, and no warning of Nest or of the process', async (_by, spec, path) => {
      const warnings: string[] = []
      const collect = ({ message }: Error) => warnings.push(message)
      process.on('warning', collect)
      const url = await start(spec())
      await fetch(url + path)
      for (let i = 0; i < 10; i++) {
        const denied = await fetch(url + path)
        expect([denied.status, denied.headers.get('content-type')]).toEqual([
          429,
          expect.stringMatching(/^application\/problem\+json/),
        ])
        expect(await denied.json()).toMatchObject({ status: 429, 'violated-policies': ['it'] })
      }
      await new Promise((resolve) => setImmediate(resolve))
      process.off('warning', collect)
      expect([...logged, ...warnings]).toEqual([])
    })

    const respond = (host: ArgumentsHost, status: number, body: object) => {
      const response = host.switchToHttp().getResponse()
      if (platform === 'express') response.status(status).json(body)
      else response.status(status).send(body)
    }

    it('an exception filter can catch a denial, and answers in its own way', async () => {
      class Filter implements ExceptionFilter {
        catch({ verdict }: RateLimitException, host: ArgumentsHost) {
          respond(host, 420, { by: verdict.deniedBy })
        }
      }
      Catch(RateLimitException)(Filter)
      const module = RateLimitModule.forRoot({ limit: limit(1), name: 'all' })
      const url = await start({ module, filters: [new Filter()] })
      await fetch(`${url}/list`)
      const denied = await fetch(`${url}/list`)
      expect(denied.status).toBe(420)
      expect(denied.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await denied.json()).toEqual({ by: ['all'] })
      expect(denied.headers.get('retry-after')).toMatch(/^\d+$/)
    })

    it('an exception filter for all of HTTP can send the problem on, or write it down', async () => {
      const written: string[] = []
      class Filter implements ExceptionFilter {
        catch(exception: HttpException, host: ArgumentsHost) {
          respond(host, exception.getStatus(), exception.getResponse() as object)
          written.push(JSON.stringify(exception.getResponse()))
        }
      }
      Catch(HttpException)(Filter)
      const module = RateLimitModule.forRoot({ limit: limit(1), name: 'all' })
      const url = await start({ module, filters: [new Filter()] })
      await fetch(`${url}/list`)
      const denied = await fetch(`${url}/list`)
      expect(denied.status).toBe(429)
      expect(denied.headers.get('content-type')).toMatch(/^application\/problem\+json/)
      expect([await denied.text()]).toEqual(written)
    })

    it.each([
      ['/%zz', platform === 'fastify' ? 400 : 404],
      ['/items/%zz', 400],
    ])('limits %s, whose target cannot be decoded', async (path, status) => {
      const url = await start({
        module: RateLimitModule.forRoot({ limit: limit(2), name: 'all' }),
        controller: controllerWith('items/:id'),
      })
      expect(await left(url + path)).toEqual([status, { all: 1 }])
      expect(await left(`${url}/items/1`)).toEqual([200, { all: 0 }])
      const denied = await fetch(url + path)
      expect([denied.status, denied.headers.get('content-type')]).toEqual([
        429,
        expect.stringMatching(/^application\/problem\+json/),
      ])
    })

    it.runIf(platform === 'express')('limits bodies that cannot be read', async () => {
      const module = RateLimitModule.forRoot({ limit: limit(1), name: 'all' })
      const url = await start({ module })
      const headers = { 'content-type': 'application/json' }
      const post = async () => (await fetch(`${url}/list`, { method: 'POST', headers, body: '{' })).status
      expect([await post(), await post()]).toEqual([400, 429])
    })

    it('counts an error of a handler once', async () => {
      const fails = () => {
        throw new Error('boom')
      }
      const url = await start({
        module: RateLimitModule.forRoot({ limit: limit(9), name: 'all' }),
        controller: controllerWith('fails', undefined, fails),
      })
      expect(await left(`${url}/fails`)).toEqual([500, { all: 8 }])
      expect(await left(`${url}/fails`)).toEqual([500, { all: 7 }])
    })

    it.each<[options: unknown, message: RegExp]>([
      [[{ ttl: 60_000, limit: 10 }], /^NAME takes one object of options, got an array; .*fixedWindow\(\{ quota: 10/],
      [{ limit: limit(1), onDenied: () => {} }, /^NAME has no option 'onDenied'; .*RateLimitException/],
      [{ ttl: 60_000, limit: 10 }, /^NAME has no option 'ttl'; ttl is part of `limit` here/],
      [limit(1), /^NAME takes an object with the limit in it: NAME\(\{ limit \}\)/],
      [new Map(), /^NAME takes an object of options, as in NAME\(\{ limit \}\)/],
      [{}, /^NAME takes a limit, a limiter or a policy, got none of them/],
      [undefined, /^NAME takes \{ limit \}/],
    ])('forRoot(%j) says what to write, and names forRoot', async (options, message) => {
      const named = (name: string) => new RegExp(message.source.replaceAll('NAME', name))
      expect(() => RateLimitModule.forRoot(options as never)).toThrow(named('RateLimitModule.forRoot'))
      const later = RateLimitModule.forRootAsync({ useFactory: () => options as never })
      const [{ useFactory }] = later.providers as unknown as [{ useFactory(host: object): Promise<unknown> }]
      await expect(useFactory({})).rejects.toThrow(named('RateLimitModule.forRootAsync'))
    })

    it('RateLimitModule without forRoot does not start, because it would limit nothing', async () => {
      class AppModule {}
      Module({ imports: [RateLimitModule] })(AppModule)
      const starting = NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false })
      await expect(starting).rejects.toThrow(
        'RateLimitModule has no options and would limit nothing: import RateLimitModule.forRoot({ limit })',
      )
    })

    describe('@SkipRateLimit()', () => {
      const skipping = (controller = controllerWith('search', RateLimit({ limit: limit(1), name: 'search' }))) => {
        SkipRateLimit()(controller)
        return controller
      }
      const derivedFrom = (Base: Type, ...decorators: ClassDecorator[]) => {
        class Derived extends Base {}
        for (const each of [...decorators, Controller()]) each(Derived)
        return Derived
      }
      const all = { limit: limit(1), name: 'all' }

      it.each<[where: string, spec: () => Spec]>([
        ['a controller', () => ({ module: RateLimitModule.forRoot(all), controller: skipping() })],
        ['a controller, behind useGlobalGuards', () => ({ guards: [rateLimit(all)], controller: skipping() })],
        [
          'the controller that a controller extends',
          () => ({ module: RateLimitModule.forRoot(all), controller: derivedFrom(skipping()) }),
        ],
      ])('of %s frees its routes of every limit', async (_where, spec) => {
        const url = await start(spec())
        for (let i = 0; i < 3; i++) expect(await left(`${url}/search`)).toEqual([200, {}])
      })

      it('of a controller does not take the limit of a controller that extends it', async () => {
        const own = RateLimit({ limit: limit(5), name: 'own' })
        const controller = derivedFrom(skipping(controllerWith('search')), own)
        const url = await start({ module: RateLimitModule.forRoot({ ...all, limit: limit(9) }), controller })
        expect(await left(`${url}/search`)).toEqual([200, { all: 8, own: 4 }])
      })
    })

    describe('instead: true', () => {
      const all = RateLimitModule.forRoot({ limit: limit(9), name: 'all', status: 503 })
      const search = (instead: boolean) => RateLimit({ limit: limit(1), name: 'search', instead })
      const shopOf =
        (...decorators: ClassDecorator[]) =>
        (controller: Type) => {
          for (const each of decorators) each(controller)
          return controller
        }

      it('of a route replaces the limits of the application and of the controller, and inherits options', async () => {
        const shop = shopOf(RateLimit({ limit: limit(5), name: 'shop' }))
        const url = await start({ module: all, controller: shop(controllerWith('search', search(true))) })
        expect(await left(`${url}/search`)).toEqual([200, { search: 0 }])
        expect(await left(`${url}/search`)).toEqual([503, { search: 0 }])
        expect(await left(`${url}/nothing`)).toEqual([404, { all: 8 }])
      })

      it('of a controller replaces the limit of the application, and its routes add to it', async () => {
        const shop = shopOf(RateLimit({ limit: limit(5), name: 'shop', instead: true }))
        const url = await start({ module: all, controller: shop(controllerWith('search', search(false))) })
        expect(await left(`${url}/search`)).toEqual([200, { shop: 4, search: 0 }])
        expect(await left(`${url}/search`)).toEqual([503, { shop: 4, search: 0 }])
      })

      it('holds for a controller that extends another', async () => {
        const Base = shopOf(RateLimit({ limit: limit(5), name: 'shop', instead: true }))(controllerWith('search'))
        class Derived extends Base {}
        Controller()(Derived)
        const url = await start({ module: all, controller: Derived })
        expect(await left(`${url}/search`)).toEqual([200, { shop: 4 }])
      })

      it('of a controller replaces the limit of the controller that it extends', async () => {
        const Base = shopOf(RateLimit({ limit: limit(5), name: 'base' }))(controllerWith('search', search(false)))
        class Derived extends Base {}
        shopOf(RateLimit({ limit: limit(3), name: 'derived', instead: true }), Controller())(Derived)
        const url = await start({ module: all, controller: Derived })
        expect(await left(`${url}/search`)).toEqual([200, { derived: 2, search: 0 }])
        expect(await left(`${url}/search`)).toEqual([503, { derived: 2, search: 0 }])
      })

      it('replaces guards of useGlobalGuards too', async () => {
        const guards = [rateLimit({ limit: limit(9), name: 'all' }), rateLimit({ limit: limit(8), name: 'more' })]
        const url = await start({ guards, controller: controllerWith('search', search(true)) })
        expect(await left(`${url}/search`)).toEqual([200, { search: 0 }])
      })

      it('that is no boolean, or not of a route, is refused', () => {
        const wrong = { limit: limit(1), instead: 'yes' } as never
        expect(() => RateLimit(wrong)(class Shop {})).toThrow(
          "@RateLimit of Shop: instead must be true or false, got 'yes'",
        )
        const notOfRoute = { limit: limit(1), instead: true } as never
        expect(() => rateLimit(notOfRoute)).toThrow("rateLimit has no option 'instead'")
      })
    })

    describe('a limit of a route, behind a proxy', () => {
      const by = (client: string, more: object = {}) => ({ 'x-forwarded-for': client, ...more })
      const outer = { limit: limit(9), name: 'all', trustedProxies: ['127.0.0.1'] }

      it.each<[string, () => Spec]>([
        ['forRoot', () => ({ module: RateLimitModule.forRoot(outer) })],
        ['forRootAsync', () => ({ module: RateLimitModule.forRootAsync({ useFactory: () => outer }) })],
        ['useGlobalGuards', () => ({ guards: [rateLimit(outer)] })],
      ])('knows the clients as that of %s does', async (_how, spec) => {
        const url = await start(spec())
        expect(await left(`${url}/search`, by('203.0.113.1'))).toEqual([200, { all: 8, shop: 4, search: 0 }])
        expect((await left(`${url}/search`, by('203.0.113.1')))[0]).toBe(429)
        expect(await left(`${url}/search`, by('203.0.113.2'))).toEqual([200, { all: 8, shop: 4, search: 0 }])
      })

      it('skips the same requests, answers in the same way, and goes by the same key', async () => {
        const module = RateLimitModule.forRoot({
          ...outer,
          skip: ({ headers }: Fields) => headers['x-skip'] === 'yes',
          key: ({ headers }: Fields) => headers['x-user'],
          dialect: 'draft-6',
          status: 503,
        })
        const url = await start({ module })
        const skipped = by('203.0.113.1', { 'x-skip': 'yes' })
        for (let i = 0; i < 3; i++) expect(await left(`${url}/search`, skipped)).toEqual([200, {}])
        const statuses = []
        for (const user of ['a', 'a', 'b']) {
          statuses.push((await left(`${url}/search`, by('203.0.113.1', { 'x-user': user })))[0])
        }
        expect(statuses).toEqual([200, 503, 200])
        const told = await fetch(`${url}/list`)
        expect([told.headers.get('ratelimit'), told.headers.get('ratelimit-limit')]).toEqual([null, '5'])
      })

      it('tells its decisions to the same onDecision, and rateLimitOf has all of them', async () => {
        const told: unknown[] = []
        const onDecision = ({ allowed, levels }: Verdict, request: object) => {
          const sofar = rateLimitOf(request)?.levels.map(({ name }) => name)
          told.push([levels.map(({ name }) => name), allowed, sofar])
        }
        const url = await start({ module: RateLimitModule.forRoot({ ...outer, onDecision }) })
        await left(`${url}/search`, by('203.0.113.1'))
        expect(told).toEqual([
          [['all'], true, ['all']],
          [['shop'], true, ['all', 'shop']],
          [['search'], true, ['all', 'shop', 'search']],
        ])
        told.length = 0
        await left(`${url}/search`, by('203.0.113.1'))
        expect(told.at(-1)).toEqual([['search'], false, ['all', 'shop', 'search']])
        await left(`${url}/health`)
        expect(told).toHaveLength(3)
      })

      it('has its own say', async () => {
        const own = { limit: limit(1), name: 'search', trustedProxies: [], skip: () => false, status: 503 as const }
        const url = await start({
          module: RateLimitModule.forRoot({ ...outer, skip: () => true }),
          controller: controllerWith('search', RateLimit(own)),
        })
        expect(await left(`${url}/search`, by('203.0.113.1'))).toEqual([200, { search: 0 }])
        expect(await left(`${url}/search`, by('203.0.113.2'))).toEqual([503, { search: 0 }])
      })

      it('goes by the same clock, unless it has a store of its own', async () => {
        const clock = new ManualClock(Date.UTC(2026, 0, 1))
        const module = RateLimitModule.forRoot({ ...outer, clock })
        const hourly = { limit: fixedWindow({ quota: 1, window: '1h' }), name: 'search' }
        const url = await start({ module, controller: controllerWith('search', RateLimit(hourly)) })
        const own = { ...hourly, store: memoryStore() }
        const apart = await start({ module, controller: controllerWith('search', RateLimit(own)) })
        const status = async (at: string) => (await left(`${at}/search`, by('203.0.113.1')))[0]
        for (const at of [url, apart]) expect([await status(at), await status(at)]).toEqual([200, 429])
        clock.advance(3_600_000)
        expect([await status(url), await status(apart)]).toEqual([200, 429])
      })

      it('may set an option that needs an inherited one', async () => {
        const own = { limit: limit(1), name: 'search', forwardedIn: 'x-real-ip', onFailure: 'closed' as const }
        const url = await start({
          module: RateLimitModule.forRoot({ ...outer, store: laterStore() }),
          controller: controllerWith('search', RateLimit(own)),
        })
        const statuses = []
        for (const client of ['203.0.113.1', '203.0.113.1', '203.0.113.2']) {
          statuses.push((await left(`${url}/search`, { 'x-real-ip': client }))[0])
        }
        expect(statuses).toEqual([200, 429, 200])
      })

      it.each([
        ['forwardedIn', { forwardedIn: 'x-real-ip' }, 'give it trustedProxies'],
        ['onFailure', { onFailure: 'closed' as const }, 'give it a store'],
      ])('with %s and nothing to inherit from is on its own, and one warning says so', async (option, own, advice) => {
        const warnings: unknown[] = []
        const collect = ({ message, code }: Error & { code?: string }) =>
          code === 'SLUICE_ROUTE' && warnings.push(message)
        process.on('warning', collect)
        const limited = RateLimit({ limit: limit(2), name: 'search', ...own })
        const url = await start({ controller: controllerWith('search', limited) })
        const statuses = []
        for (let i = 0; i < 3; i++) statuses.push((await left(`${url}/search`))[0])
        process.off('warning', collect)
        expect(statuses).toEqual([200, 200, 429])
        expect(warnings).toEqual([expect.stringContaining(option)])
        expect(warnings).toEqual([expect.stringContaining(advice)])
      })

      it('inherits clock, expose, jitterMs and the prefix of IPv6', async () => {
        const clock = new ManualClock(Date.UTC(2026, 0, 1))
        const more = { clock, expose: true, jitterMs: 1e9, ipv6Prefix: 64 }
        const url = await start({ module: RateLimitModule.forRoot({ ...outer, ...more }) })
        const from = async (client: string) => (await left(`${url}/search`, by(client)))[0]
        const clients = ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:2::1']
        expect([await from(clients[0]), await from(clients[1]), await from(clients[2])]).toEqual([200, 429, 200])
        const denials = []
        for (let i = 0; i < 5; i++) denials.push((await fetch(`${url}/search`, { headers: by(clients[0]) })).headers)
        expect(denials[0].get('access-control-expose-headers')).toContain('Retry-After')
        expect(new Set(denials.map((headers) => headers.get('retry-after'))).size).toBeGreaterThan(1)
        clock.advance(100 * 86_400_000)
        expect(await from(clients[0])).toBe(200)
      })

      it('without a name of its own cannot use the store of the limit before it, and a warning says so', async () => {
        const warnings: unknown[] = []
        const collect = ({ message, code }: Error & { code?: string }) =>
          code === 'SLUICE_ROUTE' && warnings.push(message)
        process.on('warning', collect)
        const store = memoryStore()
        const url = await start({
          module: RateLimitModule.forRoot({ ...outer, store }),
          controller: controllerWith('search', RateLimit({ limit: limit(1) })),
        })
        expect([(await left(`${url}/search`))[0], (await left(`${url}/search`))[0]]).toEqual([200, 429])
        process.off('warning', collect)
        expect(store.size).toBe(1)
        expect(warnings).toEqual([expect.stringMatching(/^@RateLimit of One\.handle: it has no name/)])
      })

      it('may be a policy, which has a prefix of its own', async () => {
        const policy = createPolicy({ ipv6Prefix: 64, levels: [{ name: 'ip', key: ['ip'], limit: limit(1) }] })
        const url = await start({
          module: RateLimitModule.forRoot({ ...outer, ipv6Prefix: 48, key: () => 'one' }),
          controller: controllerWith('search', RateLimit({ policy })),
        })
        const statuses = []
        for (const client of ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:2::1']) {
          statuses.push((await left(`${url}/search`, by(client)))[0])
        }
        expect(statuses).toEqual([200, 429, 200])
      })

      it('with a mistake in it shows at once, under the names of the decorator and of what it decorates', () => {
        const decorate = RateLimit({ limits: limit(1) } as never)
        class Shop {
          search() {}
        }
        const search = Object.getOwnPropertyDescriptor(Shop.prototype, 'search') as PropertyDescriptor
        expect(() => decorate(Shop)).toThrow(InvalidTypeError)
        expect(() => decorate(Shop)).toThrow(/^@RateLimit of Shop: RateLimit has no option 'limits'/)
        expect(() => decorate(Shop.prototype, 'search', search)).toThrow(/^@RateLimit of Shop.search: RateLimit has no/)
      })

      it('is on its own without a limit before it', async () => {
        const url = await start({})
        expect((await left(`${url}/search`, by('203.0.113.1')))[0]).toBe(200)
        expect((await left(`${url}/search`, by('203.0.113.2')))[0]).toBe(429)
      })
    })
  })
}

/** A controller of one route. */
function controllerWith(path: string, decorator?: MethodDecorator, handle: () => unknown = () => 'done'): Type {
  class One {
    handle() {
      return handle()
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(One.prototype, 'handle') as PropertyDescriptor
  for (const each of [Get(path), decorator]) each?.(One.prototype, 'handle', descriptor)
  Controller()(One)
  return One
}
