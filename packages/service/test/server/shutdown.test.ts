import { expect, test } from 'vitest'
import type { Exchange } from '../../src/server/exchange.js'
import { HttpServer } from '../../src/server/http-server.js'
import { RawClient } from './raw-client.js'

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const LONG_MS = 60_000

/** A server whose answers to `/held` the test gives. */
async function heldServer() {
  const held: Exchange[] = []
  const routes = {
    'GET /held': (exchange: Exchange) => void held.push(exchange),
    'GET /quick': (exchange: Exchange) => exchange.json('{}'),
  }
  const server = new HttpServer([{ name: 'test', routes }], { fault: () => {} })
  await server.listen('127.0.0.1', 0)
  const untilHeld = (count: number) => expect.poll(() => held.length).toBe(count)
  return { server, held, untilHeld }
}

test('a request in flight is answered and told that its connection ends; then the server is closed', async () => {
  const { server, held, untilHeld } = await heldServer()
  const client = await RawClient.to(server.url)
  client.write(GET('/held'))
  await untilHeld(1)
  const { url } = server
  const closed = server.close(LONG_MS)
  await expect(RawClient.to(url)).rejects.toThrow('ECONNREFUSED')
  held[0].json('{"answered":true}')
  await client.rest()
  expect(client.text).toMatch(/200 OK[\s\S]*Connection: close[\s\S]*"answered":true/)
  await closed
})

test('connections without a request in flight do not hold the shutdown up', async () => {
  const { server } = await heldServer()
  const silent = await RawClient.to(server.url)
  const idle = await RawClient.to(server.url)
  const halfway = await RawClient.to(server.url)
  idle.write(GET('/quick'))
  halfway.write('GET /quick HTTP/1.1\r\nHo')
  await idle.until(() => idle.statuses.length === 1)
  await server.close(LONG_MS)
  await Promise.all([silent.rest(), idle.rest(), halfway.rest()])
})

test('a connection that has just been opened may still send its request', async () => {
  const { server } = await heldServer()
  const client = await RawClient.to(server.url)
  await expect.poll(() => server.connectionCount).toBe(1)
  const closed = server.close(LONG_MS)
  client.write(GET('/quick'))
  await client.rest()
  expect(client.text).toMatch(/200 OK[\s\S]*Connection: close/)
  await closed
})

test('pipelined requests in flight are all answered, and only the last answer ends the connection', async () => {
  const { server, held, untilHeld } = await heldServer()
  const client = await RawClient.to(server.url)
  client.write(GET('/held').repeat(3))
  await untilHeld(3)
  const closed = server.close(LONG_MS)
  client.write(GET('/held'))
  await untilHeld(4)
  for (const exchange of [...held].reverse()) exchange.json('{}')
  await client.rest()
  expect(client.statuses).toEqual([200, 200, 200, 200])
  expect(client.text.match(/Connection: close/g)).toHaveLength(1)
  expect(client.text.lastIndexOf('Connection: keep-alive')).toBeLessThan(client.text.indexOf('Connection: close'))
  await closed
})

test('a stream that ends during the shutdown frees its connection', async () => {
  const { server, held, untilHeld } = await heldServer()
  const client = await RawClient.to(server.url)
  client.write(GET('/held'))
  await untilHeld(1)
  held[0].response.write('part')
  await client.until(() => client.text.includes('part'))
  const closed = server.close(LONG_MS)
  held[0].response.end('end')
  expect(await client.rest()).toContain('end')
  await closed
})

test('after the deadline, what is left is cut', async () => {
  const { server, untilHeld } = await heldServer()
  const client = await RawClient.to(server.url)
  client.write(GET('/held'))
  await untilHeld(1)
  await server.close(10)
  expect(await client.rest()).toBe('')
})
