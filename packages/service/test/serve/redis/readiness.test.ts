/** `/healthz` and `/readyz` while Redis comes and goes. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { freePort, type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { startTestService, type TestService } from '../test-service.js'

const LEVELS = [{ name: 'all', limit: { algorithm: 'fixed-window', quota: 10, window: '1d' } }]

let redis: RedisServer | undefined
let service: TestService | undefined
afterEach(async () => {
  await service?.close()
  await redis?.stop()
})

async function get(path: string): Promise<{ status: number; body: never }> {
  const response = await fetch(service?.url + path)
  return { status: response.status, body: (await response.json()) as never }
}

const statusOf = async (path: string) => (await get(path)).status
const untilReady = (status: number) => expect.poll(() => statusOf('/readyz'), { timeout: 20_000 }).toBe(status)

test('a service whose Redis has never answered is not ready, and lives', async () => {
  const port = await freePort()
  service = await startTestService(LEVELS, { store: `redis://127.0.0.1:${port}` })
  expect(await get('/readyz')).toMatchObject({
    status: 503,
    body: { detail: expect.stringContaining("the rule 'open'") },
  })
  expect(await statusOf('/healthz')).toBe(200)
  redis = await startRedis({ port })
  await untilReady(200)
})

test('a service whose Redis is slow to connect decides its first request on it', async () => {
  redis = await startRedis()
  const { port } = redis
  const sockets = new Set<Socket>()
  // A connection takes longer than a decision waits for Redis.
  const slow = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    setTimeout(() => {
      const onward = connect(port, '127.0.0.1').on('error', () => {})
      sockets.add(onward)
      socket.pipe(onward).pipe(socket)
    }, 500)
  }).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  try {
    const store = `redis://127.0.0.1:${(slow.address() as AddressInfo).port}`
    service = await startTestService(LEVELS, { store, 'deadline-ms': '250' })
    const response = await fetch(`${service.url}/v1/check`, { method: 'POST', body: '{}' })
    const verdict = (await response.json()) as { degraded?: string }
    expect(verdict).toMatchObject({ allowed: true, levels: [{ name: 'all', remaining: 9 }] })
    expect(verdict.degraded).toBeUndefined()
  } finally {
    slow.close()
    for (const socket of sockets) socket.destroy()
  }
})

test('after that, a lost Redis leaves a service ready that decides by the rule open, and says so', async () => {
  redis = await startRedis()
  service = await startTestService(LEVELS, { store: redis.url })
  await untilReady(200)
  await redis.stop()
  await expect.poll(async () => (await get('/readyz')).body, { timeout: 20_000 }).toMatchObject({ status: 'degraded' })
  expect(await statusOf('/readyz')).toBe(200)
})

test('by the rule closed, a lost Redis makes the service not ready until Redis is back', async () => {
  redis = await startRedis()
  const { port } = redis
  service = await startTestService(LEVELS, { store: redis.url, 'on-failure': 'closed' })
  await untilReady(200)
  await redis.stop()
  await untilReady(503)
  redis = await startRedis({ port })
  await untilReady(200)
})

test('a service on memory is ready until it shuts down', async () => {
  service = await startTestService(LEVELS)
  expect(await get('/readyz')).toEqual({ status: 200, body: { status: 'ready' } })
  service.service.beginClosing()
  expect(await get('/readyz')).toMatchObject({ status: 503, body: { detail: 'the service is shutting down' } })
})
