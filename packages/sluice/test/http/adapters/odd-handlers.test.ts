import 'reflect-metadata'
import { createServer } from 'node:http'
import { HttpException } from '@nestjs/common'
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js'
import express from 'express'
import { rateLimit as otherLimit } from 'express-rate-limit'
import { Hono } from 'hono'
import Koa from 'koa'
import { concurrency, fixedWindow, leakyBucket } from 'sluice'
import { rateLimit as expressLimit } from 'sluice/express'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit as honoLimit } from 'sluice/hono'
import { parseRateLimit } from 'sluice/http'
import { rateLimit as koaLimit } from 'sluice/koa'
import { rateLimit as nestLimit } from 'sluice/nest'
import { rateLimit as nodeLimit } from 'sluice/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApplicationGuard } from '../../../src/http/adapters/application-guard.js'
import { serve } from './servers.js'

const quota = (units: number) => fixedWindow({ quota: units, window: '100d' })
const key = () => 'all'

async function started(listener: Parameters<typeof serve>[0]): Promise<string> {
  const app = await serve(listener)
  onTestFinished(() => app.close())
  return app.origin
}

async function remaining(url: string): Promise<number | undefined> {
  return parseRateLimit((await fetch(url)).headers).quotas[0]?.remaining
}

describe('handlers of Hono that make Responses themselves', () => {
  const limited = (max: number) => honoLimit({ limit: concurrency({ max, ttl: '1m' }), key })

  it.each(['/made', '/raw'])(
    'have the fields of both limiters, though one text begins like the other: %s',
    async (path) => {
      const app = new Hono()
      app.use(limited(2), limited(11))
      app.get('/made', (context) => context.text('x'))
      app.get('/raw', () => new Response('x'))
      const { headers } = await app.request(path)
      const { quotas } = parseRateLimit(headers)
      expect(quotas.map(({ remaining }) => remaining).sort()).toEqual([1, 10])
      expect(quotas.map(({ quota }) => quota).sort()).toEqual([11, 2])
    },
  )

  it('have their own field beside one that comes from elsewhere', async () => {
    const app = new Hono()
    app.use(limited(2))
    app.get('/', () => new Response('x', { headers: { RateLimit: '"default";r=10' } }))
    const { headers } = await app.request('/')
    expect(headers.get('ratelimit')).toBe('"default";r=10, "default";r=1')
    expect(headers.get('ratelimit-policy')).toBe('"default";q=2;qu="concurrent-requests"')
  })
})

describe('handlers of Requests', () => {
  const request = () => new Request('http://localhost/')

  it('may give the same Response again and again', async () => {
    const same = new Response(null, { status: 404 })
    const handler = fetchLimit({ limit: quota(9), key })(() => same)
    await handler(request())
    expect((await handler(request())).headers.get('ratelimit')).toMatch(/^"default";r=7;t=\d+$/)
    expect((await handler(request())).headers.get('ratelimit')).toMatch(/^"default";r=6;t=\d+$/)
  })

  it('that throw are settled as a failure, and throw', async () => {
    const settle = ({ status }: { status: number }) => (status >= 500 ? 0 : 1)
    const limited = fetchLimit({ limit: quota(100), key, cost: 10, settle })
    const broken = limited(() => {
      throw new Error('boom')
    })
    await expect(broken(request())).rejects.toThrow('boom')
    const { headers } = await limited(() => new Response('ok'))(request())
    expect(parseRateLimit(headers).quotas[0].remaining).toBe(90)
  })

  it('may deny in their own way: it is a denial all the same, and its type is theirs', async () => {
    const limited = fetchLimit({ limit: quota(1), key, onDenied: () => Response.json({ mine: 1 }) })
    const handler = limited(() => new Response('ok'))
    await handler(request())
    const denied = await handler(request())
    expect([denied.status, denied.headers.get('content-type')]).toEqual([429, 'application/json'])
    const wrong = fetchLimit({ limit: quota(1), key, onDenied: (() => undefined) as never })(() => new Response('ok'))
    await wrong(request())
    await expect(async () => wrong(request())).rejects.toThrow('onDenied must be a function that returns a Response')
  })
})

