import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect as http2Connect } from 'node:http2'
import { connect } from 'node:net'
import { concurrency, createLimiter, createPolicy, fixedWindow, leakyBucket, memoryStore, tokenBucket } from 'sluice'
import { type Outcome, parseRateLimit, type TrustedProxies } from 'sluice/http'
import { ManualClock } from 'sluice/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { type AppSpec, CHUNK, type RunningApp, type StartApp } from './app.js'
import { decisionTests } from './decision-tests.js'
import { laterStore } from './later-store.js'
import { laterTests } from './later-tests.js'
import { pipelined } from './pipelined.js'
import { trapTests } from './trap-tests.js'

const five = fixedWindow({ quota: 5, window: '100d' })
const one = fixedWindow({ quota: 1, window: '100d' })

/** The status of a response, as each framework has it. */
interface AnyResponse {
  readonly statusCode?: number
  readonly status: number
}

/** Differences between frameworks. */
export interface Differences {
  readonly http2?: boolean
  /** Whether the adapter has `onDenied`. Nest has exception filters instead. */
  readonly onDenied?: boolean
}

/** Several requests on one connection, one after another. */
async function http2Statuses(origin: string, count: number): Promise<{ status: number; rateLimit: unknown }[]> {
  const session = http2Connect(origin)
  const answers = await Promise.all(
    Array.from({ length: count }, async () => {
      const stream = session.request({ ':path': '/ok' })
      const [headers] = await once(stream, 'response')
      stream.resume()
      await once(stream, 'close')
      return { status: Number(headers[':status']), rateLimit: headers.ratelimit }
    }),
  )
  session.close()
  return answers
}

