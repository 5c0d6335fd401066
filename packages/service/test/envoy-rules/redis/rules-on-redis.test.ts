/** Rules on a store that answers later. */
import { Redis } from 'ioredis'
import { createPolicy } from 'sluice'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { RulesDecider } from '../../../src/envoy-rules/rules-decider.js'
import { type AskedDescriptor, answerOf, descriptorOf, rulesOf } from '../rules-here.js'

const { policy: data, envoy: rules } = rulesOf(`domain: test
descriptors:
  - key: a
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: m
    rate_limit: [{ unit: month, requests_per_unit: 3 }, { window: 1h, requests_per_unit: 100, algorithm: token-bucket }]
  - key: q
    value: '1'
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 10 }
  - key: q
    value: '2'
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 20 }
`)

let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.url, { ...ioredisOptions, lazyConnect: true })
  await client.connect()
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})
beforeEach(() => client.flushall())

/** One of several services on the same Redis. */
function service() {
  const policy = createPolicy({ ...data, name: 'envoy', store: redisStore(client, { deadlineMs: 5_000 }) })
  const decider = new RulesDecider({
    inForce: () => ({ rules, policy }),
    nowMs: () => Date.now(),
    headers: 'draft',
  })
  return async (...descriptors: readonly (string | AskedDescriptor)[]) =>
    answerOf(
      await decider.shouldRateLimit({ domain: 'test', descriptors: descriptors.map(descriptorOf), hitsAddend: 0 }),
    )
}

test('counts are shared, and a denied request takes nothing', async () => {
  const [one, other] = [service(), service()]
  expect((await one({ of: 'a=x', hits: 3 }, 'm=y')).codes).toEqual(['OK 2', 'OK 2'])
  expect((await other({ of: 'a=x', hits: 3 }, 'm=y')).codes).toEqual(['OVER_LIMIT 0', 'OK 2'])
  expect((await one({ of: 'a=x', hits: 2 }, 'm=y')).codes).toEqual(['OK 0', 'OK 1'])
  expect((await other({ of: 'a=x', hits: 4, refund: true })).codes).toEqual(['OK 4'])
})

test('limits of requests, and their refusal', async () => {
  const ask = service()
  const limit = { requestsPerUnit: 2, unit: 4 } as const
  expect((await ask({ of: 'z=1', limit })).codes).toEqual(['OK 1'])
  expect((await ask({ of: 'z=1', limit })).codes).toEqual(['OK 0'])
  expect((await ask({ of: 'z=1', limit })).overall).toBe('OVER_LIMIT')
})

test('of many quota requests at once, each is admitted while any quota has room, and no unit is lost', async () => {
  const services = [service(), service(), service()]
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => services[i % 3]('q=1', 'q=2')))
  expect(answers.filter(({ overall }) => overall === 'OK')).toHaveLength(20)
  const look = await services[0]({ of: 'q=1', hits: 0 }, { of: 'q=2', hits: 0 })
  expect(look.statuses.map(({ limitRemaining }) => limitRemaining)).toEqual([0, 0])
})