describe('koa', () => {
  it('an error that is thrown again and again tells the quota of now', async () => {
    const same = Object.assign(new Error('nope'), { status: 404, expose: true })
    const app = new Koa()
    app.silent = true
    app.use(koaLimit({ limit: quota(9), key }))
    app.use(() => {
      throw same
    })
    const origin = await started(app.callback())
    expect([await remaining(origin), await remaining(origin), await remaining(origin)]).toEqual([8, 7, 6])
  })

  it('a caller that waits for the handler goes on when the client is gone', async () => {
    let open = 0
    const app = new Koa()
    app.use(async (_context, next) => {
      open++
      try {
        await next()
      } finally {
        open--
      }
    })
    app.use(koaLimit({ limit: leakyBucket({ capacity: 5, drain: '1/h' }) }))
    app.use((context) => {
      context.body = 'ok'
    })
    const origin = await started(app.callback())
    await fetch(origin)
    const controller = new AbortController()
    const gone = fetch(origin, { signal: controller.signal }).catch(() => undefined)
    await expect.poll(() => open).toBe(1)
    controller.abort()
    await gone
    await expect.poll(() => open).toBe(0)
  })
})

describe('hono', () => {
  it('a denial has the fields that others have set', async () => {
    const app = new Hono()
    app.use(async (context, next) => {
      context.header('X-Mine', '1')
      await next()
    })
    app.use(honoLimit({ limit: quota(1), key }))
    app.get('/', (context) => context.text('ok'))
    await app.request('/')
    const denied = await app.request('/')
    expect([denied.status, denied.headers.get('x-mine')]).toEqual([429, '1'])
    expect(denied.headers.get('content-type')).toBe('application/problem+json')
  })

  it('a response that was fetched keeps its fields, and has ours', async () => {
    const upstream = await started(
      createServer((_request, response) => {
        response.setHeader('RateLimit', '"up";r=3;t=1')
        response.end('ok')
      }).listeners('request')[0] as Parameters<typeof serve>[0],
    )
    const app = new Hono()
    app.use(honoLimit({ limit: quota(9), key }))
    app.get('/', () => fetch(upstream))
    expect((await app.request('/')).headers.get('ratelimit')).toMatch(/^"up";r=3;t=1, "default";r=8;t=\d+$/)
  })
})

describe('express', () => {
  it('adds its fields to those of another library', async () => {
    const app = express()
    app.use(otherLimit({ limit: 7, windowMs: 60_000, standardHeaders: 'draft-8', legacyHeaders: false }))
    app.use(expressLimit({ limit: quota(9), key, name: 'ours' }))
    app.get('/', (_request, response) => void response.send('ok'))
    const { quotas } = parseRateLimit((await fetch(await started(app))).headers)
    expect(quotas.map(({ quota, remaining }) => [quota, remaining])).toEqual([
      [7, 6],
      [9, 8],
    ])
  })

  it('survives a denial after a handler has answered', async () => {
    const app = express()
    app.get('/', (_request, response, next) => {
      response.send('answered')
      next()
    })
    app.use(expressLimit({ limit: quota(1), key }))
    const origin = await started(app)
    for (let i = 0; i < 3; i++) expect(await (await fetch(origin)).text()).toBe('answered')
  })

  it('any thrown value is an error, and no request passes', async () => {
    let handled = 0
    const app = express()
    const broken = () => {
      throw undefined
    }
    app.use(expressLimit({ limit: quota(1), key: broken }), (_request, response) => {
      handled++
      response.send('ok')
    })
    app.use((_error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
      response.status(500).end()
    })
    expect((await fetch(await started(app))).status).toBe(500)
    expect(handled).toBe(0)
  })

  it('a key that reads like an address is not that address', async () => {
    const app = express()
    app.use(expressLimit({ limit: quota(1), key: (request) => request.get('x-key') }))
    app.get('/', (_request, response) => void response.send('ok'))
    const origin = await started(app)
    expect((await fetch(origin, { headers: { 'x-key': '127.0.0.1' } })).status).toBe(200)
    expect((await fetch(origin)).status).toBe(200)
    expect((await fetch(origin)).status).toBe(429)
  })
})

