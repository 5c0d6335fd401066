// The contract of every store, on the memory store, in any runtime: Node.js, Bun or Deno. The test runner of the repository
// runs on Node.js only. With SLUICE_TEST_REDIS, the port of a Redis, it also asks that by ioredis. The last line it prints
// begins with the number of cases that passed.
import assert from 'node:assert/strict'
import process from 'node:process'
import { Redis } from 'ioredis'
import { createLimiter, createPolicy, createShaper, fixedWindow, memoryStore, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fetch'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { ManualClock, storeContract } from 'sluice/testing'

const cases = [
  ...storeContract((clock) => memoryStore({ clock }), { traces: 1_000 }),
  { name: 'a shaper lets calls leave at its rate, by the clock of a test', run: checkShaper },
  { name: 'a handler of Request and Response is limited', run: checkHandler },
]
const port = Number(process.env.SLUICE_TEST_REDIS)
if (port > 0) cases.push({ name: 'forty calls at once take five of five units from Redis', run: checkRedis })

let failed = 0
for (const { name, run } of cases) {
  try {
    await run()
  } catch (error) {
    failed++
    console.log(`FAIL ${name}\n${error.stack}`)
  }
}
console.log(`${cases.length - failed} of ${cases.length} cases passed`)
process.exitCode = failed === 0 ? 0 : 1

async function checkShaper() {
  const clock = new ManualClock(0)
  const shaper = createShaper({ drain: '10/s', capacity: 10, clock })
  const times = []
  for (let i = 0; i < 3; i++) void shaper.run(() => times.push(clock.now()))
  await clock.advanceAsync(1_000)
  assert.deepEqual(times, [0, 100, 200])
}

async function checkHandler() {
  const limit = fixedWindow({ quota: 1, window: '1h' })
  const handler = rateLimit({ limit, address: () => '192.0.2.1' })(() => new Response('hello'))
  const ask = () => handler(new Request('http://localhost/'))
  const [first, second] = [await ask(), await ask()]
  assert.deepEqual([first.status, second.status], [200, 429])
  assert.equal((await second.json()).status, 429)
}

async function checkRedis() {
  const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
  await client.connect()
  try {
    const store = redisStore(client, { prefix: `runtime-${process.pid}:`, deadlineMs: 10_000 })
    const limit = tokenBucket({ capacity: 5, refill: '1/d' })
    const limiter = createLimiter({ name: 'calls', limit, store })
    const policy = createPolicy({ name: 'policy', levels: [{ name: 'user', key: ['user'], limit }], store })
    const allowed = async (ask) => {
      const answers = await Promise.all(Array.from({ length: 40 }, ask))
      assert.ok(answers.every(({ degraded }) => degraded === undefined))
      return answers.filter((answer) => answer.allowed).length
    }
    assert.equal(await allowed(() => limiter.tryAcquire('user')), 5)
    assert.equal(await allowed(() => policy.check({ user: 'a' })), 5)
  } finally {
    client.disconnect()
  }
}
