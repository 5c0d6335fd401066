/** Clients that hold a connection: each loses it after a bounded time. The bounds here are short. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HttpServer } from '../../src/server/http-server.js'
import { post, RawClient } from './raw-client.js'

let server: HttpServer
const faults: unknown[] = []
const LONG = 'x'.repeat(1_000_000)
beforeAll(async () => {
  const door = {
    name: 'test',
    routes: {
      'POST /echo': (exchange: never) => readBody(exchange),
      'GET /long': (exchange: { text(text: string, type: string): void }) => exchange.text(LONG, 'text/plain'),
    },
  }
  const readBody = (exchange: { readObject(max: number, next: () => void): void; json(text: string): void }) =>
    exchange.readObject(100, () => exchange.json('{}'))
  server = new HttpServer(
    [door as never],
    { fault: (error) => faults.push(error) },
    {
      headersTimeout: 200,
      requestTimeout: 400,
      keepAliveTimeout: 200,
      timeout: 1_000,
      connectionsCheckingInterval: 20,
    },
  )
  await server.listen('127.0.0.1', 0)
})
afterAll(async () => {
  await server.close(1_000)
  expect(faults).toEqual([])
})

test('a silent client, and one that sends a field a minute: 408', async () => {
  const silent = await RawClient.to(server.url)
  const slow = await RawClient.to(server.url)
  slow.write('POST /echo HTTP/1.1\r\nHost: a\r\nX-A: b\r\n')
  for (const client of [silent, slow]) {
    await client.rest()
    expect(client.statuses).toEqual([408])
    expect(client.text).toContain('application/problem+json')
  }
})

test('a body that never ends: 408', async () => {
  const client = await RawClient.to(server.url)
  client.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{')
  await client.rest()
  expect(client.statuses).toEqual([408])
})

test('a connection without further requests is closed', async () => {
  const client = await RawClient.to(server.url)
  client.write(post('/echo', '{}'))
  await client.rest()
  expect(client.statuses).toEqual([200])
})

test('a client that asks and never reads loses its connection, and the answers are not piled up', async () => {
  const client = await RawClient.to(server.url)
  client.socket.pause()
  const before = process.memoryUsage().rss
  client.write('GET /long HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2_000))
  // A paused socket does not hear of its end: ask whether the server still has it.
  await expect.poll(() => server.connectionCount, { timeout: 20_000 }).toBe(0)
  expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000)
  client.close()
})

test('a thousand silent connections cost good clients nothing, and all are closed in the end', async () => {
  const silent = await Promise.all(Array.from({ length: 1_000 }, () => RawClient.to(server.url)))
  expect((await fetch(`${server.url}/echo`, { method: 'POST', body: '{}' })).status).toBe(200)
  await Promise.all(silent.map((client) => client.rest()))
  await expect.poll(() => server.connectionCount, { timeout: 20_000 }).toBeLessThan(5)
})
