import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readServeOptions } from '../../dist/serve/serve-options.js'
import { DOOR_STORES, type DoorStore } from '../serve/door-stores.js'
import { type Asked, ask, type GateService, startGate } from './gate-service.js'

const LEVELS = `
  - name: merchant
    key: [merchant]
    limit: { algorithm: token-bucket, capacity: 3, refill: 3/m }
  - name: ip
    when: { merchant: null }
    key: [ip]
    limit: { algorithm: token-bucket, capacity: 2, refill: 2/m }
  - name: charges
    when: { method: POST, path: /v1/charges }
    key: [ip]
    limit: { algorithm: token-bucket, capacity: 1, refill: 1/m }
`
const TRUSTED = { 'trusted-proxies': '127.0.0.1', 'gate-attributes': 'merchant=X-Merchant' }
const FORWARDED = { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/', 'x-forwarded-for': '192.0.2.1' }
const ORIGINAL = { 'x-original-method': 'GET', 'x-original-uri': '/', 'x-forwarded-for': '192.0.2.1' }

const running: GateService[] = []
let store: DoorStore = DOOR_STORES[0]

async function start(levels = LEVELS, options: Record<string, string> = TRUSTED) {
  const service = await startGate(levels, { ...(await store.settings()), ...options })
  running.push(service)
  const gate = (headers: OutgoingHttpHeaders, query = '', more: Asked = {}) =>
    ask(service.port, `/v1/gate${query}`, { headers, ...more })
  return { service, gate }
}

/** The tests of this block start their services on this store. */
function decideOn(each: DoorStore): void {
  beforeAll(() => {
    store = each
  })
  afterAll(async () => {
    store = DOOR_STORES[0]
    await each.stop()
  })
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()))
})

