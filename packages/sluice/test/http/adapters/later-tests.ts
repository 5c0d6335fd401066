import { concurrency, createPolicy, fixedWindow, leakyBucket, memoryStore, tokenBucket, unlimited } from 'sluice'
import { parseRateLimit } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import type { AppSpec, RunningApp } from './app.js'
import { laterStore } from './later-store.js'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })

/** The tests of functions among the options, synchronous and asynchronous, that every adapter passes. */
export function laterTests(app: (spec: AppSpec) => Promise<RunningApp>): void {
  describe.each([
    ['that answer at once', false],
    ['that answer later', true],
  ])('functions %s', (_when, later) => {
    const get = async ({ origin }: RunningApp, headers: Record<string, string> = {}) => {
      const response = await fetch(`${origin}/ok`, { headers })
      await response.arrayBuffer()
      const [quota] = parseRateLimit(response.headers).quotas
      return [response.status, quota?.remaining]
    }

    it.each([
      ['in memory', () => memoryStore()],
      ['on a store that answers later', () => laterStore()],
    ])('key, cost and skip, %s', async (_where, store) => {
      const spec = { limit: limit(5), name: 'five', keyIn: 'x-user', costIn: 'x-cost', skipIn: 'x-skip' }
      const running = await app({ limits: [{ ...spec, store: store(), later }] })
      expect(await get(running, { 'x-user': 'a', 'x-cost': '4' })).toEqual([200, 1])
      expect(await get(running, { 'x-user': 'a', 'x-cost': '2' })).toEqual([429, 1])
      expect(await get(running, { 'x-user': 'b' })).toEqual([200, 4])
      expect(await get(running, { 'x-user': 'a', 'x-cost': '2', 'x-skip': 'yes' })).toEqual([200, undefined])
    })

    it('an empty key is the address of the connection', async () => {
      const running = await app({ limits: [{ limit: limit(1), keyIn: 'x-user', later }] })
      expect(await get(running, { 'x-user': '' })).toEqual([200, 0])
      expect(await get(running, { 'x-user': '' })).toEqual([429, 0])
      expect(await get(running, { 'x-user': 'a' })).toEqual([200, 0])
    })

    it('attributes', async () => {
      const policy = createPolicy({ levels: [{ name: 'user', key: ['x-user'], limit: limit(1) }] })
      const running = await app({ limits: [{ policy, attributesIn: ['x-user'], later }] })
      const statuses = []
      for (const user of ['a', 'a', 'b']) statuses.push((await get(running, { 'x-user': user }))[0])
      expect(statuses).toEqual([200, 429, 200])
    })

    it('of many at once, exactly the quota is admitted', async () => {
      const running = await app({ limits: [{ limit: limit(5), keyIn: 'x-user', costIn: 'x-cost', later }] })
      const answers = await Promise.all(Array.from({ length: 20 }, () => get(running)))
      expect(answers.filter(([status]) => status === 200)).toHaveLength(5)
    })

    it('an error is a server error, and no request passes', async () => {
      const handled: string[] = []
      const running = await app({
        limits: [{ limit: limit(1), broken: true, later }],
        onHandled: (path) => handled.push(path),
      })
      expect((await get(running))[0]).toBe(500)
      expect(handled).toEqual([])
    })

    describe('a limit that is a function', () => {
      const plans = {
        free: limit(2),
        paid: limit(4),
        burst: tokenBucket({ capacity: 3, refill: '1/h' }),
        partner: unlimited(),
        shut: limit(0),
      }

      it.each([
        ['in memory', undefined],
        ['on a store that answers later', laterStore],
      ])('gives each request its own limit, %s', async (_where, store) => {
        const spec = { limitsIn: ['x-plan', plans], keyIn: 'x-user', later } as const
        const running = await app({ limits: [{ ...spec, ...(store && { store: store(), name: 'plan' }) }] })
        expect(await get(running, { 'x-user': 'a', 'x-plan': 'free' })).toEqual([200, 1])
        expect(await get(running, { 'x-user': 'b', 'x-plan': 'paid' })).toEqual([200, 3])
        expect(await get(running, { 'x-user': 'c', 'x-plan': 'burst' })).toEqual([200, 2])
        expect(await get(running, { 'x-user': 'a', 'x-plan': 'free' })).toEqual([200, 0])
        expect(await get(running, { 'x-user': 'a', 'x-plan': 'free' })).toEqual([429, 0])
        for (let i = 0; i < 5; i++)
          expect(await get(running, { 'x-user': 'd', 'x-plan': 'partner' })).toEqual([200, undefined])
        expect((await get(running, { 'x-user': 'd', 'x-plan': 'shut' }))[0]).toBe(429)
        // The state of a key stays when its numbers change.
        expect(await get(running, { 'x-user': 'a', 'x-plan': 'paid' })).toEqual([200, 1])
      })

      it('is told in the fields and in the body of a denial', async () => {
        const { origin } = await app({ limits: [{ limitsIn: ['x-plan', { one: limit(1) }], name: 'plan', later }] })
        const headers = { 'x-plan': 'one' }
        const admitted = await fetch(`${origin}/ok`, { headers })
        expect(admitted.headers.get('ratelimit-policy')).toBe('"plan";q=1;w=8640000')
        const denied = await fetch(`${origin}/ok`, { headers })
        expect(denied.headers.get('retry-after')).toMatch(/^\d+$/)
        expect(await denied.json()).toMatchObject({ status: 429, 'violated-policies': ['plan'] })
      })

      it('may be a queue or so many at once', async () => {
        const queue = leakyBucket({ capacity: 2, drain: '50/s' })
        const limits = { queue, places: concurrency({ max: 1, ttl: '1h' }) }
        const running = await app({ limits: [{ limitsIn: ['x-plan', limits], keyIn: 'x-plan', later }] })
        const statuses = await Promise.all(Array.from({ length: 2 }, () => get(running, { 'x-plan': 'queue' })))
        expect(statuses.map(([status]) => status)).toEqual([200, 200])
        for (let i = 0; i < 3; i++)
          await expect.poll(async () => (await get(running, { 'x-plan': 'places' }))[0]).toBe(200)
      })

      it('is settled', async () => {
        const running = await app({ limits: [{ limitsIn: ['x-plan', plans], settle: () => 0, later }] })
        for (let i = 0; i < 5; i++)
          await expect.poll(async () => (await get(running, { 'x-plan': 'free' }))[0]).toBe(200)
      })

      it('that returns no limit is a server error', async () => {
        const running = await app({ limits: [{ limitsIn: ['x-plan', plans], later }] })
        expect((await get(running, { 'x-plan': 'unknown' }))[0]).toBe(500)
      })
    })
  })
}
