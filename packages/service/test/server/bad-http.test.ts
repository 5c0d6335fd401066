/** Requests that are not what they should be: each is answered or dropped, and the service goes on. */
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../serve/test-service.js'
import { post, RawClient } from './raw-client.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(async () => {
  await service.close()
  expect(service.logged.filter((line) => line.includes('a request failed'))).toEqual([])
})

const CHECK = '{"attributes":{"ip":"192.0.2.1"}}'
const GOOD = post('/v1/check', CHECK)

/** Writes bytes on a new connection, and returns everything that comes back until the server closes it. */
async function answerTo(bytes: string | Buffer): Promise<string> {
  const client = await RawClient.to(service.url)
  client.write(bytes)
  return client.rest()
}

async function problemFor(bytes: string): Promise<Record<string, unknown>> {
  const [head, body] = (await answerTo(bytes)).split('\r\n\r\n')
  expect(head).toContain('Content-Type: application/problem+json')
  expect(head).toContain('Connection: close')
  return JSON.parse(body)
}

const head = (...fields: string[]) => `POST /v1/check HTTP/1.1\r\nHost: a\r\n${fields.join('\r\n')}\r\n\r\n`

const SMUGGLING: Readonly<Record<string, string>> = {
  'Content-Length and Transfer-Encoding': `${head('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${GOOD}`,
  'two different Content-Lengths': `${head('Content-Length: 4', 'Content-Length: 40')}1234${GOOD}`,
  'a Content-Length with a sign': `${head('Content-Length: +4')}1234`,
  'a list of Content-Lengths': `${head('Content-Length: 4, 4')}1234`,
  'a Transfer-Encoding that does not end in chunked': `${head('Transfer-Encoding: chunked, identity')}0\r\n\r\n`,
  'an obscured Transfer-Encoding': `${head('Transfer-Encoding: xchunked')}0\r\n\r\n`,
  'a space before the colon': `${head('Content-Length : 4')}1234`,
  'a folded field': `POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n 4\r\nX: y\r\n z\r\n\r\n1234`,
  'a bare line feed after a field': `POST /v1/check HTTP/1.1\r\nHost: a\nContent-Length: 4\r\n\r\n1234`,
  'a bare carriage return in a field': `POST /v1/check HTTP/1.1\r\nHost: a\rContent-Length: 4\r\n\r\n1234`,
  'a NUL in a field': `POST /v1/check HTTP/1.1\r\nHost: a\0b\r\n\r\n`,
  'a chunk size that is no number': `${head('Transfer-Encoding: chunked')}zz\r\n\r\n`,
  'a chunk size with a minus': `${head('Transfer-Encoding: chunked')}-1\r\n\r\n`,
  'a chunk size beyond 64 bits': `${head('Transfer-Encoding: chunked')}fffffffffffffffff\r\n\r\n`,
  'a chunk without its end': `${head('Transfer-Encoding: chunked')}2\r\n{}xx\r\n0\r\n\r\n`,
  'a chunk that ends with a bare line feed': `${head('Transfer-Encoding: chunked')}2\n{}\n0\n\n`,
}

for (const [name, bytes] of Object.entries(SMUGGLING))
  test(`${name}: one 400, and nothing behind it is taken for a request`, async () => {
    expect(await problemFor(bytes)).toMatchObject({ status: 400, title: 'The request is not valid HTTP' })
  })

test('bytes that are no HTTP: 400 with problem details', async () => {
  for (const bytes of ['\0\0\0\0', 'hello\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n'])
    expect(await problemFor(bytes)).toMatchObject({ status: 400 })
  expect(await answerTo(Buffer.from('16030100a5010000a10303', 'hex'))).toContain('400 Bad Request')
})

test('a request without Host: 400', async () => {
  const client = await RawClient.to(service.url)
  client.write('GET /healthz HTTP/1.1\r\n\r\n')
  await client.until(() => client.text.includes('field Host'))
  expect(client.statuses).toEqual([400])
  client.write('GET /healthz HTTP/1.0\r\n\r\n')
  await client.until(() => client.statuses.length === 2)
  expect(client.statuses).toEqual([400, 200])
})