describe.each(DOOR_STORES)('a decision $where', (each) => {
  decideOn(each)

  test('is 204, or 429 with problem details, both with the quota', async () => {
    const { gate } = await start()
    const first = await gate(FORWARDED)
    expect(first.status).toBe(204)
    expect(first.headers.ratelimit).toBe('"ip";r=1;t=30')
    expect(first.headers['ratelimit-policy']).toBe('"ip";q=2;w=60')
    await gate(FORWARDED)
    const denied = await gate(FORWARDED)
    expect(denied.status).toBe(429)
    expect(denied.headers).toMatchObject({
      'retry-after': '30',
      ratelimit: '"ip";r=0;t=30',
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    })
    expect(JSON.parse(denied.body)).toMatchObject({ status: 429, 'violated-policies': ['ip'] })
  })

  test('has the status 403 with ?deny=403, and the same fields and body', async () => {
    const { gate } = await start()
    await gate(ORIGINAL)
    await gate(ORIGINAL)
    const denied = await gate(ORIGINAL, '?deny=403')
    expect(denied.status).toBe(403)
    expect(denied.headers['retry-after']).toBe('30')
    expect(JSON.parse(denied.body)).toMatchObject({ status: 429, 'violated-policies': ['ip'] })
  })

  test.each(['GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE', 'PROPFIND'])(
    'is made for a sub-request by %s',
    async (method) => {
      const { gate } = await start()
      expect((await gate(FORWARDED, '', { method })).status).toBe(204)
    },
  )

  test('is made for a sub-request with a body, or one that asks for a WebSocket', async () => {
    const { gate } = await start()
    expect((await gate(FORWARDED, '', { method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(204)
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', ...FORWARDED }
    expect((await gate(upgrade)).status).toBe(204)
  })

  test('ignores parameters that a client may have sent to the proxy', async () => {
    const { gate } = await start()
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) statuses.push((await gate(FORWARDED, '?cost=0&deny=200&merchant=acct_1')).status)
    expect(statuses).toEqual([204, 204, 429])
  })

  test('has no quota if no level matches', async () => {
    const { gate } = await start(
      '\n  - { name: a, key: [plan], limit: { algorithm: token-bucket, capacity: 1, refill: 1/s } }',
    )
    const answer = await gate({})
    expect(answer.status).toBe(204)
    expect(answer.headers.ratelimit).toBeUndefined()
  })
})

describe('the client of a request', () => {
  test('is told by the method, path and address that the proxy wrote', async () => {
    const { gate } = await start()
    const charge = { 'x-original-method': 'POST', 'x-original-uri': '/v1/charges?x=1' }
    expect((await gate({ ...charge, 'x-forwarded-for': '192.0.2.1' })).status).toBe(204)
    expect((await gate({ ...charge, 'x-forwarded-for': '192.0.2.1' })).status).toBe(429)
    expect((await gate({ ...charge, 'x-forwarded-for': '192.0.2.2' })).status).toBe(204)
    expect((await gate({ ...charge, 'x-original-method': 'GET', 'x-forwarded-for': '192.0.2.2' })).status).toBe(204)
  })

  test('is the last address that is not a trusted proxy', async () => {
    const { gate } = await start(LEVELS, { ...TRUSTED, 'trusted-proxies': '127.0.0.1,10.0.0.0/8' })
    const from = (addresses: string) => gate({ ...FORWARDED, 'x-forwarded-for': addresses })
    await from('198.51.100.1, 192.0.2.7, 10.1.1.1')
    await from('198.51.100.2, 192.0.2.7')
    expect((await from('198.51.100.3, 192.0.2.7:4711, 10.2.2.2')).status).toBe(429)
  })

  test.each([
    ['loopback', '198.51.100.3, 192.0.2.7', '198.51.100.4, 192.0.2.8'],
    ['private', '198.51.100.3, 192.0.2.7, 10.2.2.2', '192.0.2.8, 192.168.0.1'],
    ['hops=2', '198.51.100.3, 192.0.2.7, 203.0.113.1', '192.0.2.8, 203.0.113.1'],
    ['private,203.0.113.1', '198.51.100.3, 192.0.2.7, 203.0.113.1, 10.0.0.1', '192.0.2.8, 203.0.113.1'],
  ])('is found with --trusted-proxies %s', async (proxies, same, other) => {
    const { gate } = await start(LEVELS, { ...TRUSTED, 'trusted-proxies': proxies })
    const from = async (addresses: string) => (await gate({ ...FORWARDED, 'x-forwarded-for': addresses })).status
    for (let i = 0; i < 2; i++) expect(await from(same)).toBe(204)
    expect([await from(same), await from(other)]).toEqual([429, 204])
  })

  test('may be in other fields if --gate-attributes names them', async () => {
    const fields = 'ip=cf-connecting-ip,path=x-original-url,method=x-verb,merchant=x-merchant'
    const { gate } = await start(LEVELS, { ...TRUSTED, 'gate-attributes': fields })
    const request = {
      'cf-connecting-ip': '192.0.2.1',
      'x-original-url': 'https://api.example/v1/charges',
      'x-verb': 'POST',
    }
    expect((await gate({ ...request, 'x-merchant': 'acct_1' })).status).toBe(204)
    expect((await gate({ ...request, 'x-merchant': 'acct_1', 'x-forwarded-uri': '/free' })).status).toBe(429)
  })

  test('has attributes from the fields that --gate-attributes names, and from no other field', async () => {
    const { gate } = await start()
    const answer = await gate({ ...FORWARDED, 'x-merchant': 'acct_1', 'x-plan': 'free' })
    expect(answer.headers.ratelimit).toMatch(/^"merchant"/)
    const anonymous = await gate({ ...FORWARDED, 'x-merchant': '', merchant: 'acct_1' })
    expect(anonymous.headers.ratelimit).toMatch(/^"ip"/)
  })
})

describe('a peer that is not trusted', () => {
  test('is refused and takes nothing, whatever fields it sends', async () => {
    const { gate, service } = await start()
    for (let i = 0; i < 4; i++) {
      const refused = await gate({ ...FORWARDED, 'x-merchant': 'acct_1' }, '', { from: '127.0.0.2' })
      expect(refused.status).toBe(400)
      expect(refused.headers['content-type']).toBe('application/problem+json')
      expect(JSON.parse(refused.body)).toMatchObject({
        title: 'The peer is not a trusted proxy',
        detail: expect.stringContaining('--trusted-proxies'),
      })
      expect(refused.body).not.toContain('127.0.0.2')
    }
    expect((await gate(FORWARDED)).headers.ratelimit).toBe('"ip";r=1;t=30')
    expect(service.logged.filter(({ peer }) => peer === '127.0.0.2')).toHaveLength(1)
  })

  test('is every peer if no proxy is trusted', async () => {
    const { gate } = await start(LEVELS, {})
    expect((await gate(FORWARDED)).status).toBe(400)
  })
})

describe('a trusted proxy is told that', () => {
  test.each([
    ['x-forwarded-method', /asks about method: the proxy must send it as X-Original-Method or X-Forwarded-Method/],
    ['x-forwarded-uri', /asks about path: the proxy must send it as X-Original-Uri or X-Forwarded-Uri/],
    ['x-forwarded-for', /asks about ip: the proxy must send it as X-Forwarded-For/],
  ] as const)('a field that the policy needs is missing: %s', async (field, detail) => {
    const { gate } = await start()
    const { [field]: _, ...others } = FORWARDED
    const answer = await gate(others)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body).detail).toMatch(detail)
  })

  test('a client may have written the path, if there are two', async () => {
    const { gate } = await start()
    for (const headers of [
      { ...FORWARDED, 'x-original-uri': '/free' },
      { ...FORWARDED, 'x-original-method': 'GET' },
      { ...FORWARDED, 'x-forwarded-uri': ['/free', '/v1/charges'] },
    ]) {
      const answer = await gate(headers)
      expect(answer.status).toBe(400)
      expect(JSON.parse(answer.body).detail).toMatch(/more than one (?:path|method)/)
    }
  })

  test('a field that the policy does not need may be missing', async () => {
    const level = '\n  - { name: all, limit: { algorithm: token-bucket, capacity: 1, refill: 1/s } }'
    const { gate } = await start(level)
    expect((await gate({})).status).toBe(204)
    expect((await gate({})).status).toBe(429)
  })
})

test.each([
  ['open', 204],
  ['closed', 429],
])('while the store does not answer, the rule %s answers %i', async (rule, status) => {
  const { gate } = await start(LEVELS, { ...TRUSTED, store: 'redis://127.0.0.1:1', 'on-failure': rule })
  expect((await gate(FORWARDED)).status).toBe(status)
})

describe.each(DOOR_STORES)('a leaky bucket $where', (each) => {
  decideOn(each)

  const QUEUE = '\n  - { name: queue, limit: { algorithm: leaky-bucket, capacity: 2, drain: 5/s } }'

  test('answers the proxy when it is the turn of the request', async () => {
    const { gate } = await start(QUEUE)
    const startedMs = performance.now()
    const [first, second] = await Promise.all([gate({}), gate({})])
    expect([first.status, second.status]).toEqual([204, 204])
    expect(performance.now() - startedMs).toBeGreaterThan(190)
  })

  test('gives the turn of a proxy that went away to the next request', async () => {
    const { gate, service } = await start(
      '\n  - { name: q, limit: { algorithm: leaky-bucket, capacity: 2, drain: 1/h } }',
    )
    await gate({})
    const policy = service.service.policy
    const gone = connect(service.port, '127.0.0.1')
    gone.write('GET /v1/gate HTTP/1.1\r\nHost: x\r\n\r\n')
    while ((await policy.peek({})).levels[0].decision.remaining > 0) await new Promise(setImmediate)
    gone.destroy()
    await once(gone, 'close')
    while ((await policy.peek({})).levels[0].decision.remaining === 0) await new Promise(setImmediate)
  })
})

test.each([
  ['trusted-proxies', '10.0.0.1/8', /--trusted-proxies must be .*'10.0.0.0\/8'/],
  ['trusted-proxies', 'unix', /--trusted-proxies must be addresses and CIDR ranges .*, loopback, private, or hops=1/],
  ['trusted-proxies', 'localhost', /--trusted-proxies must be addresses .*, got 'localhost'/],
  ['trusted-proxies', 'hops=0', /--trusted-proxies must be .* hops=1 to hops=64, got 'hops=0'/],
  ['trusted-proxies', 'hops=65', /--trusted-proxies must be .* hops=1 to hops=64, got 'hops=65'/],
  ['trusted-proxies', 'hops', /--trusted-proxies must be .* hops=1 to hops=64, got 'hops'/],
  ['trusted-proxies', 'hops=1,hops=2', /--trusted-proxies must be a list with one { hops } at most, got 2/],
  ['trusted-proxies', '0.0.0.0/0', /--trusted-proxies must be the addresses of your own proxies/],
  ['gate-attributes', 'merchant', /--gate-attributes must name each attribute once .*merchant=x-merchant/],
  ['gate-attributes', 'a=x,a=y', /--gate-attributes must name each attribute once/],
  ['gate-attributes', 'a=x y', /--gate-attributes must name each attribute once/],
])('--%s %s is refused with what would be right', (name, value, message) => {
  expect(() => readServeOptions({ [name]: value }, {})).toThrow(message)
})
