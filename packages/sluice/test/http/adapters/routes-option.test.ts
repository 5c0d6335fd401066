/** The option `routes`: limits of routes, in adapters that do not know the routes of the application. */
import { createPolicy, fixedWindow, leakyBucket, memoryStore, unlimited, type Verdict } from 'sluice'
import { type Outcome, parseRateLimit, rateLimitOf } from 'sluice/http'
import { ManualClock } from 'sluice/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { rawRequests } from '../paths/raw-requests.js'
import type { LimitSpec, RouteSpec, RunningApp, StartApp } from './app.js'
import { startExpress4, startExpress5 } from './apps-on-express.js'
import { startFetch } from './apps-on-fetch.js'
import { startHono } from './apps-on-hono.js'
import { startKoa2, startKoa3 } from './apps-on-koa.js'
import { startNode } from './apps-on-node.js'
import { laterStore } from './later-store.js'
import { warningsOf } from './warnings-of.js'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })
const all = { limit: limit(9), name: 'all' }
/** The limit of a route, named for its numbers. */
const named = (name: string, quota = 2): RouteSpec => ({ name, limit: limit(quota) })
const instead = (name: string, quota = 2): RouteSpec => ({ ...named(name, quota), instead: true })

/** The third item says whether the server has made a URL of the target, so that the framework never sees the spelling. */
describe.each<[name: string, start: StartApp, hasUrl?: boolean]>([
  ['express 5', startExpress5],
  ['express 4', startExpress4],
  ['hono', startHono, true],
  ['koa 3', startKoa3],
  ['koa 2', startKoa2],
  ['node:http', startNode],
  ['fetch handlers', startFetch, true],
])('routes of %s', (_name, start, hasUrl = false) => {
  const started: RunningApp[] = []
  afterEach(async () => {
    await Promise.all(started.splice(0).map((each) => each.close()))
  })

  async function app(limits: LimitSpec, onHandled?: (path: string, request: object) => void) {
    const running = await start({ limits: [limits], ...(onHandled && { onHandled }) })
    started.push(running)
    return async (path: string, init: RequestInit = {}) => {
      const response = await fetch(running.origin + path, init)
      const body = await response.text()
      return { status: response.status, headers: response.headers, body }
    }
  }

  /** Makes a function that says the status of a response, and the units that are left by the names of limits. */
  async function quotasOf(limits: LimitSpec) {
    const ask = await app(limits)
    return async (path: string, init?: RequestInit) => {
      const { status, headers } = await ask(path, init)
      const { quotas } = parseRateLimit(headers)
      return [status, Object.fromEntries(quotas.map(({ name, remaining }) => [name, remaining]))]
    }
  }

  it('add to the limit before all', async () => {
    const left = await quotasOf({ ...all, routes: { 'GET /ok': named('ok') } })
    expect(await left('/ok?page=2')).toEqual([200, { all: 8, ok: 1 }])
    expect(await left('/nothing')).toEqual([404, { all: 7 }])
    expect(await left('/ok')).toEqual([200, { all: 6, ok: 0 }])
  })

  it('are for one method or for all, and GET is also HEAD', async () => {
    const left = await quotasOf({ ...all, routes: { 'get /ok': named('get'), '/cost': named('any') } })
    expect((await left('/ok', { method: 'POST' }))[1]).toEqual({ all: 8 })
    expect((await left('/ok', { method: 'HEAD' }))[1]).toEqual({ all: 7, get: 1 })
    expect((await left('/cost?units=1', { method: 'DELETE' }))[1]).toEqual({ all: 6, any: 1 })
    expect((await left('/cost?units=1'))[1]).toEqual({ all: 5, any: 0 })
  })

  it('replace the limit before all with instead: true', async () => {
    const left = await quotasOf({ ...all, routes: { '/ok': instead('ok') } })
    expect(await left('/ok')).toEqual([200, { ok: 1 }])
    expect(await left('/ok')).toEqual([200, { ok: 0 }])
    expect(await left('/ok')).toEqual([429, { ok: 0 }])
    expect(await left('/nothing')).toEqual([404, { all: 8 }])
  })

  it('are free with false', async () => {
    const left = await quotasOf({ limit: limit(1), name: 'all', routes: { '/ok': false } })
    for (let i = 0; i < 3; i++) expect(await left('/ok')).toEqual([200, {}])
    expect(await left('/nothing')).toEqual([404, { all: 0 }])
    expect(await left('/nothing')).toEqual([429, { all: 0 }])
    expect(await left('/ok')).toEqual([200, {}])
  })

  it('that a narrower route replaces or frees do not count, in whatever order they are written', async () => {
    const routes = { '/a/**': named('a'), '/a/b/**': instead('b'), '/a/b/c': named('c'), '/a/*/free': false } as const
    const reversed = Object.fromEntries(Object.entries(routes).reverse())
    for (const each of [routes, reversed]) {
      const left = await quotasOf({ ...all, routes: each })
      expect((await left('/a'))[1]).toEqual({ all: 8, a: 1 })
      expect((await left('/a/b'))[1]).toEqual({ b: 1 })
      expect((await left('/a/b/c'))[1]).toEqual({ b: 0, c: 1 })
      expect((await left('/a/x/free'))[1]).toEqual({})
      expect((await left('/a/x'))[1]).toEqual({ all: 7, a: 0 })
    }
  })

  it('with a method are narrower than the same path without one', async () => {
    const left = await quotasOf({
      ...all,
      routes: { 'POST /ok': named('post'), '/ok': false, '/cost': named('cost'), 'GET /cost': false },
    })
    expect((await left('/ok'))[1]).toEqual({})
    expect((await left('/ok', { method: 'POST' }))[1]).toEqual({ post: 1 })
    expect((await left('/cost?units=1'))[1]).toEqual({})
    expect((await left('/cost?units=1', { method: 'POST' }))[1]).toEqual({ all: 8, cost: 1 })
  })

  it('of which none is narrower than the other all count', async () => {
    const left = await quotasOf({
      ...all,
      routes: { '/x/*': named('x'), '/*/y': named('y'), 'GET /**': named('get', 9) },
    })
    expect((await left('/x/y'))[1]).toEqual({ all: 8, x: 1, y: 1, get: 8 })
    const free = await quotasOf({ ...all, routes: { '/x/*': false, '/*/y': named('y') } })
    expect((await free('/x/y'))[1]).toEqual({ y: 1 })
  })

  it.each([
    ['in memory', undefined],
    ['on a store that answers later', laterStore],
  ])('give the units back if one of them denies, and the fields tell so, %s', async (_where, storeOf) => {
    const store = storeOf?.()
    const routes = { '/**': named('wide', 8), '/ok': named('ok', 1) }
    const left = await quotasOf({ ...all, ...(store && { store }), routes })
    expect(await left('/ok')).toEqual([200, { all: 8, wide: 7, ok: 0 }])
    for (let i = 0; i < 2; i++) expect(await left('/ok')).toEqual([429, { all: 8, wide: 7, ok: 0 }])
    expect(await left('/nothing')).toEqual([404, { all: 7, wide: 6 }])
  })

  it('give the units back if one of them fails', async () => {
    const ask = await app({ ...all, routes: { '/ok': { ...named('ok'), broken: true } } })
    expect((await ask('/ok')).status).toBe(500)
    const { quotas } = parseRateLimit((await ask('/nothing')).headers)
    expect(quotas).toMatchObject([{ name: 'all', remaining: 8 }])
  })

  it('are not asked if the limit before all denies', async () => {
    const left = await quotasOf({
      limit: limit(1),
      name: 'all',
      routes: { '/ok': named('ok'), '/cost': instead('cost') },
    })
    await left('/nothing')
    expect(await left('/ok')).toEqual([429, { all: 0 }])
    expect(await left('/cost?units=1')).toEqual([200, { cost: 1 }])
  })

  it('inherit key, skip, dialect, status, onDenied, clock and store from the limit before all', async () => {
    const clock = new ManualClock(1_745_000_000_000)
    const before = { ...all, keyIn: 'x-user', skipIn: 'x-skip', status: 503, dialect: 'legacy', clock } as const
    const ask = await app({ ...before, denyWith: 'tea', routes: { '/ok': named('ok', 1) } })
    const as = (user: string, more = {}) => ask('/ok', { headers: { 'x-user': user, ...more } })
    expect([(await as('ann')).status, (await as('ann')).status, (await as('bob')).status]).toEqual([200, 418, 200])
    const denied = await as('ann')
    expect([denied.body, denied.headers.get('x-ratelimit-limit')]).toEqual(['tea', '1'])
    expect((await as('ann', { 'x-skip': 'yes' })).status).toBe(200)
    clock.advance(100 * 86_400_000)
    expect((await as('ann')).status).toBe(200)
    const store = memoryStore()
    const onStore = await app({ ...all, store, status: 503, routes: { '/ok': named('ok', 1) } })
    expect([(await onStore('/ok')).status, (await onStore('/ok')).status]).toEqual([200, 503])
    expect(store.stats().keys).toBe(2)
  })

  it('have their own say in each of these', async () => {
    const own = { ...named('ok', 1), keyIn: 'x-user', denyWith: 'coffee', status: 429 } as const
    const ask = await app({ ...all, denyWith: 'tea', status: 503, routes: { '/ok': own } })
    const as = (user: string) => ask('/ok', { headers: { 'x-user': user } })
    expect([(await as('ann')).status, (await as('ann')).body, (await as('bob')).status]).toEqual([200, 'coffee', 200])
  })

  it('are known as clients behind the same proxy', async () => {
    const before = { ...all, trustedProxies: 'loopback' } as const
    const ask = await app({ ...before, routes: { '/ok': named('ok', 1) } })
    const by = async (client: string) => (await ask('/ok', { headers: { 'x-forwarded-for': client } })).status
    expect([await by('192.0.2.1'), await by('192.0.2.1'), await by('192.0.2.2')]).toEqual([200, 429, 200])
  })

  it('warn if they have no name on the store of the limit before all', async () => {
    const warnings = await warningsOf(() =>
      app({ ...all, store: memoryStore(), routes: { '/ok': { limit: limit(1) } } }),
    )
    expect(warnings).toEqual([['SLUICE_ROUTE', expect.stringContaining("routes['/ok']: it has no name")]])
  })

  it('warn if they have the name of the limit before all, on its store', async () => {
    const warnings = await warningsOf(() =>
      app({ ...all, store: memoryStore(), routes: { 'POST /ok': named('all', 1) } }),
    )
    const text = "routes['POST /ok']: its name 'all' is that of the limit before it"
    expect(warnings).toEqual([['SLUICE_ROUTE', expect.stringContaining(text)]])
  })

  it('may be policies, costs and quotas of their own', async () => {
    const policy = createPolicy({ levels: [{ name: 'user', key: ['x-user'], limit: limit(5) }] })
    const routes = { '/ok': { policy, attributesIn: ['x-user'], costIn: 'x-cost' } }
    const left = await quotasOf({ ...all, routes })
    const headers = { 'x-user': 'ann', 'x-cost': '3' }
    expect(await left('/ok', { headers })).toEqual([200, { all: 8, user: 2 }])
    expect(await left('/ok', { headers })).toEqual([429, { all: 8, user: 2 }])
  })

  it('wait for the slowest of their limits', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const queue = { name: 'queue', limit: leakyBucket({ capacity: 2, drain: '1/h' }) }
    const ask = await app({ ...all, clock, routes: { '/ok': queue } })
    expect((await ask('/ok')).status).toBe(200)
    const second = ask('/ok')
    await expect.poll(() => clock.nextAlarmMs).toBe(Date.UTC(2026, 0, 1, 1))
    clock.advance(3_600_000)
    expect((await second).status).toBe(200)
  })

  it('give the units of all their limits back if the client goes away before its turn', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const queue = { name: 'queue', limit: leakyBucket({ capacity: 2, drain: '1/h' }) }
    const left = await quotasOf({ ...all, clock, routes: { '/ok': queue } })
    expect((await left('/ok'))[1]).toEqual({ all: 8, queue: 1 })
    const client = new AbortController()
    const second = left('/ok', { signal: client.signal })
    await expect.poll(() => clock.nextAlarmMs).toBe(Date.UTC(2026, 0, 1, 1))
    client.abort()
    await expect(second).rejects.toThrow()
    await expect.poll(() => clock.nextAlarmMs).toBe(undefined)
    expect((await left('/nothing'))[1]).toEqual({ all: 7 })
  })

  it('write their fields in their own dialects, and of one dialect with one place the limit with fewer units left', async () => {
    const routes = { '/ok': { ...named('ok'), dialect: 'legacy' }, '/cost': named('cost') } as const
    const { headers } = await (await app({ ...all, routes }))('/ok')
    expect([headers.get('ratelimit'), headers.get('x-ratelimit-remaining')]).toEqual([
      expect.stringMatching(/^"all";r=8;/),
      '1',
    ])
    const both = await app({ ...all, dialect: 'legacy', routes: { '/ok': named('ok', 99), '/cost': named('cost', 3) } })
    const remaining = async (path: string) => (await both(path)).headers.get('x-ratelimit-remaining')
    expect([await remaining('/ok'), await remaining('/cost?units=1')]).toEqual(['8', '2'])
  })

  it('settle each for itself', async () => {
    const settled: [string, number][] = []
    const settle = (name: string, units: number) => ({
      settle: ({ status }: Outcome) => {
        settled.push([name, status])
        return units
      },
    })
    const left = await quotasOf({
      ...all,
      ...settle('all', 4),
      routes: { '/ok': { ...named('ok'), ...settle('ok', 0) } },
    })
    await left('/ok')
    await expect
      .poll(() => settled)
      .toEqual([
        ['all', 200],
        ['ok', 200],
      ])
    await expect.poll(async () => (await left('/ok'))[1]).toMatchObject({ ok: 1 })
    expect(settled.length).toBeGreaterThan(2)
  })

  it('tell onDecision each decision, and rateLimitOf one verdict', async () => {
    const told: unknown[] = []
    const seen: unknown[] = []
    const namesOf = (verdict: Verdict | undefined) => verdict?.levels.map(({ name }) => name)
    const onDecision = (verdict: Verdict) => void told.push([namesOf(verdict), verdict.allowed])
    const routes = { '/ok': named('ok', 1), '/health': false } as const
    const ask = await app({ ...all, onDecision, routes }, (_path, request) => seen.push(namesOf(rateLimitOf(request))))
    for (const path of ['/ok', '/ok', '/health']) await ask(path)
    expect(told).toEqual([
      [['all'], true],
      [['ok'], true],
      [['all'], true],
      [['ok'], false],
    ])
    expect(seen).toEqual([['all', 'ok'], undefined])
  })

  it('may stand alone, behind an unlimited limit', async () => {
    const left = await quotasOf({ limit: unlimited(), name: 'all', routes: { '/ok': instead('ok') } })
    expect(await left('/ok')).toEqual([200, { ok: 1 }])
    expect((await left('/nothing'))[0]).toBe(404)
  })

  it('denied, are told with Retry-After and with the problem of the limit that denies', async () => {
    const ask = await app({ ...all, routes: { '/ok': named('ok', 1) } })
    await ask('/ok')
    const { status, headers, body } = await ask('/ok')
    expect([status, headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)])
    expect(JSON.parse(body)).toMatchObject({ 'violated-policies': ['ok'] })
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
  })

  it('add under every reading of a path, and take limits away only if all readings agree', async () => {
    const odd = ['/OK', '/ok/', '//ok', '/ok;x', '/%6fk', '/x/../ok', '/x/%2e%2e/ok', '/x%2f..%2fok', 'http://h/ok']
    const spellings = ['/ok', '/ok?page=2', ...odd]
    /** The limits that each spelling meets. */
    const metBy = async (routes: LimitSpec['routes']) => {
      const running = await start({ limits: [{ limit: limit(99), name: 'all', ...(routes && { routes }) }] })
      started.push(running)
      const met: Record<string, readonly string[]> = {}
      await rawRequests(running.port, 'GET', spellings, (target, { head }) => {
        const { quotas } = parseRateLimit({ ratelimit: /^ratelimit: (.*)$/im.exec(head)?.[1] ?? '' })
        met[target] = quotas.map(({ name }) => name ?? '')
      })
      return spellings.map((each) => met[each])
    }
    const isPlain = (each: string) =>
      !odd.includes(each) || (hasUrl && new URL(each, 'http://h/').href === 'http://h/ok')
    expect(await metBy({ '/ok': named('ok', 99) })).toEqual(spellings.map(() => ['all', 'ok']))
    expect(await metBy({ '/ok': instead('ok', 99) })).toEqual(
      spellings.map((each) => (isPlain(each) ? ['ok'] : ['all', 'ok'])),
    )
    expect(await metBy({ '/ok': false })).toEqual(spellings.map((each) => (isPlain(each) ? [] : ['all'])))
  })
})
