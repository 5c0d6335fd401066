import { createLimiter, createPolicy, fixedWindow, memoryStore, type Store, type SyncStore } from 'sluice'
import { parseRateLimit } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import type { AppSpec, LimitSpec, RunningApp } from './app.js'
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

    it('keys that only look like addresses stay apart, without a warning', async () => {
      const running = await app({ limits: [{ limit: limit(1), keyIn: 'x-ip' }] })
      const keys = ['12::34', '12::35', '2001:7', '2001:8', 'user:2001:db8::1', 'user:2001:db8::2', '1234::5', 'a::b']
      const warnings = await warningsOf(async () => {
        for (const key of keys) expect((await get(running, { 'x-ip': key })).status).toBe(200)
      })
      expect(warnings).toEqual([])
    })

    it('every spelling of one network is one key', async () => {
      const running = await app({ limits: [{ limit: limit(1), keyIn: 'x-ip' }] })
      const spellings = [
        '2a02:0:0:1::1',
        '[2a02:0:0:2::1]',
        '[2a02:0:0:3::1]:443',
        '2A02:0000:0000:4:0:0:0:1',
        '2a02:0:0:5::192.0.2.1',
        '2a02::1:0:0:1',
      ]
      const statuses = []
      for (const ip of spellings) statuses.push((await get(running, { 'x-ip': ip })).status)
      expect(statuses).toEqual([200, 429, 429, 429, 429, 429])
      const others = ['fd00:1:2:3::1', 'fd00:1:2:4::1', 'fe80::1:2%eth0', 'fe80::1:3%eth0']
      for (const ip of others) statuses.push((await get(running, { 'x-ip': ip })).status)
      expect(statuses.slice(6)).toEqual([200, 429, 200, 429])
    })

    it.each([
      ['2600::1', '2600::2'],
      ['64:ff9b::192.0.2.1', '64:ff9b::192.0.2.2'],
    ])('%s may be an address or two names: it stays as it is, and one warning says so', async (...keys) => {
      const running = await app({ limits: [{ limit: limit(1), keyIn: 'x-ip' }] })
      const warnings = await warningsOf(async () => {
        for (const key of keys) expect((await get(running, { 'x-ip': key })).status).toBe(200)
      })
      expect(warnings).toEqual([['SLUICE_IPV6_KEY', expect.stringContaining('second argument')]])
    })

    it('a key with the IPv6 address of the client in it warns, and one with its network does not', async () => {
      const headers = { 'x-forwarded-for': '2001:db8::7' }
      const running = await app({ limits: [{ limit: limit(9), keyIn: 'x-key', trustedProxies: 'loopback' }] })
      const quiet = await warningsOf(() => get(running, { ...headers, 'x-key': '/login 2001:db8::/56' }))
      expect(quiet).toEqual([])
      const warnings = await warningsOf(async () => {
        for (let i = 0; i < 2; i++) await get(running, { ...headers, 'x-key': '/login 2001:db8::7' })
      })
      expect(warnings).toEqual([['SLUICE_IPV6_KEY', expect.stringContaining('a part of it is an IPv6 address')]])
    })

    it.each(['2600::1', '2001:db8::7', 'fd00::1'])('an attribute of a key that is the address %s warns', async (ip) => {
      const levels = [{ name: 'client', key: ['x-client', 'x-ip'], limit: limit(5) }]
      const attributesIn = ['x-client', 'x-ip']
      const running = await app({ limits: [{ policy: createPolicy({ levels }), attributesIn }] })
      const warnings = await warningsOf(async () => {
        for (const client of ['12::34', 'ann', ip, ip]) await get(running, { 'x-client': client, 'x-ip': '12::34' })
      })
      expect(warnings).toEqual([['SLUICE_IPV6_KEY', expect.stringContaining("Write 'ip' in the key of the level")]])
    })

    it('an attribute that is part of no key may be an address', async () => {
      const levels = [{ name: 'client', when: { 'x-client': '2600::1' }, limit: limit(5) }]
      const running = await app({ limits: [{ policy: createPolicy({ levels }), attributesIn: ['x-client'] }] })
      const warnings = await warningsOf(() => get(running, { 'x-client': '2600::1' }))
      expect(warnings).toEqual([])
    })

    const policy = () => createPolicy({ levels: [{ name: 'all', limit: limit(9) }] })
    const stored = (store = memoryStore()) => ({ limit: limit(9), name: 'all', store })
    const storedLater = (store = laterStore()) => ({ limit: limit(9), name: 'all', store })
    const twice = <One>(make: () => One) => {
      const one = make()
      return [one, one]
    }
    const madeOn = (store: Store) => ({
      limiter: createLimiter({ name: 'all', limit: limit(9), store: store as SyncStore }),
    })
    const limitersOnOneStore = (store: Store) => [madeOn(store), madeOn(store)]
    const policiesOnOneStore = (store: Store) => {
      const levels = [{ name: 'all', limit: limit(9) }]
      const make = () => createPolicy({ name: 'p', store: store as SyncStore, levels })
      return [{ policy: make() }, { policy: make() }]
    }
    it.each([
      ['limiter', () => twice(() => ({ limiter: createLimiter({ name: 'all', limit: limit(9) }) }))],
      ['name on one store', () => twice(stored)],
      ['name on one store that answers later', () => twice(storedLater)],
      ['name of limiters on one store', () => limitersOnOneStore(memoryStore())],
      ['name of limiters on one store that answers later', () => limitersOnOneStore(laterStore())],
      ['name of a limiter and of a limit on one store', (store = memoryStore()) => [madeOn(store), stored(store)]],
      [
        'name of a limiter and of a function as limit on one store',
        (store = memoryStore()) => [madeOn(store), { ...stored(store), limit: () => limit(9) }],
      ],
      ['policy', () => twice(() => ({ policy: policy() }))],
      ['name of policies on one store', () => policiesOnOneStore(memoryStore())],
      ['name of policies on one store that answers later', () => policiesOnOneStore(laterStore())],
    ])('the same %s met twice in one request counts once, and one warning says so', async (_what, make) => {
      const running = await app({ limits: make() })
      const left: unknown[] = []
      const warnings = await warningsOf(async () => {
        for (let i = 0; i < 3; i++) left.push((await get(running)).headers.get('ratelimit')?.match(/r=\d+/g))
      })
      expect(left).toEqual([['r=8'], ['r=7'], ['r=6']])
      expect(warnings).toEqual([['SLUICE_TWICE', expect.stringContaining('counts once')]])
    })

    it('of two limits with one name on one store the stricter one is not lost, whichever comes first', async () => {
      for (const quotas of [
        [50, 2],
        [2, 50],
      ]) {
        const store = memoryStore()
        const running = await app({ limits: quotas.map((quota) => ({ limit: limit(quota), name: 'all', store })) })
        const statuses: number[] = []
        const warnings = await warningsOf(async () => {
          for (let i = 0; i < 3; i++) statuses.push((await get(running)).status)
        })
        expect(statuses.slice(-1)).toEqual([429])
        expect(warnings.map(([code]) => code)).toEqual(['SLUICE_NAME'])
      }
    })

    it('the same limiter under two keys counts for both, without a warning', async () => {
      const limiter = createLimiter({ name: 'attempts', limit: limit(9) })
      const running = await app({ limits: [{ limiter, keyIn: 'x-account' }, { limiter }] })
      const warnings = await warningsOf(() => get(running, { 'x-account': 'a' }))
      expect([limiter.peek('a').remaining, limiter.peek('127.0.0.1').remaining]).toEqual([8, 8])
      expect(warnings).toEqual([])
    })

    describe('behind a limit that trusts a proxy', () => {
      const first = { limit: limit(99), name: 'first', trustedProxies: 'loopback' } as const
      const second = { limit: limit(1), name: 'second' }
      const statuses = async (limits: readonly LimitSpec[], headers: Record<string, string> = {}) => {
        const running = await app({ limits })
        const seen: number[] = []
        const warnings = await warningsOf(async () => {
          for (const client of ['192.0.2.1', '192.0.2.1', '192.0.2.2'])
            seen.push((await get(running, { 'x-forwarded-for': client, ...headers })).status)
        })
        expect(warnings).toEqual([])
        return seen
      }

      it('a limit that names no proxies knows the same clients', async () => {
        expect(await statuses([first, second])).toEqual([200, 429, 200])
        expect(await statuses([first, { ...second, limit: limit(9) }, { ...second, name: 'third' }])).toEqual([
          200, 429, 200,
        ])
      })

      it('it does so too if the first limit skips a request or has a key', async () => {
        const skipped = { 'x-skip': 'yes', 'x-user': 'one' }
        expect(await statuses([{ ...first, skipIn: 'x-skip' }, second], skipped)).toEqual([200, 429, 200])
        expect(await statuses([{ ...first, keyIn: 'x-user' }, second], skipped)).toEqual([200, 429, 200])
      })

      it('a policy knows them too', async () => {
        const policy = createPolicy({ levels: [{ name: 'ip', key: ['ip'], limit: limit(1) }] })
        expect(await statuses([first, { policy }])).toEqual([200, 429, 200])
      })

      it('a limit that trusts none counts connections', async () => {
        expect(await statuses([first, { ...second, trustedProxies: [] }])).toEqual([200, 429, 429])
      })
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