it('node: a request that cannot be decided on is answered with 500 and goes no further', async () => {
  let handled = 0
  const limited = nodeLimit({ limit: quota(1), key: () => Promise.reject(new Error('no database')) })
  const origin = await started((request, response) =>
    limited(request, response, () => {
      handled++
      response.end()
    }),
  )
  expect((await fetch(origin)).status).toBe(500)
  expect(handled).toBe(0)
})

it('nest: a context of GraphQL without its request is an error, and not a way around the limit', () => {
  class Resolver {
    query() {}
  }
  const context = new ExecutionContextHost([{}, {}, { user: 1 }, {}], Resolver, Resolver.prototype.query)
  context.setType('graphql')
  expect(() => nestLimit({ limit: quota(1), key }).canActivate(context)).toThrow(
    'needs req and res in the GraphQL context',
  )
})

it('nest: a query of GraphQL counts for each of its fields', () => {
  class Resolver {
    query() {}
  }
  const [request, response] = [
    { headers: {}, socket: {} },
    { getHeader() {}, setHeader() {}, appendHeader() {} },
  ]
  const context = new ExecutionContextHost(
    [{}, {}, { req: request, res: response }, {}],
    Resolver,
    Resolver.prototype.query,
  )
  context.setType('graphql')
  const guard = nestLimit({ limit: quota(2), key })
  expect([guard.canActivate(context), guard.canActivate(context)]).toEqual([true, true])
  expect(() => guard.canActivate(context)).toThrow(HttpException)
})

describe('nest: a handler that another module adds behind the limit, such as GraphQL', () => {
  function limited() {
    let before: (request: object, response: object, next: (error?: unknown) => void) => void = () => {}
    const httpAdapter = {
      getType: () => 'express',
      use: (middleware: typeof before) => {
        before = middleware
      },
    }
    const guard = nestLimit({ limit: quota(2), key: () => 'all' })
    const all = new ApplicationGuard({ httpAdapter } as never, guard as never)
    all.onModuleInit()
    return { all, enter: (request: object, response: object, next: () => void) => before(request, response, next) }
  }
  const response = { getHeader: () => undefined, setHeader: () => {}, appendHeader: () => {} }
  const contextOf = (type: string, first: unknown, req?: object) => ({
    getType: () => type,
    getHandler: () => limited,
    getClass: () => Object,
    getArgByIndex: () => ({ req, res: response }),
    switchToHttp: () => ({ getRequest: () => first, getResponse: () => response }),
  })

  it('is counted once', () => {
    const { all, enter } = limited()
    let passed = 0
    for (let i = 0; i < 2; i++) {
      const request = { method: 'POST', url: '/graphql', headers: {}, socket: {} }
      enter(request, response, () => passed++)
      expect(all.canActivate(contextOf('graphql', undefined, request) as never)).toBe(true)
      expect(all.canActivate(contextOf('http', request) as never)).toBe(true)
    }
    expect(passed).toBe(2)
    const third = { method: 'POST', url: '/graphql', headers: {}, socket: {} }
    expect(() => all.canActivate(contextOf('graphql', undefined, third) as never)).toThrow(HttpException)
  })

  it('passes where there is no request', () => {
    expect(limited().all.canActivate(contextOf('http', undefined) as never)).toBe(true)
    expect(limited().all.canActivate(contextOf('rpc', undefined) as never)).toBe(true)
  })
})
