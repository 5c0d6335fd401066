import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPolicy, fixedWindow } from 'sluice'
import { rateLimit } from 'sluice/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { limitedServer, raw, statusIn, statusOf } from './limited-server.js'

const limit = fixedWindow({ quota: 1, window: '100d' })
const PROXY = '127.0.0.1'
const ATTACKER = '127.0.0.66'

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

describe('an attacker that connects directly', () => {
  const fields = [
    'X-Forwarded-For',
    'X-Real-IP',
    'X-Client-IP',
    'CF-Connecting-IP',
    'True-Client-IP',
    'X-Cluster-Client-IP',
  ]

  it.each([
    ['trusts no proxy', {}],
    ['trusts its proxy', { trustedProxies: [PROXY] }],
    ['reads Forwarded', { trustedProxies: [PROXY], forwardedIn: 'forwarded' }],
  ])('is one client whatever it says, where the server %s', async (_what, options) => {
    const app = await limitedServer({ limit, ...options })
    const attack = async (i: number) => {
      const said = [...fields.map((name) => `${name}: 192.0.2.${i}`), `Forwarded: for=192.0.2.${i}`]
      return statusIn(await raw(app, 'GET /', said, ATTACKER))
    }
    expect([await attack(1), await attack(2), await attack(3)]).toEqual([200, 429, 429])
    // Nor can it say to be the proxy, and use up what others have.
    expect(statusIn(await raw(app, 'GET /', [`X-Forwarded-For: ${PROXY}`], ATTACKER))).toBe(429)
    expect(statusIn(await raw(app, 'GET /'))).toBe(200)
  })
})

describe('an attacker behind a trusted proxy', () => {
  it('has the address that the proxy wrote, whatever comes before it', async () => {
    const app = await limitedServer({ limit, trustedProxies: [PROXY] })
    const attack = (spoofed: string) => statusOf(app, { 'x-forwarded-for': `${spoofed}, 192.0.2.66` })
    expect(await attack('192.0.2.1')).toBe(200)
    for (const spoofed of ['192.0.2.2', PROXY, '127.0.0.1, 127.0.0.1', ',,,', '"', 'unknown', '::1']) {
      expect(await attack(spoofed)).toBe(429)
    }
  })

  it('also with a field of its own beside the field of the proxy', async () => {
    const app = await limitedServer({ limit, trustedProxies: [PROXY] })
    const attack = async (i: number) =>
      statusIn(await raw(app, 'GET /', [`X-Forwarded-For: 192.0.2.${i}`, 'x-forwarded-for: 192.0.2.66']))
    expect([await attack(1), await attack(2)]).toEqual([200, 429])
  })

  it('and so with several Forwarded fields and a quote that it does not close', async () => {
    const app = await limitedServer({ limit, trustedProxies: [PROXY], forwardedIn: 'forwarded' })
    const attack = async (i: number) =>
      statusIn(await raw(app, 'GET /', [`Forwarded: for=192.0.2.${i};host="`, 'Forwarded: for=192.0.2.66']))
    expect([await attack(1), await attack(2)]).toEqual([200, 429])
  })

  it.each([
    [
      '1.2.3.4',
      '::ffff:1.2.3.4',
      '::ffff:102:304',
      '::FFFF:1.2.3.4',
      '0:0:0:0:0:ffff:1.2.3.4',
      '1.2.3.4:1',
      '1.2.3.4:2',
    ],
    ['2001:db8::1', '2001:DB8:0:0::1', '[2001:db8::1]:80', '2001:db8:0:0:0:0:0.0.0.1', '2001:db8::1%eth0'],
  ])('has one bucket in all spellings of %s', async (first, ...others) => {
    const app = await limitedServer({ limit, trustedProxies: [PROXY] })
    expect(await statusOf(app, { 'x-forwarded-for': first })).toBe(200)
    for (const other of others) expect(await statusOf(app, { 'x-forwarded-for': other }), other).toBe(429)
    expect(await statusOf(app, { 'x-forwarded-for': '1.2.3.5' })).toBe(200)
  })

  it('has one bucket for all texts that are no address: that of the proxy', async () => {
    const app = await limitedServer({ limit, trustedProxies: [PROXY] })
    const statuses = []
    for (const text of ['unknown', '01.2.3.4', '127.1', '2130706433', '_a', '_b', '']) {
      statuses.push(await statusOf(app, { 'x-forwarded-for': text }))
    }
    expect(statuses).toEqual([200, 429, 429, 429, 429, 429, 429])
  })
})

describe('an attacker with a network of IPv6', () => {
  const policy = createPolicy({ levels: [{ name: 'ip', key: ['ip'], limit }] })

  it.each([
    ['a limit', { limit }],
    ['a policy', { policy }],
  ])('does not get past %s by taking another address of its /56', async (_what, options) => {
    const app = await limitedServer({ ...options, trustedProxies: [PROXY] })
    const attack = (address: string) => statusOf(app, { 'x-forwarded-for': address })
    expect(await attack('2001:db8:5:4200::1')).toBe(200)
    for (let i = 0; i < 50; i++) {
      expect(await attack(`2001:db8:5:42${(i * 5).toString(16).padStart(2, '0')}:${i}::${i}`)).toBe(429)
    }
    expect(await attack('2001:db8:5:4300::1')).toBe(200)
  })
})

it.runIf(hasIpv6)('a client is the same over IPv4 and on a socket that takes both', async () => {
  const limited = rateLimit({ limit })
  const server = createServer((request, response) =>
    limited(request, response, () => response.end(request.socket.remoteAddress)),
  )
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '::', resolve))
  const { port } = server.address() as { port: number }
  const first = await fetch(`http://127.0.0.1:${port}/`)
  expect([first.status, await first.text()]).toEqual([200, '::ffff:127.0.0.1'])
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(429)
  expect((await fetch(`http://[::1]:${port}/`)).status).toBe(200)
})

describe('a proxy on a Unix socket', () => {
  it.each([
    ['is not believed unless that is said', {}, [200, 429]],
    ['is believed if it is', { trustedProxies: ['unix'] }, [200, 200]],
  ])('%s', async (_what, options, expected) => {
    const limited = rateLimit({ limit, ...options })
    const server = createServer((incoming, response) => limited(incoming, response, () => response.end()))
    const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
    const socketPath = join(folder, 'http')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true })
    })
    await new Promise<void>((resolve) => server.listen(socketPath, resolve))
    const statusFor = async (address: string) => {
      const sent = request({ socketPath, agent: false, headers: { 'x-forwarded-for': address } }).end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.resume()
      return response.statusCode
    }
    expect([await statusFor('6.6.6.6, 192.0.2.1'), await statusFor('6.6.6.6, 192.0.2.2')]).toEqual(expected)
    expect(await statusFor('6.6.6.7, 192.0.2.1')).toBe(429)
  })
})