test('header fields of 16 KiB or more: 431', async () => {
  expect(await problemFor(head(`X: ${'x'.repeat(20_000)}`))).toMatchObject({ status: 431 })
  expect(await problemFor(head(...Array.from({ length: 5_000 }, (_, i) => `x${i}: y`)))).toMatchObject({ status: 431 })
})

test('two thousand fields of a few bytes do not hide the one that matters', async () => {
  const client = await RawClient.to(service.url)
  const many = Array.from({ length: 1_990 }, (_, i) => `${i.toString(36)}:`).join('\r\n')
  client.write(`POST /v1/check HTTP/1.1\r\nHost: a\r\n${many}\r\nContent-Length: ${CHECK.length}\r\n\r\n${CHECK}`)
  await client.until(() => client.statuses.length === 1)
  expect(client.statuses).toEqual([200])
  client.close()
})

test('garbage behind an answered request does not change that answer', async () => {
  const client = await RawClient.to(service.url)
  client.write(GOOD)
  await client.until(() => client.statuses.length === 1)
  client.write('garbage\r\n\r\n')
  await client.rest()
  expect(client.statuses).toEqual([200, 400])
})

test('pipelined requests are answered in their order, each once', async () => {
  const client = await RawClient.to(service.url)
  const paths = Array.from({ length: 200 }, (_, i) => (i % 3 === 0 ? '/readyz' : i % 3 === 1 ? '/healthz' : `/no${i}`))
  client.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
  await client.until(() => client.statuses.length === paths.length)
  expect(client.statuses).toEqual(paths.map((path) => (path.startsWith('/no') ? 404 : 200)))
  expect([...client.text.matchAll(/\/no\d+/g)].map(([path]) => path)).toEqual(paths.filter((p) => p.startsWith('/no')))
  client.close()
})

test('a client that leaves in the middle of a request leaves nothing behind', async () => {
  for (const part of [GOOD.slice(0, 20), GOOD.slice(0, -5), head('Transfer-Encoding: chunked')]) {
    const client = await RawClient.to(service.url)
    client.write(part)
    client.socket.resetAndDestroy()
    await once(client.socket, 'close')
  }
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
})

test('methods: HEAD is GET without a body, OPTIONS lists, others are refused with what is allowed', async () => {
  const asked = async (method: string, path: string) => {
    const response = await fetch(service.url + path, { method })
    return [response.status, response.headers.get('allow'), (await response.text()).length > 0]
  }
  expect(await asked('HEAD', '/healthz')).toEqual([200, null, false])
  expect(await asked('OPTIONS', '/healthz')).toEqual([204, 'GET, HEAD, OPTIONS', false])
  expect(await asked('DELETE', '/healthz')).toEqual([405, 'GET, HEAD, OPTIONS', true])
  expect(await asked('GET', '/v1/check')).toEqual([405, 'POST, OPTIONS', true])
  expect(await asked('GET', '/constructor')).toEqual([404, null, true])
  expect(await answerTo('BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n')).toContain('400 Bad Request')
  expect(await answerTo('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('')
})

test('an address in place of a path is understood', async () => {
  const client = await RawClient.to(service.url)
  client.write('GET http://localhost/healthz?x HTTP/1.1\r\nHost: a\r\n\r\n')
  await client.until(() => client.statuses.length === 1)
  expect(client.statuses).toEqual([200])
  client.close()
})

test('an upgrade is not taken up, and an unknown expectation is refused', async () => {
  const client = await RawClient.to(service.url)
  client.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n')
  await client.until(() => client.statuses.length === 1)
  client.write(post('/v1/check', CHECK, 'Expect: coffee\r\n'))
  await client.until(() => client.statuses.length === 2)
  expect(client.statuses).toEqual([200, 417])
  client.close()
})
