import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, startTestService, type TestService } from '../serve/test-service.js'
import { post, RawClient } from './raw-client.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(async () => {
  await service.close()
  expect(service.logged.filter((line) => line.includes('a request failed'))).toEqual([])
})

async function sent(body: string | Buffer, path = '/v1/check'): Promise<{ status: number; detail?: string }> {
  const response = await fetch(service.url + path, { method: 'POST', body })
  const { detail } = (await response.json()) as { detail?: string }
  return { status: response.status, ...(detail !== undefined && { detail }) }
}

test('a body that is no JSON object: 400 that says what would be right', async () => {
  for (const body of [
    '',
    ' ',
    'x',
    '{',
    '{"attributes":{}',
    "{'a':1}",
    '\0',
    'nan',
    '{"a":1}{"b":2}',
    '\ufeff\ufeff{}',
  ])
    expect(await sent(body)).toMatchObject({ status: 400, detail: expect.stringMatching(/^the body must be JSON/) })
  for (const body of ['1', '"text"', 'null', 'true', '[]', '[[1]]'])
    expect(await sent(body)).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/^the body must be a JSON object/),
    })
})

test('bytes that are no UTF-8 are never a crash', async () => {
  expect((await sent(Buffer.from('7b2261747472696275746573223a7b226970223a22ff227d7d', 'hex'))).status).toBe(200)
  expect((await sent(Buffer.from('fffe7b7d', 'hex'))).status).toBe(400)
})

test('JSON that is 10,000 to 500,000 deep: 400 or 200, in place of a stack overflow', async () => {
  const deep = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)
  expect((await sent(deep(30_000, '[', ']'))).status).toBe(400)
  expect((await sent('['.repeat(60_000))).status).toBe(400)
  expect((await sent(deep(10_000, '{"a":', '}').replace('{}', '{"a":1}'))).status).toBe(400)
  const lists = deep(30_000, '[', ']')
  for (const body of [
    `{"attributes":${lists}}`,
    `{"cost":${lists}}`,
    `{"x":${lists}}`,
    `{"attributes":{"ip":${lists}}}`,
  ])
    expect(await sent(body)).toMatchObject({ status: 400 })
  expect((await sent(`{"attributes":{"unasked":${lists}}}`)).status).toBe(200)
  expect((await sent(`{"checks":${deep(500_000, '[', ']')}}`, '/v1/check/batch')).status).toBe(400)
})

test('members that are not asked for are named, and names of Object are no exception', async () => {
  for (const name of ['atributes', '__proto__', 'constructor', 'toString', 'x'.repeat(1_000)])
    expect((await sent(`{"${name}":1}`)).detail).toContain(`there is no member '${name.slice(0, 60)}'`)
  expect((await sent('{"attributes":{"__proto__":{"ip":"192.0.2.1"},"constructor":1}}')).status).toBe(200)
})

test('a cost that is no whole number: 400, and nothing is taken', async () => {
  for (const cost of ['-1', '1.5', '1e400', '9007199254740993', '"1"', 'null', 'true', '[]', '{}'])
    expect((await sent(`{"cost":${cost}}`)).detail).toMatch(/^cost must be a whole number from 0, got /)
})

test('a body over the limit is 413, and the connection can be used again', async () => {
  const client = await RawClient.to(service.url)
  client.write(post('/v1/check', 'x'.repeat(70_000)))
  client.write(post('/v1/check', '{}'))
  await client.until(() => client.statuses.length === 2)
  expect(client.statuses).toEqual([413, 200])
  expect(client.text).toContain('the body must have at most 65,536 bytes')
  client.close()
})

test('a chunked body over the limit is 413 too', async () => {
  const client = await RawClient.to(service.url)
  const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`
  client.write(`POST /v1/check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(3)}0\r\n\r\n`)
  await client.until(() => client.statuses.length === 1)
  expect(client.statuses).toEqual([413])
  client.close()
})

test('a body that says it has a gigabyte is refused before it comes', async () => {
  const client = await RawClient.to(service.url)
  client.write('POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n')
  expect(await client.rest()).toContain('Connection: close')
  expect(client.statuses).toEqual([413])
})

test('a chunked body without an end is cut off', async () => {
  const client = await RawClient.to(service.url)
  client.write('POST /v1/check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const feed = () => {
    while (!client.isClosed && client.socket.write(chunk));
  }
  client.socket.on('drain', feed)
  feed()
  await client.rest()
  expect(client.statuses).toEqual([413])
})

test('a batch of 1,001 checks, or of something else: 400, and no check of it is decided', async () => {
  const checks = (count: number) => JSON.stringify({ checks: Array(count).fill({ attributes: { ip: '192.0.2.9' } }) })
  expect((await sent(checks(1_001), '/v1/check/batch')).detail).toContain('at most 1000')
  const wrong = JSON.stringify({ checks: [{ attributes: { ip: '192.0.2.9' } }, { cost: -1 }] })
  expect((await sent(wrong, '/v1/check/batch')).status).toBe(400)
  for (const body of [
    '{}',
    '{"checks":1}',
    '{"checks":[1]}',
    '{"checks":[null]}',
    '{"checks":[[]]}',
    '{"checks":[],"x":1}',
  ])
    expect((await sent(body, '/v1/check/batch')).status).toBe(400)
  const response = await fetch(`${service.url}/v1/check/batch`, { method: 'POST', body: checks(2) })
  const { verdicts } = (await response.json()) as { verdicts: { levels: { remaining: number }[] }[] }
  expect(verdicts.map(({ levels }) => levels[1].remaining)).toEqual([19, 18])
})

test('a batch with one wrong request takes nothing, also if only the policy finds the mistake', async () => {
  const limit = { algorithm: 'token-bucket', capacity: 10, refill: '1/d' }
  const other = await startTestService([{ name: 'user', key: ['user'], cost: 'tokens', limit }])
  try {
    const good = { attributes: { user: 'a', tokens: 4 } }
    for (const attributes of [{ user: ['b'] }, { user: 'b', tokens: 'many' }, { user: 'b', tokens: 1.5 }]) {
      const { status } = await ask(other.url, '/v1/check/batch', { checks: [good, { attributes }] })
      expect(status).toBe(400)
    }
    const { body } = await ask(other.url, '/v1/check', { attributes: { user: 'a', tokens: 10 } })
    expect(body).toMatchObject({ allowed: true })
  } finally {
    await other.close()
  }
})
