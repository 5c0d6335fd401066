import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { ServeProcess } from '../../serve/serve-process.js'

const POLICY = JSON.stringify({
  version: 1,
  levels: [{ name: 'user', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 10, refill: '1/d' } }],
})

let redis: RedisServer
let folder: string

beforeAll(async () => {
  redis = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'sluice-'))
  await writeFile(join(folder, 'policy.json'), POLICY)
})
afterAll(async () => {
  await redis?.stop()
  await rm(folder, { recursive: true, force: true })
})

const start = () =>
  ServeProcess.start([
    '--policy',
    join(folder, 'policy.json'),
    '--store',
    `redis://127.0.0.1:${redis.port}`,
    '--deadline-ms',
    '5000',
  ])

async function post({ url }: ServeProcess, path: string, body: object): Promise<Record<string, never>> {
  const response = await fetch(`${url}/v1/${path}`, { method: 'POST', body: JSON.stringify(body) })
  return (await response.json()) as Record<string, never>
}

test('a service that is killed and started again on Redis gives back what was never settled, and settles the rest', async () => {
  const attributes = { user: 'a' }
  let service = await start()
  await vi.waitUntil(async () => (await post(service, 'check', { attributes, cost: 0 })).degraded === undefined)
  const short = await post(service, 'reserve', { attributes, cost: 3, ttl: '100ms' })
  const long = await post(service, 'reserve', { attributes, cost: 4, ttl: '10m' })
  expect([short.allowed, long.allowed]).toEqual([true, true])
  await service[Symbol.asyncDispose]()
  service = await start()
  try {
    const left = async () => {
      const { levels } = await post(service, 'check', { attributes, cost: 0 })
      return (levels as unknown as readonly { remaining: number }[])[0].remaining
    }
    await vi.waitUntil(async () => (await left()) === 6, { timeout: 10_000 })
    expect(await post(service, 'settle', { id: short.id, actual: 1 })).toEqual({ settled: false })
    expect(await post(service, 'settle', { id: long.id, actual: 1 })).toEqual({ settled: true })
    expect(await post(service, 'settle', { id: long.id, actual: 0 })).toEqual({ settled: false })
    expect(await left()).toBe(9)
  } finally {
    await service[Symbol.asyncDispose]()
  }
})
