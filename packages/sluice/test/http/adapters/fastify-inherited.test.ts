/** The options that a route's limit inherits from the limit before it. */
import { type FastifyInstance, type FastifyRequest, fastify as fastify5 } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { createLimiter, createPolicy, fixedWindow, InvalidTypeError, memoryStore } from 'sluice'
import { type FastifyOptions, rateLimit } from 'sluice/fastify'
import { parseRateLimit } from 'sluice/http'
import { ManualClock } from 'sluice/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { socketsTo } from './servers.js'

const limit = (quota: number) => fixedWindow({ quota, window: '1h' })
const all = { limit: limit(100), name: 'all', trustedProxies: ['127.0.0.1'] } satisfies FastifyOptions
const search = { limit: limit(1), name: 'search' } satisfies FastifyOptions

const sockets = socketsTo()

afterEach(async () => {
  vi.restoreAllMocks()
  await sockets.closeAll()
})

describe.each([
  ['fastify 5', fastify5],
  ['fastify 4', fastify4 as unknown as typeof fastify5],
])('a limit of a route, in %s', (_version, fastify) => {
  function withRoute(forAll: FastifyOptions, own: FastifyOptions): FastifyInstance {
    const app = fastify()
    app.register(rateLimit(forAll))
    // Routes that are told the same options share a limit, and these are to begin anew.
    app.get('/search', { config: { rateLimit: { ...own } } }, async () => 'found')
    return app
  }

  const ask = (app: FastifyInstance, client: string, headers: Record<string, string> = {}, url = '/search') =>
    sockets.send(app, url, { headers: { 'x-forwarded-for': client, ...headers } })

  async function statuses(app: FastifyInstance, ...clients: (string | [string, Record<string, string>])[]) {
    const codes: number[] = []
    for (const client of clients) {
      const [address, headers] = typeof client === 'string' ? [client, {}] : client
      codes.push((await ask(app, address, headers)).statusCode)
    }
    return codes
  }

  it('knows the clients behind a trusted proxy: one cannot lock it for all', async () => {
    const app = withRoute(all, search)
    expect(await statuses(app, '203.0.113.1', '203.0.113.1', '203.0.113.2')).toEqual([200, 429, 200])
  })

  it('reads the same field', async () => {
    const app = withRoute({ ...all, forwardedIn: 'x-client' }, search)
    const by = (client: string): [string, Record<string, string>] => ['198.51.100.1', { 'x-client': client }]
    expect(await statuses(app, by('203.0.113.1'), by('203.0.113.1'), by('203.0.113.2'))).toEqual([200, 429, 200])
  })

  it('knows clients of IPv6 by the same prefix', async () => {
    const app = withRoute({ ...all, ipv6Prefix: 64 }, search)
    const clients = ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:2::1']
    expect(await statuses(app, ...clients)).toEqual([200, 429, 200])
  })

  it('goes by the same clock, unless it has a store, a limiter or a policy, which have their own', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const app = withRoute({ ...all, clock }, search)
    expect(await statuses(app, '203.0.113.1', '203.0.113.1')).toEqual([200, 429])
    clock.advance(3_600_000)
    expect(await statuses(app, '203.0.113.1')).toEqual([200])
    const policy = createPolicy({ levels: [{ name: 'ip', key: ['ip'], limit: limit(1) }] })
    for (const own of [
      { ...search, store: memoryStore() },
      { limiter: createLimiter({ limit: limit(1) }) },
      { policy },
    ]) {
      expect(await statuses(withRoute({ ...all, clock }, own), '203.0.113.1', '203.0.113.1')).toEqual([200, 429])
    }
  })

  it('skips the same requests', async () => {
    const app = withRoute({ ...all, skip: ({ headers }: FastifyRequest) => headers['x-skip'] === 'yes' }, search)
    const skipped: [string, Record<string, string>] = ['203.0.113.1', { 'x-skip': 'yes' }]
    expect(await statuses(app, skipped, skipped, skipped, '203.0.113.1', '203.0.113.1')).toEqual([
      200, 200, 200, 200, 429,
    ])
  })

  it('goes by the same key', async () => {
    const app = withRoute({ ...all, key: ({ headers }: FastifyRequest) => headers['x-account'] as string }, search)
    const by = (account: string): [string, Record<string, string>] => ['203.0.113.1', { 'x-account': account }]
    expect(await statuses(app, by('a'), by('a'), by('b'))).toEqual([200, 429, 200])
  })

  it('answers in the same way', async () => {
    const onDenied: FastifyOptions['onDenied'] = (_request, reply) => reply.send('no')
    const app = withRoute({ ...all, dialect: ['draft', 'legacy'], status: 503, expose: true, onDenied }, search)
    await ask(app, '203.0.113.1')
    const { statusCode, body, headers } = await ask(app, '203.0.113.1')
    expect([statusCode, body]).toEqual([503, 'no'])
    expect(headers['x-ratelimit-limit']).toBe('1')
    expect(headers['access-control-expose-headers']).toContain('RateLimit')
  })

  it('tells its decisions to the same onDecision, allowed and denied', async () => {
    const told: unknown[] = []
    const onDecision: FastifyOptions['onDecision'] = ({ allowed, levels }, { url }) =>
      void told.push([url, levels.map(({ name }) => name), allowed])
    const app = withRoute({ ...all, onDecision }, search)
    await statuses(app, '203.0.113.1', '203.0.113.1')
    expect(told).toEqual([
      ['/search', ['all'], true],
      ['/search', ['search'], true],
      ['/search', ['all'], true],
      ['/search', ['search'], false],
    ])
  })

  it('adds as much to Retry-After', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const app = withRoute({ ...all, jitterMs: 100_000_000 }, search)
    await ask(app, '203.0.113.1')
    const { headers } = await ask(app, '203.0.113.1')
    expect(Number(headers['retry-after'])).toBeGreaterThan(50_000)
  })

  it('has its own say in each of these', async () => {
    const before = {
      ...all,
      skip: () => true,
      key: () => 'one',
      status: 503 as const,
      dialect: 'legacy' as const,
    }
    const own: FastifyOptions = {
      ...search,
      skip: () => false,
      key: ({ ip }: FastifyRequest) => ip,
      status: 429,
      dialect: 'draft',
      trustedProxies: [],
    }
    const app = withRoute(before, own)
    await ask(app, '203.0.113.1')
    const { statusCode, headers } = await ask(app, '203.0.113.2')
    expect(statusCode).toBe(429)
    expect(parseRateLimit(headers as Record<string, string>).quotas).toMatchObject([{ name: 'search', remaining: 0 }])
  })

  it('never inherits the rules: cost, settle, name', async () => {
    const app = withRoute({ ...all, cost: 7, settle: () => 9 }, { limit: limit(2) })
    const { headers } = await ask(app, '203.0.113.1')
    expect(parseRateLimit(headers as Record<string, string>).quotas).toMatchObject([
      { name: 'all', remaining: 93 },
      { name: 'default', remaining: 1 },
    ])
  })

  it('may be a policy, which has its own prefix, keys and store', async () => {
    const policy = createPolicy({ ipv6Prefix: 64, levels: [{ name: 'ip', key: ['ip'], limit: limit(1) }] })
    const before = { ...all, ipv6Prefix: 48, key: () => 'one', store: memoryStore() }
    const app = withRoute(before, { policy })
    const clients = ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:2::1']
    expect(await statuses(app, ...clients)).toEqual([200, 429, 200])
  })

  it('may come after a policy', async () => {
    const policy = createPolicy({ levels: [{ name: 'ip', key: ['ip'], limit: limit(9) }] })
    const app = withRoute({ policy, trustedProxies: ['127.0.0.1'] }, search)
    expect(await statuses(app, '203.0.113.1', '203.0.113.1', '203.0.113.2')).toEqual([200, 429, 200])
  })

  it('is on the same store, if it has a name of its own', async () => {
    const store = memoryStore()
    const app = withRoute({ ...all, store }, search)
    await ask(app, '203.0.113.1')
    expect(store.stats().keys).toBe(2)
  })

  it.each([
    ['no name', { limit: limit(1) }],
    ['the same name', { limit: limit(1), name: 'all' }],
  ])('with %s is in the memory of the process, and a warning says so', async (_what, own) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const store = memoryStore()
    const app = withRoute({ ...all, store }, own)
    expect(await statuses(app, '203.0.113.1', '203.0.113.1', '203.0.113.2')).toEqual([200, 429, 200])
    expect(store.stats().keys).toBe(2)
    expect(warned.mock.calls).toEqual([[expect.stringContaining("name: 'search'"), 'SluiceWarning', 'SLUICE_ROUTE']])
  })

  it('inherits from the nearest limit, whichever of both is registered first in its context', async () => {
    for (const isRouteFirst of [false, true]) {
      const app = fastify()
      app.register(rateLimit({ limit: limit(100), name: 'all' }))
      app.register(
        async (inner) => {
          const route = () => inner.get('/search', { config: { rateLimit: { ...search } } }, async () => 'found')
          if (isRouteFirst) route()
          await inner.register(rateLimit({ ...all, name: 'inner' }))
          if (!isRouteFirst) route()
        },
        { prefix: '/inner' },
      )
      app.get('/search', { config: { rateLimit: { ...search } } }, async () => 'found')
      const inner = async (client: string) => (await ask(app, client, {}, '/inner/search')).statusCode
      expect([await inner('203.0.113.1'), await inner('203.0.113.1'), await inner('203.0.113.2')]).toEqual([
        200, 429, 200,
      ])
      expect(await statuses(app, '203.0.113.1', '203.0.113.2')).toEqual([200, 429])
    }
  })

  it('inherits from a limit around its context', async () => {
    const app = fastify()
    app.register(rateLimit(all))
    app.register(async (outer) => {
      outer.register(rateLimit())
      outer.register(async (inner) => {
        inner.get('/search', { config: { rateLimit: { ...search } } }, async () => 'found')
      })
    })
    expect(await statuses(app, '203.0.113.1', '203.0.113.1', '203.0.113.2')).toEqual([200, 429, 200])
  })

  it('is its own in each context that it is inherited into, where routes share the options', async () => {
    const app = fastify()
    const own = { ...search }
    for (const [prefix, trustedProxies] of [
      ['/a', ['127.0.0.1']],
      ['/b', []],
    ] as const) {
      app.register(
        async (inner) => {
          inner.register(rateLimit({ limit: limit(9), trustedProxies: [...trustedProxies] }))
          inner.get('/search', { config: { rateLimit: own } }, async () => 'found')
        },
        { prefix },
      )
    }
    const code = async (client: string, prefix: string) => (await ask(app, client, {}, `${prefix}/search`)).statusCode
    expect([await code('203.0.113.1', '/a'), await code('203.0.113.2', '/a')]).toEqual([200, 200])
    expect([await code('203.0.113.1', '/b'), await code('203.0.113.2', '/b')]).toEqual([200, 429])
  })

  it('with a mistake in it does not start', async () => {
    const app = fastify()
    await app.register(rateLimit(all))
    const wrong = { ...search, trustedProxies: 'all' } as unknown as FastifyOptions
    expect(() => app.get('/search', { config: { rateLimit: wrong } }, async () => 'found')).toThrow(InvalidTypeError)
  })
})
