import { createLimiter, createPolicy, fixedWindow, memoryStore } from 'sluice'
import { parseRateLimit } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import type { AppSpec, RunningApp } from './app.js'
import { laterStore } from './later-store.js'
import { warningsOf } from './warnings-of.js'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })

/** The tests of usual mistakes that every adapter passes. */
export function trapTests(app: (spec: AppSpec) => Promise<RunningApp>): void {
  describe('no trap stays silent', () => {
    const get = async ({ origin }: RunningApp, headers: Record<string, string> = {}) => {
      const response = await fetch(`${origin}/ok`, { headers })
      await response.arrayBuffer()
      return response
    }

    it.each([
      [undefined, [200, 429, 429, 200]],
      [64, [200, 429, 200, 200]],
      [128, [200, 429, 200, 200]],
    ])('a key that is an IPv6 address counts as its network of ipv6Prefix %j', async (ipv6Prefix, expected) => {
      const running = await app({
        limits: [{ limit: limit(1), keyIn: 'x-ip', ...(ipv6Prefix && { ipv6Prefix }) }],
      })
      const statuses = []
      for (const ip of ['2001:db8:0:1::1', '2001:0DB8:0:1::1', '2001:db8:0:2::1', '2001:db8:0:100::1'])
        statuses.push((await get(running, { 'x-ip': ip })).status)
      expect(statuses).toEqual(expected)
    })

    it('keys that only look like addresses stay apart', async () => {
      const running = await app({ limits: [{ limit: limit(1), keyIn: 'x-ip' }] })
      for (const key of ['12::34', '12::35', '2001:7', '2001:8', 'user:2001:db8::1', 'user:2001:db8::2'])
        expect((await get(running, { 'x-ip': key })).status).toBe(200)
    })

    const policy = () => createPolicy({ levels: [{ name: 'all', limit: limit(9) }] })
    const stored = (store = memoryStore()) => ({ limit: limit(9), name: 'all', store })
    const storedLater = (store = laterStore()) => ({ limit: limit(9), name: 'all', store })
    it.each([
      ['limiter', () => ({ limiter: createLimiter({ name: 'all', limit: limit(9) }) })],
      ['name on one store', stored],
      ['name on one store that answers later', storedLater],
      ['policy', () => ({ policy: policy() })],
    ])('the same %s met twice in one request counts once, and one warning says so', async (_what, make) => {
      const one = make()
      const running = await app({ limits: [one, one] })
      const left: unknown[] = []
      const warnings = await warningsOf(async () => {
        for (let i = 0; i < 3; i++) left.push((await get(running)).headers.get('ratelimit')?.match(/r=\d+/g))
      })
      expect(left).toEqual([['r=8'], ['r=7'], ['r=6']])
      expect(warnings).toEqual([['SLUICE_TWICE', expect.stringContaining('counts once')]])
    })

    it('the same limiter under two keys counts for both, without a warning', async () => {
      const limiter = createLimiter({ name: 'attempts', limit: limit(9) })
      const running = await app({ limits: [{ limiter, keyIn: 'x-account' }, { limiter }] })
      const warnings = await warningsOf(() => get(running, { 'x-account': 'a' }))
      expect([limiter.peek('a').remaining, limiter.peek('127.0.0.1').remaining]).toEqual([8, 8])
      expect(warnings).toEqual([])
    })

    it('two limits without names are told apart in the fields and in the body of a denial', async () => {
      const running = await app({ limits: [{ limit: limit(5) }, { limit: limit(1) }] })
      const admitted = parseRateLimit((await get(running)).headers).quotas
      expect(admitted.map(({ name }) => name).toSorted()).toEqual(['default', 'default#2'])
      expect(admitted.map(({ quota, remaining }) => [quota, remaining]).toSorted()).toEqual([
        [1, 0],
        [5, 4],
      ])
      const denied = await fetch(`${running.origin}/ok`)
      const { quotas } = parseRateLimit(denied.headers)
      const by = quotas.find(({ quota }) => quota === 1)?.name
      expect([denied.status, await denied.json()]).toMatchObject([429, { 'violated-policies': [by] }])
      expect(new Set(quotas.map(({ name }) => name)).size).toBe(quotas.length)
    })
  })
}