/** The tests that every adapter passes, over real sockets. */
export function adapterSuite(name: string, start: StartApp, differences: Differences = {}): void {
  const { http2 = false, onDenied = true } = differences

  describe(name, () => {
    const started: RunningApp[] = []
    const app = async (spec: AppSpec) => {
      const running = await start(spec)
      started.push(running)
      return running
    }
    afterEach(async () => {
      await Promise.all(started.splice(0).map((each) => each.close()))
    })

    it('admits as many as the quota, and tells the rest when to come back', async () => {
      const { origin } = await app({ limits: [{ limit: tokenBucket({ capacity: 2, refill: '1/m' }) }] })
      const [first, second, denied] = [
        await fetch(`${origin}/ok`),
        await fetch(`${origin}/ok`),
        await fetch(`${origin}/ok`),
      ]
      expect([first.status, second.status, denied.status]).toEqual([200, 200, 429])
      expect(await first.text()).toBe('ok')
      expect(first.headers.get('ratelimit-policy')).toBe('"default";q=2;w=120')
      expect(first.headers.get('ratelimit')).toBe('"default";r=1;t=60')
      expect(first.headers.get('retry-after')).toBe(null)
      expect(denied.headers.get('ratelimit')).toMatch(/^"default";r=0;t=(59|60)$/)
      expect(denied.headers.get('retry-after')).toMatch(/^(59|60)$/)
      expect(denied.headers.get('cache-control')).toBe('no-store')
      expect(denied.headers.get('content-type')).toMatch(/^application\/problem\+json/)
      expect(await denied.json()).toMatchObject({ status: 429, 'violated-policies': ['default'] })
    })

    it('with blockFor, denies a key everything once it exceeds, and tells the end of the block', async () => {
      const clock = new ManualClock(1_745_000_000_000)
      const limit = tokenBucket({ capacity: 2, refill: '1/s' })
      const store = memoryStore({ clock })
      const { origin } = await app({ limits: [{ name: 'api', limit, store, keyIn: 'x-key', blockFor: '15m' }] })
      const ask = async (key: string) => {
        const { status, headers } = await fetch(`${origin}/ok`, { headers: { 'x-key': key } })
        return [status, headers.get('retry-after'), headers.get('ratelimit')]
      }
      const statuses = await Promise.all(Array.from({ length: 10 }, () => ask('a')))
      expect(statuses.filter(([status]) => status === 200)).toHaveLength(2)
      clock.advance(899_000)
      expect(await ask('a')).toEqual([429, '1', '"api";r=0;t=1'])
      expect(await ask('b')).toEqual([200, null, '"api";r=1;t=1'])
      clock.advance(1_000)
      expect((await ask('a'))[0]).toBe(200)
    })

    it('with a blockFor that grows, tells the end of each block', async () => {
      const clock = new ManualClock(1_745_000_000_000)
      const limit = tokenBucket({ capacity: 1, refill: '1/s' })
      const blockFor = { first: '1m', factor: 3, most: '5m', forget: '1h' } as const
      const { origin } = await app({ limits: [{ name: 'api', limit, store: memoryStore({ clock }), blockFor }] })
      const waits = []
      for (let i = 0; i < 4; i++) {
        expect((await fetch(`${origin}/ok`)).status).toBe(200)
        const denied = await fetch(`${origin}/ok`)
        waits.push(Number(denied.headers.get('retry-after')))
        clock.advance(waits[i] * 1_000)
      }
      expect(waits).toEqual([60, 180, 300, 300])
    })

    it('tells the quota on every response: not found, failed, HEAD, OPTIONS', async () => {
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 10, window: '100d' }) }] })
      const responses = [
        await fetch(`${origin}/ok`, { method: 'HEAD' }),
        await fetch(`${origin}/error`),
        await fetch(`${origin}/nothing`),
        await fetch(`${origin}/ok`, { method: 'OPTIONS' }),
      ]
      expect(responses[1].status).toBe(500)
      expect(responses[2].status).toBe(404)
      const remaining = responses.map(({ headers }) => parseRateLimit(headers).quotas[0].remaining)
      expect(remaining).toEqual([9, 8, 7, 6])
    })

    it('denies requests that match no route', async () => {
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 1, window: '100d' }) }] })
      expect((await fetch(`${origin}/nothing`)).status).toBe(404)
      const denied = await fetch(`${origin}/nothing`)
      expect(denied.status).toBe(429)
      expect(parseRateLimit(denied.headers).quotas[0].remaining).toBe(0)
      expect(await denied.json()).toMatchObject({ status: 429, 'violated-policies': ['default'] })
      expect((await fetch(`${origin}/ok`, { method: 'OPTIONS' })).status).toBe(429)
    })

    it('a denied HEAD has no body', async () => {
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 1, window: '100d' }) }] })
      await fetch(`${origin}/ok`)
      const denied = await fetch(`${origin}/ok`, { method: 'HEAD' })
      expect(denied.status).toBe(429)
      expect(await denied.text()).toBe('')
    })

    it.each([
      ['in memory', undefined],
      ['on a store that answers later', laterStore()],
    ])('of ten pipelined requests under a limit of five exactly five pass, %s', async (_where, store) => {
      const { port } = await app({ limits: [{ limit: five, name: 'five', ...(store && { store }) }] })
      const statuses = await pipelined(port, 10)
      expect(statuses.filter((status) => status === 200)).toHaveLength(5)
      expect(statuses.filter((status) => status === 429)).toHaveLength(5)
    })

    it('counts each request of a connection that is kept alive', async () => {
      const { origin } = await app({ limits: [{ limit: five }] })
      const statuses: number[] = []
      for (let i = 0; i < 7; i++) {
        const response = await fetch(`${origin}/ok`)
        statuses.push(response.status)
        await response.arrayBuffer()
      }
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
    })

    it('admits exactly the quota of many at once', async () => {
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 20, window: '100d' }) }] })
      const responses = await Promise.all(Array.from({ length: 60 }, () => fetch(`${origin}/ok`)))
      await Promise.all(responses.map((response) => response.arrayBuffer()))
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(20)
    })

    it('does not touch the body of a streaming response', async () => {
      const { origin } = await app({ limits: [{ limit: five, settle: () => 1 }] })
      const response = await fetch(`${origin}/stream`)
      expect(response.headers.get('ratelimit')).toMatch(/^"default";r=4;t=\d+$/)
      expect(await response.text()).toBe(CHUNK.repeat(3))
    })

    it('keeps keys apart, takes the cost of each request, and skips requests', async () => {
      const spec = { limit: five, keyIn: 'x-user', costIn: 'x-cost', skipIn: 'x-skip' }
      const { origin } = await app({ limits: [spec] })
      const status = async (headers: Record<string, string>) => (await fetch(`${origin}/ok`, { headers })).status
      expect(await status({ 'x-user': 'a', 'x-cost': '5' })).toBe(200)
      expect(await status({ 'x-user': 'a' })).toBe(429)
      expect(await status({ 'x-user': 'b', 'x-cost': '6' })).toBe(429)
      expect(await status({ 'x-user': 'b' })).toBe(200)
      const skipped = await fetch(`${origin}/ok`, { headers: { 'x-user': 'a', 'x-skip': 'yes' } })
      expect(skipped.status).toBe(200)
      expect(skipped.headers.get('ratelimit')).toBe(null)
    })

    it('limits a client with an empty key by its address', async () => {
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 1, window: '100d' }), keyIn: 'x-user' }] })
      const status = async (user: string) => (await fetch(`${origin}/ok`, { headers: { 'x-user': user } })).status
      expect([await status(''), await status(''), await status('a')]).toEqual([200, 429, 200])
    })

    it('no waiting helps a cost that is more than the quota: there is no Retry-After', async () => {
      const { origin } = await app({ limits: [{ limit: five, costIn: 'x-cost' }] })
      const denied = await fetch(`${origin}/ok`, { headers: { 'x-cost': '6' } })
      expect(denied.status).toBe(429)
      expect(denied.headers.get('retry-after')).toBe(null)
    })

    it('settles by status, by length and by setCost', async () => {
      const spec = {
        limit: fixedWindow({ quota: 10_000, window: '100d' }),
        name: 'settled',
        store: memoryStore(),
        settle: ({ status, length, cost }: { status: number; length: number; cost: number | undefined }) =>
          cost ?? (status >= 500 ? 0 : length),
      }
      const { origin } = await app({ limits: [spec] })
      const left = async () => {
        const response = await fetch(`${origin}/cost?units=0`)
        await response.text()
        return Number(parseRateLimit(response.headers).quotas[0].remaining) + 1
      }
      expect(await left()).toBe(10_000)
      await (await fetch(`${origin}/error`)).text()
      await expect.poll(left).toBe(10_000)
      await (await fetch(`${origin}/stream`)).text()
      await expect.poll(left).toBe(7_000)
      await (await fetch(`${origin}/cost?units=500`)).text()
      await expect.poll(left).toBe(6_500)
    })

    it('settle gets the request and the response of the framework', async () => {
      const handled: object[] = []
      const settled: [method: string, isSame: boolean, status: number][] = []
      const settle = ({ taken }: Outcome, request: object, response: AnyResponse) => {
        const { method } = 'req' in request ? (request.req as { method: string }) : (request as { method: string })
        const isSame = handled.includes(request) && isResponseOf(request, response)
        settled.push([method, isSame, response.statusCode ?? response.status])
        return taken
      }
      const { origin } = await app({
        limits: [{ limit: five, settle }],
        onHandled: (_path, request) => handled.push(request),
      })
      await (await fetch(`${origin}/ok`)).text()
      await expect.poll(() => settled).toEqual([['GET', true, 200]])
      await (await fetch(`${origin}/nothing`)).text()
      await expect.poll(() => settled[1]?.[2]).toBe(404)
    })

    it('a settle that looks at the status counts only failures', async () => {
      const settle = ({ status, taken }: Outcome) => (status === 500 ? taken : 0)
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 2, window: '100d' }), settle }] })
      const statusOf = async (path: string) => {
        const response = await fetch(origin + path)
        await response.arrayBuffer()
        return response.status
      }
      for (let i = 0; i < 5; i++) await expect.poll(() => statusOf('/ok')).toBe(200)
      await expect.poll(() => statusOf('/error')).toBe(500)
      await expect.poll(() => statusOf('/error')).toBe(500)
      await expect.poll(() => statusOf('/ok')).toBe(429)
      expect(await statusOf('/error')).toBe(429)
    })

    it('a client that goes away in the middle of a response is settled too', async () => {
      const outcomes: { completed: boolean; length: number }[] = []
      const settle = (outcome: { completed: boolean; length: number }) => {
        outcomes.push(outcome)
        return 1
      }
      const { origin } = await app({ limits: [{ limit: five, settle }] })
      const controller = new AbortController()
      const response = await fetch(`${origin}/endless`, { signal: controller.signal })
      await response.body?.getReader().read()
      controller.abort()
      await expect.poll(() => outcomes).toMatchObject([{ completed: false, length: CHUNK.length }])
    })

    it('settles a HEAD by setCost, too', async () => {
      const settle = ({ cost, taken }: { cost: number | undefined; taken: number }) => cost ?? taken
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 100, window: '100d' }), settle }] })
      const head = async () => {
        const { headers } = await fetch(`${origin}/cost?units=20`, { method: 'HEAD' })
        return parseRateLimit(headers).quotas[0].remaining
      }
      expect(await head()).toBe(99)
      await expect.poll(head).toBeLessThanOrEqual(80)
    })

    it('settles pipelined requests of a client that goes away before they are answered', async () => {
      const outcomes: unknown[] = []
      const settle = (outcome: unknown) => {
        outcomes.push(outcome)
        return 1
      }
      let entered = 0
      const { port } = await app({ limits: [{ limit: five, settle, onEnter: () => entered++ }] })
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      const paths = ['/endless', '/ok', '/ok']
      socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''))
      await expect.poll(() => entered).toBeGreaterThan(0)
      await once(socket, 'data')
      socket.destroy()
      await expect.poll(() => outcomes.length).toBe(entered)
    })

    it('a client that goes away before its response begins is settled as one that got nothing', async () => {
      const outcomes: { completed: boolean }[] = []
      const settle = (outcome: { completed: boolean }) => {
        outcomes.push(outcome)
        return 1
      }
      const handled: string[] = []
      const { port } = await app({ limits: [{ limit: five, settle }], onHandled: (path) => handled.push(path) })
      const gone = httpRequest({ port, path: '/ok?wait=yes', host: '127.0.0.1' })
      gone.on('error', () => {})
      gone.end()
      await expect.poll(() => handled.length).toBe(1)
      gone.destroy()
      await expect.poll(() => outcomes).toMatchObject([{ completed: false }])
    })

    it('waits for its turn in a leaky bucket', async () => {
      const handled: number[] = []
      const { origin } = await app({
        limits: [{ limit: leakyBucket({ capacity: 3, drain: '20/s' }) }],
        onHandled: () => handled.push(performance.now()),
      })
      const startedMs = performance.now()
      const responses = await Promise.all(Array.from({ length: 3 }, () => fetch(`${origin}/ok`)))
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(handled[2] - startedMs).toBeGreaterThanOrEqual(99)
    })

    it.each(['limit', 'policy'])('does not take the turn of a client that is gone, of a %s', async (kind) => {
      const handled: string[] = []
      let entered = 0
      const limit = leakyBucket({ capacity: 2, drain: '1/s' })
      const queue = kind === 'limit' ? { limit } : { policy: createPolicy({ levels: [{ name: 'queue', limit }] }) }
      const { origin, port } = await app({
        limits: [{ ...queue, onEnter: () => entered++ }],
        onHandled: (path) => handled.push(path),
      })
      await (await fetch(`${origin}/ok`)).text()
      const gone = httpRequest({ port, path: '/cost?units=0', host: '127.0.0.1' })
      gone.on('error', () => {})
      gone.end()
      await expect.poll(() => entered).toBe(2)
      gone.destroy()
      // It gets the turn of the client that is gone.
      await expect.poll(async () => (await fetch(`${origin}/ok`)).status, { interval: 5 }).toBe(200)
      expect(handled.map((path) => path.slice(0, 3))).toEqual(['/ok', '/ok'])
    })

    describe('no more at a time than a concurrency limit says', () => {
      const three = concurrency({ max: 3, ttl: '1h' })

      it.each([
        ['in memory', undefined],
        ['on a store that answers later', laterStore()],
      ])('of ten at once three run, and one more when one is gone, %s', async (_where, store) => {
        const limit = { limit: three, name: 'three', ...(store && { store }) }
        const { origin } = await app({ limits: [limit] })
        const calls = Array.from({ length: 10 }, () => {
          const controller = new AbortController()
          return { controller, response: fetch(`${origin}/endless`, { signal: controller.signal }) }
        })
        const responses = await Promise.all(calls.map(({ response }) => response))
        const running = calls.filter((_, i) => responses[i].status === 200)
        expect(running).toHaveLength(3)
        const denied = responses.find(({ status }) => status === 429)
        expect(denied?.headers.get('ratelimit-policy')).toBe('"three";q=3;qu="concurrent-requests"')
        expect(denied?.headers.get('ratelimit')).toBe('"three";r=0')
        expect(denied?.headers.get('retry-after')).toBe('1')
        running[0].controller.abort()
        await expect.poll(async () => (await fetch(`${origin}/ok`)).status).toBe(200)
        for (const { controller } of running) controller.abort()
      })

      it('the place is free after the response, an error, and a client that is gone', async () => {
        const handled: string[] = []
        const limit = concurrency({ max: 1, ttl: '1h' })
        const { origin, port } = await app({ limits: [{ limit }], onHandled: (path) => handled.push(path) })
        const status = async (path: string, method = 'GET') => {
          const response = await fetch(`${origin}${path}`, { method })
          await response.arrayBuffer()
          return response.status
        }
        for (let round = 0; round < 3; round++) {
          await expect.poll(() => status('/ok')).toBe(200)
          await expect.poll(() => status('/ok', 'HEAD')).toBe(200)
          await expect.poll(() => status('/stream')).toBe(200)
          await expect.poll(() => status('/error')).toBe(500)
        }
        await expect.poll(() => status('/ok')).toBe(200)
        handled.length = 0
        const gone = httpRequest({ port, path: '/ok?wait=yes', host: '127.0.0.1' })
        gone.on('error', () => {})
        gone.end()
        await expect.poll(() => handled.length).toBe(1)
        expect(await status('/ok')).toBe(429)
        gone.destroy()
        await expect.poll(() => status('/ok')).toBe(200)
      })

      it('as a level of a policy whose other units stay taken', async () => {
        const policy = createPolicy({
          levels: [
            { name: 'running', limit: concurrency({ max: 1, ttl: '1h' }) },
            { name: 'hour', limit: fixedWindow({ quota: 100, window: '100d' }) },
          ],
        })
        const { origin } = await app({ limits: [{ policy }] })
        const controller = new AbortController()
        await fetch(`${origin}/endless`, { signal: controller.signal })
        expect(await (await fetch(`${origin}/ok`)).json()).toMatchObject({ 'violated-policies': ['running'] })
        const remaining = () => policy.peek({}).levels.map(({ decision }) => decision.remaining)
        expect(remaining()).toEqual([0, 99])
        controller.abort()
        await expect.poll(remaining).toEqual([1, 99])
      })
    })

    decisionTests(app)
    laterTests(app)
    trapTests(app)

    it('adds its fields to those of another limiter', async () => {
      const { origin } = await app({
        limits: [
          { limit: five, name: 'hour', dialect: ['draft', 'legacy'] },
          { limit: fixedWindow({ quota: 3, window: '1d' }), name: 'day', dialect: ['draft', 'legacy'] },
        ],
      })
      const { headers } = await fetch(`${origin}/ok`)
      const quotas = parseRateLimit(headers).quotas.map(({ name, quota, remaining }) => [name, quota, remaining])
      expect(new Map(quotas.map(([name, ...rest]) => [name, rest]))).toEqual(
        new Map([
          ['hour', [5, 4]],
          ['day', [3, 2]],
        ]),
      )
      expect(headers.get('x-ratelimit-remaining')).toBe('2')
      expect(headers.get('x-ratelimit-limit')).toBe('3')
    })

    it('checks a policy by method, path, address and attributes', async () => {
      const policy = createPolicy({
        levels: [
          {
            name: 'ok',
            when: { method: 'GET', path: '/ok' },
            key: ['ip', 'x-user'],
            limit: fixedWindow({ quota: 1, window: '100d' }),
          },
          { name: 'all', limit: fixedWindow({ quota: 3, window: '100d' }) },
        ],
      })
      const { origin } = await app({ limits: [{ policy, attributesIn: ['x-user'], expose: true }] })
      const get = (path: string, user: string) => fetch(`${origin}${path}`, { headers: { 'x-user': user } })
      expect((await get('/ok?page=2', 'a')).status).toBe(200)
      const denied = await get('/ok', 'a')
      expect(denied.status).toBe(429)
      expect(await denied.json()).toMatchObject({ 'violated-policies': ['ok'] })
      expect(denied.headers.get('access-control-expose-headers')).toBe('RateLimit-Policy, RateLimit, Retry-After')
      expect((await get('/ok', 'b')).status).toBe(200)
      expect((await get('/cost?units=1', 'a')).status).toBe(200)
      expect(await (await get('/stream', 'a')).json()).toMatchObject({ 'violated-policies': ['all'] })
    })

    it('believes a proxy only if it is told to', async () => {
      const spec = { limit: fixedWindow({ quota: 1, window: '100d' }) }
      const [careful, behind] = [
        await app({ limits: [spec] }),
        await app({ limits: [{ ...spec, trustedProxies: ['127.0.0.0/8'] }] }),
      ]
      const from = async ({ origin }: RunningApp, address: string) =>
        (await fetch(`${origin}/ok`, { headers: { 'x-forwarded-for': address } })).status
      expect([await from(careful, '192.0.2.1'), await from(careful, '192.0.2.2')]).toEqual([200, 429])
      expect([await from(behind, '192.0.2.1'), await from(behind, '192.0.2.2')]).toEqual([200, 200])
      expect(await from(behind, '192.0.2.9, 192.0.2.1:4711')).toBe(429)
    })

    it.each<[how: string, trustedProxies: TrustedProxies]>([
      ['loopback', 'loopback'],
      ['private', 'private'],
      ['one hop', { hops: 1 }],
      ['a list of both kinds', ['203.0.113.0/24', { hops: 1 }]],
    ])('believes its proxy if it is told of %s', async (_how, trustedProxies) => {
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 1, window: '100d' }), trustedProxies }] })
      const from = async (addresses: string) =>
        (await fetch(`${origin}/ok`, { headers: { 'x-forwarded-for': addresses } })).status
      expect([await from('192.0.2.1'), await from('192.0.2.2')]).toEqual([200, 200])
      expect(await from('192.0.2.3, 192.0.2.1')).toBe(429)
    })

    it('believes two proxies if it is told of two hops, and not a third', async () => {
      const limit = fixedWindow({ quota: 1, window: '100d' })
      const { origin } = await app({ limits: [{ limit, trustedProxies: { hops: 2 } }] })
      const from = async (addresses: string) =>
        (await fetch(`${origin}/ok`, { headers: { 'x-forwarded-for': addresses } })).status
      expect([await from('192.0.2.1, 203.0.113.1'), await from('192.0.2.2, 203.0.113.1')]).toEqual([200, 200])
      expect(await from('192.0.2.3, 192.0.2.1, 203.0.113.2')).toBe(429)
    })

    it.each<[beside: string, spec: () => AppSpec['limits'][number]]>([
      ['limiter', () => ({ limiter: createLimiter({ limit: one }) })],
      ['policy', () => ({ policy: createPolicy({ levels: [{ name: 'ip', key: ['ip'], limit: one }] }) })],
    ])('tells skip the whole address of the client, beside a %s too', async (_beside, spec) => {
      const { origin } = await app({ limits: [{ ...spec(), trustedProxies: 'loopback', skipAddress: '2001:db8::7' }] })
      const from = async (address: string) =>
        (await fetch(`${origin}/ok`, { headers: { 'x-forwarded-for': address } })).status
      expect([await from('2001:DB8:0::7'), await from('[2001:db8::7]:443')]).toEqual([200, 200])
      expect([await from('2001:db8::8'), await from('2001:db8::9')]).toEqual([200, 429])
    })

    it('tells skip the whole address of the client, and key the client as it is counted', async () => {
      const clients: string[] = []
      const spec = {
        limit: fixedWindow({ quota: 1, window: '100d' }),
        trustedProxies: 'loopback' as const,
        skipAddress: '2001:db8::7',
        onClient: (client: string) => clients.push(client),
      }
      const { origin } = await app({ limits: [spec] })
      const from = async (address: string) =>
        (await fetch(`${origin}/ok`, { headers: { 'x-forwarded-for': address } })).status
      expect([await from('2001:DB8:0::7'), await from('[2001:db8::7]:443')]).toEqual([200, 200])
      expect([await from('2001:db8::8'), await from('2001:db8::9'), await from('192.0.2.1')]).toEqual([200, 429, 200])
      expect(clients).toEqual(['2001:db8::/56', '2001:db8::/56', '192.0.2.1'])
    })

    it('goes by a clock that a test moves', async () => {
      const clock = new ManualClock(Date.UTC(2026, 0, 1))
      const { origin } = await app({
        limits: [{ limit: fixedWindow({ quota: 1, window: '1h' }), dialect: 'legacy', clock }],
      })
      const [first, denied] = [await fetch(`${origin}/ok`), await fetch(`${origin}/ok`)]
      expect([first.status, denied.status, denied.headers.get('retry-after')]).toEqual([200, 429, '3600'])
      expect(denied.headers.get('x-ratelimit-reset')).toBe(String(Date.UTC(2026, 0, 1, 1) / 1_000))
      clock.advance(3_599_999)
      expect((await fetch(`${origin}/ok`)).status).toBe(429)
      clock.advance(1)
      expect((await fetch(`${origin}/ok`)).status).toBe(200)
    })

    it('goes by a clock that a test moves, if the limit is a function of the request', async () => {
      const clock = new ManualClock(Date.UTC(2026, 0, 1))
      const hourly = fixedWindow({ quota: 1, window: '1h' })
      const { origin } = await app({ limits: [{ limit: () => hourly, clock }] })
      const status = async () => (await fetch(`${origin}/ok`)).status
      expect([await status(), await status()]).toEqual([200, 429])
      clock.advance(3_600_000)
      expect(await status()).toBe(200)
    })

    it('lets a request of a leaky bucket go when the clock of the test says so', async () => {
      const clock = new ManualClock(Date.UTC(2026, 0, 1))
      const { origin } = await app({ limits: [{ limit: leakyBucket({ capacity: 2, drain: '1/h' }), clock }] })
      expect((await fetch(`${origin}/ok`)).status).toBe(200)
      const second = fetch(`${origin}/ok`)
      await expect.poll(() => clock.nextAlarmMs).toBe(Date.UTC(2026, 0, 1, 1))
      clock.advance(3_600_000)
      expect((await second).status).toBe(200)
    })

    it.runIf(onDenied)('answers a denied request with onDenied', async () => {
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 1, window: '100d' }), denyWith: 'tea' }] })
      await fetch(`${origin}/ok`)
      const denied = await fetch(`${origin}/ok`)
      expect(denied.status).toBe(418)
      expect(await denied.text()).toBe('tea')
      expect(denied.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(denied.headers.get('content-type') ?? '').not.toContain('problem')
    })

    it('answers with 503 if that is the status', async () => {
      const { origin } = await app({ limits: [{ limit: fixedWindow({ quota: 1, window: '100d' }), status: 503 }] })
      await fetch(`${origin}/ok`)
      const denied = await fetch(`${origin}/ok`)
      expect(denied.status).toBe(503)
      expect(await denied.json()).toMatchObject({
        status: 503,
        type: expect.stringMatching(/#temporary-reduced-capacity$/),
      })
    })

    it('a key function that throws is a server error, and no request passes', async () => {
      const handled: string[] = []
      const { origin } = await app({ limits: [{ limit: five, broken: true }], onHandled: (path) => handled.push(path) })
      expect((await fetch(`${origin}/ok`)).status).toBe(500)
      expect(handled).toEqual([])
    })

    it.runIf(http2)('limits streams of HTTP/2', async () => {
      const { origin } = await app({ limits: [{ limit: five }], http2: true })
      const answers = await http2Statuses(origin, 8)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
      expect(answers.every(({ rateLimit }) => /^"default";r=[0-4]/.test(String(rateLimit)))).toBe(true)
    })

    it.runIf(http2)('counts the bytes of a response of HTTP/2 once', async () => {
      const lengths: number[] = []
      const settle = ({ length }: { length: number }) => {
        lengths.push(length)
        return 1
      }
      const { origin } = await app({ limits: [{ limit: five, settle }], http2: true })
      await http2Statuses(origin, 1)
      await expect.poll(() => lengths).toEqual([2])
    })
  })
}

/** Whether both belong to each other, as far as a framework tells. Hono makes a response anew when it is over. */
function isResponseOf(request: object, response: object): boolean {
  if ('request' in response) return response.request === request
  return !('res' in request) || request.res instanceof Response || request.res === response
}
