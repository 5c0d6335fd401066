import { Hono } from 'hono'
import { fixedWindow } from 'sluice'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit as honoLimit } from 'sluice/hono'
import { clientAddress, type TrustedProxies, trustedProxies } from 'sluice/http'
import type { rateLimit } from 'sluice/node'
import { beforeEach, describe, expect, it } from 'vitest'
import { limitedServer, processWarnings, settled, statusOf } from '../attacks/limited-server.js'

const CLIENT = '198.51.100.1'

/** The client of a request from this connection, whose proxies wrote this list. */
function from(remoteAddress: string | undefined, list: string | undefined, proxies: TrustedProxies): string {
  return clientAddress({ trustedProxies: proxies, ipv6Prefix: 128 })(remoteAddress, () => list)
}

describe('a name stands for CIDR ranges', () => {
  const loopback = ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1']
  const networks = ['10.0.0.1', '172.16.0.1', '172.31.255.254', '192.168.1.1', 'fd00::1', 'fc00::1', '::ffff:10.0.0.1']
  const others = ['8.8.8.8', '172.32.0.1', '172.15.0.1', '192.169.0.1', '169.254.1.1', '100.64.0.1', 'fe80::1', '::2']
  const believed = (proxies: TrustedProxies) => (address: string) => from(address, CLIENT, proxies) === CLIENT

  it('loopback is this machine', () => {
    expect(loopback.filter(believed('loopback'))).toEqual(loopback)
    expect([...networks, ...others].filter(believed('loopback'))).toEqual([])
  })

  it('private is this machine and private networks, and neither link-local addresses nor those of providers', () => {
    expect([...loopback, ...networks].filter(believed('private'))).toEqual([...loopback, ...networks])
    expect(others.filter(believed('private'))).toEqual([])
  })

  it('names and ranges mix in a list', () => {
    const proxies: TrustedProxies = ['loopback', 'unix', '203.0.113.0/24']
    expect(from('127.0.0.1', `${CLIENT}, 203.0.113.9`, proxies)).toBe(CLIENT)
    expect(from(undefined, `${CLIENT}, 203.0.113.9, ::1`, proxies)).toBe(CLIENT)
    expect(from('10.0.0.1', CLIENT, proxies)).toBe('10.0.0.1')
    expect(from(undefined, CLIENT, 'unix')).toBe(CLIENT)
  })
})

describe('hops count from the connection, whatever the addresses', () => {
  it.each<[hops: number, list: string | undefined, client: string]>([
    [1, CLIENT, CLIENT],
    [1, `192.0.2.66, ${CLIENT}`, CLIENT],
    [2, `${CLIENT}, 203.0.113.9`, CLIENT],
    [2, `192.0.2.66, ${CLIENT}, 203.0.113.9`, CLIENT],
    [3, `192.0.2.66, ${CLIENT}, 203.0.113.9, 10.0.0.1`, CLIENT],
    // Fewer proxies than hops have written: the first address is the furthest that is known.
    [3, CLIENT, CLIENT],
    [1, undefined, '203.0.113.1'],
    [1, '', '203.0.113.1'],
    // A proxy that does not say where a request comes from counts as the client.
    [1, 'unknown', '203.0.113.1'],
    [2, `${CLIENT}, unknown`, '203.0.113.1'],
  ])('%i of %s', (hops, list, client) => {
    expect(from('203.0.113.1', list, { hops })).toBe(client)
    expect(from('203.0.113.1', list, [{ hops }])).toBe(client)
  })

  it('a Unix socket is a hop too', () => {
    expect(from(undefined, CLIENT, { hops: 1 })).toBe(CLIENT)
    expect(from(undefined, undefined, { hops: 1 })).toBe('unknown')
  })

  it('beside ranges, a proxy is trusted by its place or by its address', () => {
    const proxies: TrustedProxies = ['10.0.0.0/8', { hops: 1 }]
    expect(from('203.0.113.1', `192.0.2.66, ${CLIENT}, 10.0.0.2, 10.0.0.1`, proxies)).toBe(CLIENT)
    expect(from('203.0.113.1', `${CLIENT}, 203.0.113.9`, proxies)).toBe('203.0.113.9')
  })
})

it('a server can ask whether a peer is one of its proxies', () => {
  const { trustsAny, trustsConnection } = trustedProxies('private')
  expect([trustsAny, trustsConnection('10.0.0.1'), trustsConnection('8.8.8.8')]).toEqual([true, true, false])
  expect([trustsConnection(undefined), trustsConnection(''), trustsConnection('text')]).toEqual([false, false, false])
  expect(trustedProxies().trustsAny).toBe(false)
  expect(trustedProxies({ hops: 1 }).trustsConnection('8.8.8.8')).toBe(true)
})

/** Warnings of earlier tests are on their way until now. */
beforeEach(settled)

