/** If the limit of a route denies, the limits before it get their units back, and their fields tell so. */
import 'reflect-metadata'
import { Controller, Get, type INestApplication, Module, type Type, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { concurrency, createLimiter, createPolicy, fixedWindow } from 'sluice'
import { parseRateLimit } from 'sluice/http'
import { type NestOptions, RateLimit, type RateLimitGuard, RateLimitModule, rateLimit } from 'sluice/nest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { laterStore } from './later-store.js'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })
const search = RateLimit({ name: 'search', limit: limit(1) })

interface Spec {
  readonly all: NestOptions
  readonly guards?: readonly RateLimitGuard[]
  readonly ofController?: readonly ClassDecorator[]
  readonly ofRoute?: readonly MethodDecorator[]
}

function controllerOf({ ofController = [], ofRoute = [search] }: Spec): Type {
  class Shop {
    search() {
      return 'found'
    }
    list() {
      return 'list'
    }
  }
  const decorate = (name: keyof Shop & string, decorators: readonly MethodDecorator[]) => {
    const descriptor = Object.getOwnPropertyDescriptor(Shop.prototype, name) as PropertyDescriptor
    for (const each of [Get(name), ...decorators]) each(Shop.prototype, name, descriptor)
  }
  decorate('search', ofRoute)
  decorate('list', [])
  for (const each of [...ofController, Controller()]) each(Shop)
  return Shop
}

/** Runs on one platform, in the version of Nest that this is imported with. */
export function nestGivenBackSuite(name: string, platform: 'express' | 'fastify'): void {
  async function start(spec: Spec): Promise<(path: string) => Promise<Response>> {
    class AppModule {}
    Module({ imports: [RateLimitModule.forRoot(spec.all)], controllers: [controllerOf(spec)] })(AppModule)
    const app: INestApplication =
      platform === 'express'
        ? await NestFactory.create(AppModule, { logger: false })
        : await NestFactory.create(AppModule, new FastifyAdapter() as never, { logger: false })
    onTestFinished(() => app.close())
    app.useGlobalGuards(...(spec.guards ?? []))
    await app.listen(0, '127.0.0.1')
    const origin = await app.getUrl()
    return (path) => fetch(origin + path)
  }

  async function left(response: Response) {
    const { quotas } = parseRateLimit(response.headers)
    return [response.status, Object.fromEntries(quotas.map(({ name, remaining }) => [name, remaining]))]
  }

  describe(name, () => {
    it.each<[string, () => NestOptions]>([
      ['a limit', () => ({ name: 'all', limit: limit(10) })],
      ['a limit that is a function', () => ({ name: 'all', limit: () => limit(10) })],
      ['a limit whose requests cost more', () => ({ name: 'all', limit: limit(12), cost: 3 })],
      ['a limiter', () => ({ limiter: createLimiter({ name: 'all', limit: limit(10) }) })],
      ['a policy', () => ({ policy: createPolicy({ levels: [{ name: 'all', key: 'ip', limit: limit(10) }] }) })],
      ['a limit on a store that answers later', () => ({ name: 'all', limit: limit(10), store: laterStore() })],
    ])("%s for all gets its units back if a route's limit denies, and tells so", async (_what, all) => {
      const get = await start({ all: all(), ofRoute: [RateLimit({ name: 'search', limit: limit(1), cost: 1 })] })
      expect(await left(await get('/search'))).toEqual([200, { all: 9, search: 0 }])
      for (let i = 0; i < 12; i++) expect(await left(await get('/search'))).toEqual([429, { all: 9, search: 0 }])
      expect((await get('/list')).status).toBe(200)
    })

    it('all limits before it get their units back: of the application and of the controller', async () => {
      const get = await start({
        all: { name: 'all', limit: limit(10) },
        guards: [rateLimit({ name: 'more', limit: limit(20) })],
        ofController: [RateLimit({ name: 'shop', limit: limit(5) }), RateLimit({ name: 'shop2', limit: limit(6) })],
      })
      const found = { all: 9, more: 19, shop: 4, shop2: 5, search: 0 }
      expect(await left(await get('/search'))).toEqual([200, found])
      for (let i = 0; i < 6; i++) expect(await left(await get('/search'))).toEqual([429, found])
      expect(await left(await get('/list'))).toEqual([200, { all: 8, more: 18, shop: 3, shop2: 4 }])
    })

    it('fields with room for one limit tell the limit that denied', async () => {
      const get = await start({ all: { name: 'all', limit: limit(10), dialect: ['draft', 'legacy'] } })
      await get('/search')
      const { headers } = await get('/search')
      expect(headers.get('x-ratelimit-remaining')).toBe('0')
      expect(headers.get('x-ratelimit-limit')).toBe('1')
      expect(headers.get('ratelimit')).toMatch(/^"all";r=9;t=\d+, "search";r=0;t=\d+$/)
    })

    it('a denied request holds no place of a concurrency limit', async () => {
      const limiter = createLimiter({ name: 'all', limit: concurrency({ max: 1, ttl: '1h' }) })
      const get = await start({ all: { limiter, key: () => 'one' } })
      await get('/search')
      for (let i = 0; i < 3; i++) expect((await get('/search')).status).toBe(429)
      expect(limiter.peek('one').remaining).toBe(1)
    })

    it('an error in the options of a route gives the units back too', async () => {
      const limiter = createLimiter({ name: 'all', limit: limit(10) })
      const fails = () => {
        throw new Error('no key')
      }
      const get = await start({
        all: { limiter, key: () => 'one' },
        ofRoute: [RateLimit({ name: 'search', limit: limit(1), key: fails })],
      })
      expect((await get('/search')).status).toBe(500)
      expect(limiter.peek('one').remaining).toBe(10)
    })

    it('a guard of the application that says no gives nothing back', async () => {
      const get = await start({
        all: { name: 'all', limit: limit(10) },
        ofRoute: [search, UseGuards({ canActivate: () => false })],
      })
      await get('/search')
      expect(await left(await get('/list'))).toEqual([200, { all: 8 }])
    })

    it('the denial is told all the same if the store fails to say what is left', async () => {
      const peek = () => Promise.reject(new Error('away'))
      const get = await start({
        all: { name: 'all', limit: limit(10), store: { ...laterStore(), peek } },
        ofRoute: [RateLimit({ name: 'search', limit: limit(1) })],
      })
      await get('/search')
      expect(await left(await get('/search'))).toEqual([429, { all: 8, search: 0 }])
    })
  })
}
