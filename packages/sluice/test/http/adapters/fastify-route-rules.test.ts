/** A route of Fastify adds to the limit for all routes, replaces it or is free, and a limit chooses its hook. */
import { type FastifyInstance, type FastifyRequest, fastify as fastify5 } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { fixedWindow } from 'sluice'
import { type FastifyOptions, type FastifyRouteOptions, rateLimit, rateLimitOf } from 'sluice/fastify'
import { parseRateLimit } from 'sluice/http'
import { afterEach, describe, expect, it } from 'vitest'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })
const all = { limit: limit(9), name: 'all' } satisfies FastifyOptions
const search = { limit: limit(2), name: 'search' } satisfies FastifyOptions

declare module 'fastify' {
  interface FastifyRequest {
    user?: string | undefined
  }
}

describe.each([
  ['fastify 5', fastify5],
  ['fastify 4', fastify4 as unknown as typeof fastify5],
])('limits of routes, in %s', (_version, fastify) => {
  let app: FastifyInstance
  let origin: string

  afterEach(() => app.close())

  async function start(build: (app: FastifyInstance) => unknown): Promise<void> {
    app = fastify()
    await build(app)
    origin = await app.listen({ port: 0, host: '127.0.0.1' })
  }

  /** The status, and the units left by the name of the limit. */
  async function left(path: string, headers: Record<string, string> = {}) {
    const response = await fetch(origin + path, { headers })
    const { quotas } = parseRateLimit(response.headers)
    return [response.status, Object.fromEntries(quotas.map(({ name, remaining }) => [name, remaining]))]
  }

  const withRoute =
    (forAll: FastifyOptions | undefined, own: FastifyRouteOptions | false) => (app: FastifyInstance) => {
      app.register(rateLimit(forAll))
      app.get('/search', { config: { rateLimit: own } }, async (request) => rateLimitOf(request)?.levels.length ?? 0)
      app.get('/other', async () => 'other')
    }

  describe('instead: true', () => {
    it('replaces the limit for all routes, also in denials, and takes nothing from it', async () => {
      await start(withRoute(all, { ...search, instead: true }))
      expect(await left('/search')).toEqual([200, { search: 1 }])
      expect(await left('/search')).toEqual([200, { search: 0 }])
      expect(await left('/search')).toEqual([429, { search: 0 }])
      expect(await left('/other')).toEqual([200, { all: 8 }])
    })

    it('still inherits options from the limit that it replaces', async () => {
      const forAll = {
        ...all,
        key: ({ headers }: FastifyRequest) => headers['x-user']?.toString(),
        status: 503,
      } as const
      await start(withRoute(forAll, { ...search, instead: true }))
      const statuses = []
      for (const user of ['a', 'a', 'a', 'b']) statuses.push((await left('/search', { 'x-user': user }))[0])
      expect(statuses).toEqual([200, 200, 503, 200])
    })

    it('replaces the limits of all plugins, in contexts around the route too', async () => {
      await start((app) => {
        app.register(rateLimit(all))
        app.register(async (inner) => {
          inner.register(rateLimit({ limit: limit(7), name: 'inner' }))
          inner.get('/search', { config: { rateLimit: { ...search, instead: true } } }, async () => 'found')
          inner.get('/other', async () => 'other')
        })
      })
      expect(await left('/search')).toEqual([200, { search: 1 }])
      expect(await left('/other')).toEqual([200, { all: 8, inner: 6 }])
    })

    it('that is false adds, as without it', async () => {
      await start(withRoute(all, { ...search, instead: false }))
      expect(await left('/search')).toEqual([200, { all: 8, search: 1 }])
    })

    it('that is no boolean, or is for all routes, is refused', async () => {
      app = fastify()
      await app.register(rateLimit(all))
      const config = { rateLimit: { ...search, instead: 'yes' as never } }
      expect(() => app.get('/search', { config }, async () => '')).toThrow("instead must be true or false, got 'yes'")
      const forAll = { ...search, instead: true } as FastifyOptions
      expect(() => rateLimit(forAll)).toThrow("rateLimit has no option 'instead'")
    })
  })

  it('false frees a route of every limit', async () => {
    await start(withRoute({ ...all, limit: limit(1) }, false))
    for (let i = 0; i < 3; i++) expect(await left('/search')).toEqual([200, {}])
    expect(await left('/other')).toEqual([200, { all: 0 }])
    expect(await left('/other')).toEqual([429, { all: 0 }])
  })

  describe('hook', () => {
    const key = ({ user }: FastifyRequest) => user
    const signIn = (app: FastifyInstance) =>
      app.addHook('preValidation', async (request) => {
        request.user = request.headers['x-user']?.toString()
      })

    it("onRequest, the default, decides before request.user is known, and 'preHandler' after", async () => {
      for (const [hook, statuses] of [
        [undefined, [200, 429]],
        ['onRequest', [200, 429]],
        ['preHandler', [200, 200]],
      ] as const) {
        await start((app) => {
          app.register(rateLimit({ limit: limit(1), key, ...(hook && { hook }) }))
          signIn(app)
          app.get('/', async () => 'hello')
        })
        const got = [(await left('/', { 'x-user': 'a' }))[0], (await left('/', { 'x-user': 'b' }))[0]]
        expect([hook, got]).toEqual([hook, statuses])
        if (hook === 'preHandler') expect((await left('/', { 'x-user': 'b' }))[0]).toBe(429)
        await app.close()
      }
    })

    it("'preHandler' sees the body, and limits what matches no route", async () => {
      await start((app) => {
        const account = ({ body }: FastifyRequest) => (body as { account?: string } | undefined)?.account
        app.register(rateLimit({ limit: limit(1), hook: 'preHandler', key: account }))
        app.post('/login', async () => 'in')
      })
      const login = async (account: string) => {
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({ account })
        return (await fetch(`${origin}/login`, { method: 'POST', headers, body })).status
      }
      expect([await login('a'), await login('a'), await login('b')]).toEqual([200, 429, 200])
      expect([(await left('/nothing'))[0], (await left('/nothing'))[0]]).toEqual([404, 429])
    })

    it('a route decides in its own hook, and inherits that of the limit for all', async () => {
      await start((app) => {
        app.register(rateLimit({ ...all, hook: 'preHandler' }))
        signIn(app)
        app.get('/mine', { config: { rateLimit: { ...search, limit: limit(1), key } } }, async () => 'mine')
        const early = { limit: limit(1), name: 'early', key, hook: 'onRequest', instead: true } as const
        app.get('/early', { config: { rateLimit: early } }, async () => 'early')
      })
      expect(await left('/mine', { 'x-user': 'a' })).toEqual([200, { all: 8, search: 0 }])
      expect(await left('/mine', { 'x-user': 'b' })).toEqual([200, { all: 7, search: 0 }])
      expect((await left('/mine', { 'x-user': 'b' }))[0]).toBe(429)
      expect([(await left('/early', { 'x-user': 'a' }))[0], (await left('/early', { 'x-user': 'b' }))[0]]).toEqual([
        200, 429,
      ])
    })

    it('all routes by address first, one route by user later: both count', async () => {
      await start((app) => {
        app.register(rateLimit(all))
        signIn(app)
        const mine = { ...search, limit: limit(1), key, hook: 'preHandler' } as const
        app.get('/mine', { config: { rateLimit: mine } }, async (request) => rateLimitOf(request)?.levels.length)
      })
      expect(await left('/mine', { 'x-user': 'a' })).toEqual([200, { all: 8, search: 0 }])
      expect(await left('/mine', { 'x-user': 'b' })).toEqual([200, { all: 7, search: 0 }])
      expect(await left('/mine', { 'x-user': 'b' })).toEqual([429, { all: 6, search: 0 }])
    })

    it('another text is refused', () => {
      app = fastify()
      expect(() => rateLimit({ ...all, hook: 'onSend' as never })).toThrow(
        "hook must be 'onRequest' or 'preHandler', got 'onSend'",
      )
    })
  })
})