describe('the warning about a proxy that is not trusted', () => {
  const limit = fixedWindow({ quota: 9, window: '1h' })
  const forwarded = { 'x-forwarded-for': CLIENT }

  it.each<[what: string, options: Parameters<typeof rateLimit>[0], count: number]>([
    ['comes once if clients count by address', { limit }, 1],
    ['comes once if key asks for the client', { limit, key: (_, client) => `c ${client}` }, 1],
    ['comes once if skip asks for the address', { limit, key: () => 'a', skip: (_, address) => address === CLIENT }, 1],
    ['does not come if no address decides', { limit, key: () => 'a', skip: () => false }, 0],
    ['does not come if the option is set', { limit, trustedProxies: [] }, 0],
  ])('%s', async (_what, options, count) => {
    const warnings = processWarnings()
    const app = await limitedServer(options as never)
    for (let i = 0; i < 3; i++) expect(await statusOf(app, forwarded)).toBe(200)
    await settled()
    expect(warnings.map(([code]) => code)).toEqual(Array.from({ length: count }, () => 'SLUICE_PROXY'))
    if (count > 0) expect(warnings[0][1]).toContain("set trustedProxies: 'loopback', 'private' or ['203.0.113.5']")
  })
})

describe('the warning about a private peer that trustedProxies does not contain', () => {
  const limit = fixedWindow({ quota: 9, window: '1h' })
  const forwarded = { 'x-forwarded-for': CLIENT }
  const codes = (count: number) => Array.from({ length: count }, () => 'SLUICE_PROXY')

  it.each<[what: string, proxies: TrustedProxies, count: number]>([
    ['comes once, and names the peer', ['10.0.0.0/8'], 1],
    ['does not come if the list contains the peer', ['10.0.0.0/8', '127.0.0.1'], 0],
    ['does not come if no proxy shall be trusted', [], 0],
    ['does not come with hops', { hops: 1 }, 0],
  ])('%s', async (_what, proxies, count) => {
    const warnings = processWarnings()
    const app = await limitedServer({ limit, trustedProxies: proxies } as never)
    for (let i = 0; i < 3; i++) expect(await statusOf(app, forwarded)).toBe(200)
    await settled()
    expect(warnings.map(([code]) => code)).toEqual(codes(count))
    if (count > 0)
      expect(warnings[0][1]).toContain('requests come from 127.0.0.1, which trustedProxies does not contain')
  })

  it.each<[peer: string | undefined, field: string, count: number]>([
    ['::ffff:192.168.1.7', 'x-forwarded-for', 1],
    ['fd00::7', 'forwarded', 1],
    ['192.168.1.7', 'via', 0],
    ['203.0.113.7', 'x-forwarded-for', 0],
    [undefined, 'x-forwarded-for', 0],
  ])('clientAddress, from %s with %s: %i', async (peer, field, count) => {
    const warnings = processWarnings()
    const clientOf = clientAddress({ trustedProxies: ['10.0.0.0/8'] })
    for (let i = 0; i < 3; i++) clientOf(peer, (name) => (name === field ? CLIENT : undefined))
    await settled()
    expect(warnings.map(([code]) => code)).toEqual(codes(count))
  })

  it('clientAddress() without trustedProxies warns like rateLimit', async () => {
    const warnings = processWarnings()
    const clientOf = clientAddress()
    for (let i = 0; i < 3; i++)
      expect(clientOf('127.0.0.1', (name) => new Headers(forwarded).get(name))).toBe('127.0.0.1')
    await settled()
    expect(warnings.map(([code]) => code)).toEqual(codes(1))
    expect(warnings[0][1]).toContain('but no proxy is trusted')
  })
})

describe('where the framework does not tell the address', () => {
  const limit = fixedWindow({ quota: 1, window: '1h' })
  const request = () => new Request('http://localhost/', { headers: { 'x-api-key': 'a' } })

  it('skip and key get undefined, and a key of their own decides', async () => {
    const told: unknown[] = []
    const options = {
      limit,
      skip: (_: unknown, address: string | undefined) => told.push(address) < 0,
      key: (_: unknown, client: string | undefined) => `k${told.push(client)}`,
    }
    expect((await fetchLimit(options)(() => new Response('ok'))(request())).status).toBe(200)
    const app = new Hono().use(honoLimit(options)).get('/', (c) => c.text('ok'))
    expect((await app.request('/')).status).toBe(200)
    expect(told).toEqual([undefined, undefined, undefined, undefined])
  })

  it('a key that returns its second argument is an error, not one bucket for all', async () => {
    const key = (_: unknown, client: string | undefined) => client
    expect(() => fetchLimit({ limit, key })(() => new Response('ok'))(request())).toThrow('give it a key, or address')
    const app = new Hono().use(honoLimit({ limit, key })).get('/', (c) => c.text('ok'))
    app.onError((error, c) => c.text(error.message, 500))
    expect(await (await app.request('/')).text()).toContain('give it a key, or address')
  })
})
