import { expect, it } from 'vitest'
import { DescribedService, TOKEN } from '../openapi/described-service.js'

/** A client's address, as the proxy on loopback tells it. */
const from = (address: string) => ({ 'x-forwarded-for': address })
const path = '/v1/admin/policy'

const service = new DescribedService({ 'trusted-proxies': '127.0.0.0/8' })
const off = new DescribedService({}, false)

it('without a token of the service, every admin route answers 403 and says how to turn it on', async () => {
  for (const route of off.running.routes.filter((each) => each.includes('/v1/admin/'))) {
    const [method, at] = route.split(' ')
    const answer = await off.ask(method, at, { body: method === 'POST' ? {} : undefined })
    expect(answer.status).toBe(403)
    expect(answer.body.detail).toContain('--admin-token TEXT or SLUICE_ADMIN_TOKEN')
  }
})

it('a request without a token is a 401 that asks for one, and is no try', async () => {
  for (let i = 0; i < 30; i++) {
    const answer = await service.ask('GET', path, { token: null, fields: from('192.0.2.1') })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="sluice"'])
  }
  for (const authorization of ['Basic abc', 'Bearer', TOKEN, `Bearer${TOKEN}`])
    expect((await service.ask('GET', path, { token: null, fields: { authorization } })).status).toBe(401)
  expect((await service.ask('GET', path, { fields: from('192.0.2.1') })).status).toBe(200)
})

it('the scheme may be written in any case, the token may not', async () => {
  const ask = async (authorization: string) => service.ask('GET', path, { token: null, fields: { authorization } })
  expect((await ask(`bearer ${TOKEN}`)).status).toBe(200)
  expect((await ask(`Bearer ${TOKEN.toUpperCase()}`)).status).toBe(401)
  expect((await ask(`Bearer ${TOKEN}x`)).status).toBe(401)
  expect((await ask(`Bearer ${TOKEN.slice(0, -1)}`)).status).toBe(401)
})

it('after ten wrong tokens an address gets 429 with fields, even for the right token; other addresses go on', async () => {
  const ask = async (token: string, address = '192.0.2.9') => service.ask('GET', path, { token, fields: from(address) })
  for (let i = 0; i < 10; i++) expect((await ask(`guess-${i}-0123456789`)).status).toBe(401)
  const denied = await ask(TOKEN)
  expect(denied.status).toBe(429)
  expect(denied.body).toMatchObject({ title: 'Too many wrong tokens', status: 429 })
  expect(Number(denied.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(denied.headers.get('retry-after'))).toBeLessThanOrEqual(10)
  expect(denied.headers.get('ratelimit-policy')).toMatch(/^"admin-tokens";q=10/)
  expect(denied.headers.get('ratelimit')).toMatch(/^"admin-tokens";r=0/)
  expect((await ask(TOKEN, '192.0.2.10')).status).toBe(200)
})

it('right tokens use up no tries', async () => {
  for (let i = 0; i < 40; i++) expect((await service.ask('GET', path, { fields: from('192.0.2.20') })).status).toBe(200)
})

it('an address that changes within its IPv6 network has no further tries', async () => {
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) {
    const answer = await service.ask('GET', path, { token: 'wrong-token-0123456789', fields: from(`2001:db8::${i}`) })
    statuses.push(answer.status)
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
})

it('a wrong token reads no body and changes nothing', async () => {
  const answer = await service.ask('POST', '/v1/admin/block', {
    token: 'wrong-token-0123456789',
    fields: from('192.0.2.30'),
    body: { attributes: { merchant: 'acct_1' }, duration: '1h' },
  })
  expect(answer.status).toBe(401)
  const { body } = await service.ask('POST', '/v1/check', { body: { attributes: { merchant: 'acct_1' } } })
  expect(body.allowed).toBe(true)
})
