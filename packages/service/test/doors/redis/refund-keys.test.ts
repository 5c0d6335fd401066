import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { startTestService, type TestService } from '../../serve/test-service.js'

const LEVELS = [{ name: 'user', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 10, refill: '1/d' } }]

let redis: RedisServer
let client: Redis
let service: TestService

beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.port)
  service = await startTestService(LEVELS, { store: redis.url, 'deadline-ms': '5000' }, 'api')
})
afterAll(async () => {
  await service?.close()
  client?.disconnect()
  await redis?.stop()
})

async function post(path: string, body: object, key?: string) {
  const headers = key === undefined ? {} : { 'Idempotency-Key': key }
  const response = await fetch(`${service.url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('a refund that the store cannot make does not use up its Idempotency-Key', async () => {
  const attributes = { user: 'a' }
  const refund = () => post('refund', { attributes, cost: 3 }, 'refund-1')
  await post('check', { attributes, cost: 8 })
  // The claim of the key succeeds, and the state cannot be reached: as if its server of a cluster were away.
  const [state] = await client.keys('sluice:t:*')
  await client.rename(state, 'aside')
  await client.lpush(state, 'something else')
  const failed = await refund()
  expect(failed).toMatchObject({ status: 503, body: { title: 'The store did not answer' } })
  expect(failed.body.detail).toContain('nothing was given back')
  await client.rename('aside', state)
  expect((await refund()).body).toMatchObject({ refunded: true, levels: [{ remaining: 5 }] })
  expect((await refund()).body).toMatchObject({ refunded: false, levels: [{ remaining: 5 }] })
})
