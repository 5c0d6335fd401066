import { type FastifyInstance, fastify } from 'fastify'
import { fixedWindow, InvalidTypeError } from 'sluice'
import { type FastifyOptions, type FastifyRouteConfig, rateLimit, routeLimit } from 'sluice/fastify'
import { parseRateLimit } from 'sluice/http'
import { afterEach, describe, expect, it } from 'vitest'
import { socketsTo } from './servers.js'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })

function withRoute(
  config: { rateLimit?: FastifyOptions | FastifyRouteConfig },
  plugin = rateLimit({ limit: limit(10), name: 'all' }),
) {
  const app = fastify()
  app.register(plugin)
  app.get('/search', { config }, async () => 'found')
  app.get('/other', async () => 'other')
  return app
}

async function left(app: FastifyInstance, url: string, method: 'GET' | 'HEAD' = 'GET') {
  const { statusCode, headers } = await sockets.send(app, url, { method })
  const { quotas } = parseRateLimit(headers as Record<string, string>)
  return [statusCode, Object.fromEntries(quotas.map(({ name, remaining }) => [name, remaining]))]
}

const sockets = socketsTo()
afterEach(() => sockets.closeAll())

describe('a limit of a route', () => {
  it('adds to the limit for all, and does not replace it', async () => {
    const app = withRoute({ rateLimit: { limit: limit(2), name: 'search' } })
    expect(await left(app, '/search')).toEqual([200, { all: 9, search: 1 }])
    expect(await left(app, '/other')).toEqual([200, { all: 8 }])
    expect(await left(app, '/search')).toEqual([200, { all: 7, search: 0 }])
  })

  it('may be made by routeLimit, which lets the compiler check it', async () => {
    const app = withRoute({ rateLimit: routeLimit({ limit: limit(2), name: 'search', instead: true }) })
    expect(await left(app, '/search')).toEqual([200, { search: 1 }])
    expect(await left(app, '/other')).toEqual([200, { all: 9 }])
  })

  it('denies without taking from the limit for all', async () => {
    const app = withRoute({ rateLimit: { limit: limit(1), name: 'search' } })
    await left(app, '/search')
    expect((await left(app, '/search'))[0]).toBe(429)
    expect((await left(app, '/search'))[0]).toBe(429)
    expect(await left(app, '/other')).toEqual([200, { all: 8 }])
  })

  it('is the same for GET and for the HEAD that comes with it', async () => {
    const app = withRoute({ rateLimit: { limit: limit(2), name: 'search' } })
    await left(app, '/search')
    expect(await left(app, '/search', 'HEAD')).toEqual([200, { all: 8, search: 0 }])
    expect((await left(app, '/search'))[0]).toBe(429)
  })

  it('works without one for all', async () => {
    const app = withRoute({ rateLimit: { limit: limit(1), name: 'search' } }, rateLimit())
    expect(await left(app, '/search')).toEqual([200, { search: 0 }])
    expect((await left(app, '/search'))[0]).toBe(429)
    expect(await left(app, '/other')).toEqual([200, {}])
  })

  it('works for routes of a plugin, which come later', async () => {
    const app = fastify()
    app.register(rateLimit({ limit: limit(10), name: 'all' }))
    app.register(async (inner) => {
      inner.get('/inner', { config: { rateLimit: { limit: limit(1), name: 'inner' } } }, async () => 'inner')
    })
    expect(await left(app, '/inner')).toEqual([200, { all: 9, inner: 0 }])
    expect((await left(app, '/inner'))[0]).toBe(429)
  })

  it('counts once where the plugin is registered twice', async () => {
    const app = withRoute({ rateLimit: { limit: limit(5), name: 'search' } })
    app.register(rateLimit({ limit: limit(20), name: 'more' }))
    expect(await left(app, '/search')).toEqual([200, { all: 9, more: 19, search: 4 }])
    expect(await left(app, '/search')).toEqual([200, { all: 8, more: 18, search: 3 }])
  })

  it('with a mistake in it does not start', async () => {
    const app = fastify()
    await app.register(rateLimit({ limit: limit(10) }))
    const wrong = { limits: limit(1) } as unknown as FastifyOptions
    expect(() => app.get('/search', { config: { rateLimit: wrong } }, async () => 'found')).toThrow(InvalidTypeError)
    expect(() => app.post('/shop/:id', { config: { rateLimit: { ...wrong } } }, async () => '')).toThrow(
      /^config.rateLimit of POST \/shop\/:id: rateLimit has no option 'limits'/,
    )
  })

  it('with a mistake in it, which shows with a request if the plugin comes later, names the route too', async () => {
    const app = fastify()
    const wrong = { limits: limit(1) } as unknown as FastifyOptions
    app.register(rateLimit({ limit: limit(10) }))
    app.get('/shop/:id', { config: { rateLimit: wrong } }, async () => 'found')
    const response = await app.inject('/shop/7')
    expect(response.statusCode).toBe(500)
    expect(response.json().message).toMatch(/^config.rateLimit of GET \/shop\/:id: rateLimit has no option 'limits'/)
  })
})

describe('the plugin in a wrong place', () => {
  it('registered as the function that makes it, it says how to register it', async () => {
    const app = fastify()
    app.register(rateLimit as never, { limit: limit(10) } as never)
    await expect(app.ready()).rejects.toThrow('write register(rateLimit({ limit })), not register(rateLimit, …)')
  })

  it('as a hook of a route, it answers with an error that says where the limit of a route belongs', async () => {
    const app = fastify()
    app.get('/search', { preHandler: rateLimit({ limit: limit(10) }) as never }, async () => 'found')
    const { statusCode, body } = await sockets.send(app, '/search')
    expect(statusCode).toBe(500)
    expect(JSON.parse(body).message).toContain("config: { rateLimit: { limit, name: 'search' } }")
  })
})
