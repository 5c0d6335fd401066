/** If a route's limit denies, the limit for all routes gets its units back, and its fields tell so. */
import { type FastifyInstance, fastify } from 'fastify'
import { createLimiter, createPolicy, fixedWindow, leakyBucket, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { type FastifyOptions, rateLimit, rateLimitOf } from 'sluice/fastify'
import { parseRateLimit } from 'sluice/http'
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startRedisStores } from '../redis/redis-stores.js'
import { laterStore } from './later-store.js'

const limit = fixedWindow({ quota: 10, window: '100d' })

async function start(forAll: FastifyOptions, own: Partial<FastifyOptions> = {}): Promise<() => Promise<Response>> {
  const app: FastifyInstance = fastify()
  onTestFinished(() => app.close())
  app.register(rateLimit(forAll))
  const search = { name: 'search', limit: fixedWindow({ quota: 1, window: '100d' }), ...own } as FastifyOptions
  app.get('/search', { config: { rateLimit: search } }, async () => 'found')
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return () => fetch(`${origin}/search`)
}

async function left(response: Response) {
  const { quotas } = parseRateLimit(response.headers)
  return [response.status, Object.fromEntries(quotas.map(({ name, remaining }) => [name, remaining]))]
}

/** What each of three requests is told: one is found, and two are denied. */
async function expectGivenBack(forAll: FastifyOptions): Promise<void> {
  const search = await start(forAll)
  expect(await left(await search())).toEqual([200, { all: 9, search: 0 }])
  for (let i = 0; i < 2; i++) expect(await left(await search())).toEqual([429, { all: 9, search: 0 }])
}

describe("if a route's limit denies, the limit for all routes tells the units that it got back", () => {
  it.each([
    ['a limit', () => ({ name: 'all', limit })],
    ['a limit that is a function', () => ({ name: 'all', limit: () => limit })],
    [
      'a limit whose requests cost more',
      () => ({ name: 'all', limit: fixedWindow({ quota: 12, window: '100d' }), cost: 3 }),
    ],
    ['a limiter', () => ({ limiter: createLimiter({ name: 'all', limit }) })],
    ['a policy', () => ({ policy: createPolicy({ levels: [{ name: 'all', key: 'ip', limit }] }) })],
    ['a limit on a store that answers later', () => ({ name: 'all', limit, store: laterStore() })],
    [
      'a policy on a store that answers later',
      () => ({ policy: createPolicy({ name: 'p', levels: [{ name: 'all', key: 'ip', limit }], store: laterStore() }) }),
    ],
  ] as const)('%s', async (_what, forAll) => {
    await expectGivenBack(forAll())
  })

  describe('on Redis', () => {
    let redis: Awaited<ReturnType<typeof startRedisStores>>
    beforeAll(async () => {
      redis = await startRedisStores()
    })
    afterAll(() => redis?.stop())

    it('a limit and a policy', async () => {
      await expectGivenBack({ name: 'all', limit, store: await redis.store() })
      const levels = [{ name: 'all', key: 'ip', limit }] as const
      await expectGivenBack({ policy: createPolicy({ name: 'p', levels, store: await redis.store() }) })
    })
  })

  it.each([
    tokenBucket({ capacity: 10, refill: '10/h' }),
    leakyBucket({ capacity: 10, drain: '1000/s' }),
    slidingWindow({ quota: 10, window: '100d' }),
    slidingLog({ quota: 10, window: '100d' }),
  ])('as a look at it says, with every field: $algorithm', async (each) => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const limiter = createLimiter({ name: 'all', limit: each, clock })
    const search = await start({ limiter, key: () => 'ann', dialect: ['draft', 'draft-6'] }, { dialect: 'draft' })
    await search()
    clock.advance(60_000)
    const response = await search()
    const { remaining, resetAfterMs } = limiter.peek('ann')
    expect((await left(response))[1]).toMatchObject({ all: remaining })
    expect(response.headers.get('ratelimit-remaining')).toBe(String(remaining))
    expect(response.headers.get('ratelimit-reset')).toBe(String(Math.ceil(resetAfterMs / 1000)))
  })

  it('rateLimitOf tells the same', async () => {
    let told: unknown
    const onDenied: FastifyOptions['onDenied'] = (request, reply) => {
      told = rateLimitOf(request)?.levels.map(({ name, decision }) => [name, decision.allowed, decision.remaining])
      return reply.send('no')
    }
    const search = await start({ name: 'all', limit, onDenied })
    for (let i = 0; i < 2; i++) await search()
    expect(told).toEqual([
      ['all', true, 9],
      ['search', false, 0],
    ])
  })

  it('and the denial is told all the same if the store fails to say', async () => {
    const store = laterStore()
    const peek = () => Promise.reject(new Error('away'))
    const search = await start({ name: 'all', limit, store: { ...store, peek } })
    await search()
    expect(await left(await search())).toEqual([429, { all: 8, search: 0 }])
  })
})
