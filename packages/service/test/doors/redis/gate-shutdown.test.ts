import { afterEach, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { ask, startTestService, type TestService } from '../../serve/test-service.js'

const LEVELS = [{ name: 'line', key: ['ip'], limit: { algorithm: 'leaky-bucket', capacity: 5, drain: '1/h' } }]
const IP = '192.0.2.7'

let redis: RedisServer | undefined
let service: TestService | undefined
afterEach(async () => {
  await service?.close()
  await redis?.stop()
})

const remaining = async (url: string) => {
  const { body } = await ask(url, '/v1/check', { attributes: { ip: IP }, cost: 0 })
  return (body as { levels: { remaining: number }[] }).levels[0].remaining
}

test('a shutdown cuts requests that wait for their turn at the gate, and gives their turns back', async () => {
  redis = await startRedis()
  const settings = { store: redis.url, 'deadline-ms': '5000', 'trusted-proxies': '127.0.0.1', 'shutdown-ms': '0' }
  service = await startTestService(LEVELS, settings)
  const { url } = service
  const enter = async () => (await fetch(`${url}/v1/gate`, { headers: { 'X-Forwarded-For': IP } })).status
  expect(await enter()).toBe(204)
  const waiting = [enter(), enter(), enter()].map((turn) => turn.catch(() => 'cut'))
  await expect.poll(() => remaining(url)).toBe(1)
  await service.close()
  expect(await Promise.all(waiting)).toEqual(['cut', 'cut', 'cut'])
  service = await startTestService(LEVELS, settings)
  expect(await remaining(service.url)).toBe(4)
})
