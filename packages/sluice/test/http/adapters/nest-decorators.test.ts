import 'reflect-metadata'
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type DynamicModule,
  type ExceptionFilter,
  Get,
  type INestApplication,
  Module,
  Next,
  type Type,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { fixedWindow } from 'sluice'
import { parseRateLimit } from 'sluice/http'
import { RateLimit, RateLimitException, RateLimitModule, SkipRateLimit } from 'sluice/nest'
import { afterEach, describe, expect, it } from 'vitest'

const limit = (quota: number) => fixedWindow({ quota, window: '1h' })

/** Decorators are functions, and the tests are compiled by a tool that does not know those of Nest. */
function controller(): Type {
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

describe('decorators of Nest', () => {
  let app: INestApplication

  async function start(rateLimitModule: DynamicModule, ...filters: ExceptionFilter[]): Promise<string> {
    class AppModule {}
    Module({ imports: [rateLimitModule], controllers: [controller()] })(AppModule)
    app = await NestFactory.create(AppModule, { logger: false })
    app.useGlobalFilters(...filters)
    await app.listen(0, '127.0.0.1')
    return app.getUrl()
  }

  afterEach(() => app?.close())

  async function left(url: string) {
    const { status, headers } = await fetch(url)
    const { quotas } = parseRateLimit(headers)
    return [status, Object.fromEntries(quotas.map(({ name, remaining }) => [name, remaining]))]
  }

  it('add to the limit for all, for a controller and for a route', async () => {
    const url = await start(RateLimitModule.forRoot({ limit: limit(9), name: 'all' }))
    expect(await left(`${url}/list`)).toEqual([200, { all: 8, shop: 4 }])
    expect(await left(`${url}/search`)).toEqual([200, { all: 7, shop: 3, search: 0 }])
    expect(await left(`${url}/search`)).toEqual([429, { all: 6, shop: 2, search: 0 }])
    expect(await left(`${url}/health`)).toEqual([200, {}])
  })

  it('leave what no route takes to the limit for all, and count once what a route passes on', async () => {
    const url = await start(RateLimitModule.forRoot({ limit: limit(9), name: 'all' }))
    expect(await left(`${url}/nothing`)).toEqual([404, { all: 8 }])
    expect(await left(`${url}/pass`)).toEqual([404, { all: 7, shop: 4 }])
  })

  it('go with a module whose options are made later', async () => {
    const useFactory = async () => ({ limit: limit(1), name: 'all' })
    const url = await start(RateLimitModule.forRootAsync({ useFactory }))
    expect((await left(`${url}/list`))[0]).toBe(200)
    expect((await left(`${url}/list`))[0]).toBe(429)
  })

  it('throw what an exception filter can catch', async () => {
    class Filter implements ExceptionFilter {
      catch({ verdict }: RateLimitException, host: ArgumentsHost) {
        host.switchToHttp().getResponse().status(420).json({ by: verdict.deniedBy })
      }
    }
    Catch(RateLimitException)(Filter)
    const url = await start(RateLimitModule.forRoot({ limit: limit(1), name: 'all' }), new Filter())
    await fetch(`${url}/list`)
    const denied = await fetch(`${url}/list`)
    expect(denied.status).toBe(420)
    expect(await denied.json()).toEqual({ by: ['all'] })
    expect(denied.headers.get('retry-after')).toMatch(/^\d+$/)
  })
})
