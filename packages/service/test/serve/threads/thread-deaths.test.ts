/** Threads die, start later and get other policies; what they share stays right. Each has a port of its own here. */
import { expect, test } from 'vitest'
import { ThreadService } from './thread-service.js'

const LONG = { timeout: 20_000, interval: 5 }
const ENDED = 'a worker ended; another takes its place'
const levelsOf = (capacity: number) => [
  { name: 'all', key: ['user'], limit: { algorithm: 'token-bucket', capacity, refill: '1/d' } },
]
const user = 'u'

/** Ends a thread, and returns the one that takes its place. */
async function replace(service: ThreadService, thread: number, end: 'kill' | 'crash' = 'kill'): Promise<number> {
  const before = service.threads
  service[end](thread)
  await expect.poll(() => service.threads.find((each) => !before.includes(each)), LONG).toBeDefined()
  return service.threads.at(-1) as number
}

async function quotaOf(service: ThreadService, thread: number): Promise<number | undefined> {
  const { body } = await service.ask(thread, '/v1/check', { attributes: { user }, cost: 0 })
  return body.levels?.[0].quota
}

test('a thread that is terminated is replaced, and limits, reservations and overrides are as before', async () => {
  await using service = await ThreadService.start(levelsOf(100))
  const [a, b] = service.threads
  await service.ask(a, '/v1/check', { attributes: { user }, cost: 20 })
  const { body } = await service.ask(a, '/v1/reserve', { attributes: { user }, cost: 30, ttl: '1h' })
  const override = { level: 'all', key: ['vip'], limit: { algorithm: 'fixed-window', quota: 500, window: '1h' } }
  await service.ask(a, '/v1/admin/overrides', override)
  const later = await replace(service, a)
  expect(service.logged).toContainEqual(expect.objectContaining({ msg: ENDED, worker: a, code: 1, inMs: 100 }))
  expect(await service.left(later, user)).toBe(50)
  expect(await service.left(later, 'vip')).toBe(500)
  expect((await service.ask(b, '/v1/cancel', { id: body.id })).body).toEqual({ cancelled: true })
  expect((await service.ask(later, '/v1/cancel', { id: body.id })).body).toEqual({ cancelled: false })
  expect(await service.left(later, user)).toBe(80)
})

test('a thread that fails by an exception is replaced, and the log says why', async () => {
  await using service = await ThreadService.start(levelsOf(100), 2)
  const [a, b] = service.threads
  await service.ask(a, '/v1/check', { attributes: { user }, cost: 20 })
  expect(await service.left(await replace(service, a, 'crash'), user)).toBe(80)
  expect(await service.left(b, user)).toBe(80)
  const reason = expect.stringContaining('broken.json:1:2')
  expect(service.logged).toContainEqual(expect.objectContaining({ msg: ENDED, worker: a, reason }))
})

test('threads that are terminated while they decide admit no more than the quota', async () => {
  await using service = await ThreadService.start(levelsOf(500))
  const [a, b, c] = service.threads
  let allowed = 0
  const check = async (thread: number) => {
    const { body } = await service.ask(thread, '/v1/check', { attributes: { user } })
    if (body.allowed === true) allowed++
  }
  const asked = Array.from({ length: 900 }, (_, i) => check([a, b, c][i % 3]).catch(() => {}))
  await Promise.all(asked.slice(0, 60))
  service.kill(a)
  service.kill(b)
  await Promise.all(asked)
  while ((await service.ask(c, '/v1/check', { attributes: { user } })).body.allowed === true) allowed++
  // Units whose answers were cut off stay taken.
  expect(allowed).toBeLessThanOrEqual(500)
  expect(allowed).toBeGreaterThanOrEqual(60)
  expect(await service.left(c, user)).toBe(0)
})

test('a reservation ends at its ttl when the thread that made it is gone', async () => {
  await using service = await ThreadService.start(levelsOf(100), 2)
  const [a, b] = service.threads
  await service.ask(a, '/v1/reserve', { attributes: { user }, cost: 30, ttl: '300ms' })
  service.kill(a)
  await expect.poll(() => service.left(b, user), LONG).toBe(100)
})

test('a policy reaches every thread, also one that starts later', async () => {
  await using service = await ThreadService.start(levelsOf(100), 2)
  const [a, b] = service.threads
  service.use(levelsOf(200))
  for (const thread of [a, b]) await expect.poll(() => quotaOf(service, thread), LONG).toBe(200)
  expect(await quotaOf(service, await replace(service, a))).toBe(200)
})

test('a reset in a later thread forgets states that were made under numbers which it never used', async () => {
  await using service = await ThreadService.start(levelsOf(100), 2)
  const [a, b] = service.threads
  await service.ask(b, '/v1/check', { attributes: { user }, cost: 30 })
  service.use(levelsOf(200))
  for (const thread of [a, b]) await expect.poll(() => quotaOf(service, thread), LONG).toBe(200)
  const later = await replace(service, a)
  expect((await service.ask(later, '/v1/admin/reset', { attributes: { user } })).status).toBe(200)
  service.use(levelsOf(100))
  for (const thread of [later, b]) await expect.poll(() => quotaOf(service, thread), LONG).toBe(100)
  expect(await service.left(b, user)).toBe(100)
})
