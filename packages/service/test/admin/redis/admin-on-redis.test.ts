import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import type { RunningService } from '../../../dist/serve/start-service.js'
import { TOKEN } from '../../openapi/described-service.js'
import { serveHere } from '../../recorder/serve-here.js'

let redis: RedisServer
const services: RunningService[] = []

beforeAll(async () => {
  redis = await startRedis()
  const options = { store: `redis://127.0.0.1:${redis.port}`, 'admin-token': TOKEN }
  services.push(await serveHere(options), await serveHere(options))
})
afterAll(async () => {
  for (const each of services) await each.close()
  await redis?.stop()
})

const attributes = { merchant: 'acct_9', ip: '192.0.2.9', method: 'POST', path: '/v1/charges' }
const limit = { algorithm: 'token-bucket', capacity: 7, refill: '1/h' }

async function post(url: string, path: string, body?: object) {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, never> }
}

it('what an operator changes in one process holds in the other: blocks at once, overrides within two seconds', async () => {
  const [one, two] = services.map(({ url }) => url)
  // Until the connection is there, answers are degraded.
  for (const url of [one, two])
    await expect.poll(async () => (await post(url, '/v1/check', { attributes })).body.degraded).toBeUndefined()
  expect((await post(one, '/v1/admin/block', { attributes, duration: '1h', levels: ['merchant'] })).status).toBe(200)
  expect((await post(two, '/v1/check', { attributes })).body.deniedBy).toEqual(['merchant'])
  await post(two, '/v1/admin/reset', { attributes, levels: ['merchant'] })
  expect((await post(one, '/v1/check', { attributes })).body.allowed).toBe(true)
  const until = Date.now() + 3_600_000
  await post(one, '/v1/admin/overrides', { level: 'merchant', key: 'acct_9', limit, until })
  const overrides = [{ level: 'merchant', key: 'acct_9', limits: [limit], untilMs: until }]
  expect((await post(one, '/v1/admin/overrides')).body).toEqual({ total: 1, overrides })
  await expect
    .poll(async () => (await post(two, '/v1/admin/overrides')).body, { timeout: 10_000 })
    .toEqual({ total: 1, overrides })
})

it('while Redis is away, changes and lists are a 503, and explain says that it is degraded', async () => {
  const [one] = services.map(({ url }) => url)
  await redis.stop()
  await expect.poll(async () => (await post(one, '/v1/admin/overrides')).status, { timeout: 10_000 }).toBe(503)
  for (const path of ['block', 'reset', 'overrides', 'overrides/remove']) {
    const own = { block: { attributes, duration: '1h' }, reset: { attributes } }[path]
    const body = own ?? { level: 'merchant', key: 'acct_9', ...(path === 'overrides' && { limit }) }
    const answer = await post(one, `/v1/admin/${path}`, body)
    expect([path, answer.status]).toEqual([path, 503])
  }
  const { body } = await post(one, '/v1/admin/explain', { attributes })
  expect((body.levels as { degraded?: string }[])[0].degraded).toBe('overrides')
  expect((await post(one, '/v1/admin/policy')).status).toBe(200)
})
