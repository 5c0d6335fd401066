/** `sluice explain --store`: it changes nothing in Redis, and waits for run-time overrides. */
import { Redis } from 'ioredis'
import { createPolicy, fixedWindow, slidingLog, tokenBucket } from 'sluice'
import { redisStore } from 'sluice/redis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { SlowWire } from '../../../sluice/test/redis/slow-wire.js'
import { sluice } from './run-cli.js'

/** The file's limits differ from the limits that take the units. */
const FILE = JSON.stringify({
  version: 1,
  name: 'api',
  levels: [
    { name: 'bucket', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 100, refill: '1/d' } },
    { name: 'window', key: ['user'], limit: { algorithm: 'fixed-window', quota: 100, window: '7d' } },
    { name: 'log', key: ['user'], limit: { algorithm: 'sliding-log', quota: 100, window: '7d' } },
  ],
})

let server: RedisServer
let redis: Redis
beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.port)
})
afterAll(async () => {
  redis?.disconnect()
  await server?.stop()
})
beforeEach(() => redis.flushall())

const explain = (url: string, user = 'u') =>
  sluice(['explain', '-', '--request', JSON.stringify({ user }), '--store', url, '--json'], { stdin: FILE })

/** All values in Redis, with their expiry times. */
async function contents(): Promise<object> {
  const keys = (await redis.keys('*')).sort()
  return Promise.all(
    keys.map(async (key) => [key, (await redis.dumpBuffer(key))?.toString('hex'), await redis.pexpiretime(key)]),
  )
}

test('explain changes no value and no expiry in Redis', async () => {
  const policy = createPolicy({
    name: 'api',
    store: redisStore(redis, { deadlineMs: 5_000 }),
    levels: [
      { name: 'bucket', key: 'user', limit: tokenBucket({ capacity: 10, refill: '1/m' }) },
      { name: 'window', key: 'user', limit: fixedWindow({ quota: 10, window: '1h' }) },
      { name: 'log', key: 'user', limit: slidingLog({ quota: 10, window: '1h' }) },
    ],
  })
  await policy.check({ user: 'u' }, { cost: 2 })
  await policy.override('window', 'u', fixedWindow({ quota: 50, window: '3h' }))
  const before = await contents()
  for (const user of ['u', 'new']) {
    const { code, stdout } = await explain(server.url, user)
    expect(code).toBe(0)
    expect(JSON.parse(stdout).allowed).toBe(true)
  }
  expect(await contents()).toEqual(before)
})

test('explain waits for overrides longer than a decision would', async () => {
  const values = redis.pipeline()
  const value = JSON.stringify({ limits: [fixedWindow({ quota: 7, window: '1d' })] })
  for (let i = 1; i <= 12_000; i++) {
    values.hset('sluice:o:{api}', `window/u${i}`, value)
    values.zadd('sluice:o:{api}versions', i, `window/u${i}`)
  }
  values.hset('sluice:o:{api}', '#version', 12_000, '#floor', 1)
  await values.exec()
  const wire = await SlowWire.to(server.port)
  wire.latencyMs = 100
  try {
    const { code, stdout } = await explain(`redis://127.0.0.1:${wire.port}`, 'u12000')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).levels[1]).toMatchObject({
      from: 'run-time override',
      limits: [{ decision: { quota: 7 } }],
    })
    expect(stdout).not.toContain('degraded')
  } finally {
    await wire.stop()
  }
})

test('explain fails if the overrides cannot be read', async () => {
  await redis.set('sluice:o:{api}', 'something else')
  const { code, stdout, stderr } = await explain(server.url)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^sluice: Redis at [^\n]* did not report the policy's run-time overrides\n$/)
})
