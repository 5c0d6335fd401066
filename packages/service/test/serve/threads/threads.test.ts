/** `sluice serve --workers N` on the embedded store: threads decide on one table. Each has a port of its own here. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ThreadService } from './thread-service.js'

const bucket = (capacity: number) => ({ algorithm: 'token-bucket', capacity, refill: '1/d' })
const levels = [{ name: 'all', key: ['user'], limit: bucket(100) }]
const PEEK = { cost: 0 }

let service: ThreadService
beforeAll(async () => {
  service = await ThreadService.start(levels)
})
afterAll(() => service?.[Symbol.asyncDispose]())

let users = 0
const freshUser = () => `user-${++users}`
const count = <T>(list: readonly T[], isCounted: (each: T) => boolean) => list.filter(isCounted).length
/** Threads hear of changes within milliseconds. */
const soon = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 20_000, interval: 5 })
const quotaOf = async (thread: number, user: string, on = service) => {
  const { body } = await on.ask(thread, '/v1/check', { attributes: { user }, ...PEEK })
  return body.levels?.[0].quota
}

test('all threads admit exactly one quota together', async () => {
  const user = freshUser()
  const checks = Array.from({ length: 300 }, (_, i) =>
    service.ask(service.threads[i % 3], '/v1/check', { attributes: { user } }),
  )
  const answers = await Promise.all(checks)
  expect(count(answers, ({ body }) => body.allowed === true)).toBe(100)
  for (const thread of service.threads) expect(await service.left(thread, user)).toBe(0)
})

test('a reservation that one thread made is settled by any other, exactly once', async () => {
  const user = freshUser()
  const [a, b, c] = service.threads
  const { body } = await service.ask(a, '/v1/reserve', { attributes: { user }, cost: 40, ttl: '1h' })
  expect(body).toMatchObject({ allowed: true, id: expect.any(String), endsAtMs: expect.any(Number) })
  expect(await service.left(c, user)).toBe(60)
  const { id } = body
  const settles = await Promise.all(
    [b, c, a, b, c, a].map((thread) => service.ask(thread, '/v1/settle', { id, actual: 25 })),
  )
  expect(count(settles, (each) => each.body.settled === true)).toBe(1)
  expect((await service.ask(c, '/v1/cancel', { id })).body).toEqual({ cancelled: false })
  expect(await service.left(b, user)).toBe(75)
})

test('the same Idempotency-Key of two threads makes one reservation', async () => {
  const user = freshUser()
  const [a, b, c] = service.threads
  const reserve = (thread: number, cost = 10) =>
    service.ask(thread, '/v1/reserve', { attributes: { user }, cost, ttl: '1h' }, `key-${user}`)
  const answers = await Promise.all([a, b, c, a, b, c].map((thread) => reserve(thread)))
  expect(new Set(answers.map(({ body }) => body.id))).toEqual(new Set([`key-${user}`]))
  expect(await service.left(c, user)).toBe(90)
  expect((await reserve(b, 11)).status).toBe(422)
  const cancels = await Promise.all([c, b].map((thread) => service.ask(thread, '/v1/cancel', { id: `key-${user}` })))
  expect(count(cancels, ({ body }) => body.cancelled === true)).toBe(1)
  expect(await service.left(a, user)).toBe(100)
})

test('a denied reservation takes nothing and has no id', async () => {
  const [a, b] = service.threads
  const user = freshUser()
  const { body } = await service.ask(a, '/v1/reserve', { attributes: { user }, cost: 101, ttl: '1h' })
  expect(body).toMatchObject({ allowed: false, id: null, deniedBy: ['all'] })
  expect(await service.left(b, user)).toBe(100)
})

test('a refund with an Idempotency-Key is made once by all threads together', async () => {
  const user = freshUser()
  const [a, b, c] = service.threads
  await service.ask(a, '/v1/check', { attributes: { user }, cost: 50 })
  const refund = (thread: number) =>
    service.ask(thread, '/v1/refund', { attributes: { user }, cost: 10 }, `refund-${user}`)
  const answers = await Promise.all([b, c, a, b, c, a].map(refund))
  expect(count(answers, ({ body }) => body.refunded === true)).toBe(1)
  expect(await service.left(c, user)).toBe(60)
})

test('an override that one thread sets is in force in all of them, and so is its removal', async () => {
  const user = freshUser()
  const [a, b, c] = service.threads
  const override = { level: 'all', key: [user], limit: bucket(7) }
  expect((await service.ask(a, '/v1/admin/overrides', override)).status).toBe(200)
  // The thread that answered knows it at once.
  expect(await quotaOf(a, user)).toBe(7)
  for (const thread of [b, c]) await soon(() => quotaOf(thread, user)).toBe(7)
  await service.ask(b, '/v1/check', { attributes: { user }, cost: 5 })
  expect(await service.left(c, user)).toBe(2)
  const listed = await service.ask(c, '/v1/admin/overrides')
  expect(listed.body.overrides).toContainEqual({ level: 'all', key: user, limits: [override.limit] })
  expect((await service.ask(b, '/v1/admin/overrides/remove', { level: 'all', key: [user] })).status).toBe(200)
  for (const thread of [a, b, c]) await soon(() => quotaOf(thread, user)).toBe(100)
})

test('an override that the table cannot keep, or that is over, is refused and changes nothing', async () => {
  const user = freshUser()
  const [a, b] = service.threads
  const override = { level: 'all', key: [user] }
  const limit = { algorithm: 'sliding-window', quota: 5, window: '1h' }
  const unkept = await service.ask(a, '/v1/admin/overrides', { ...override, limit })
  expect(unkept.status).toBe(400)
  expect(unkept.body.detail).toMatch(/^the table of the worker threads cannot keep a limit of the algorithm 'sliding/)
  const over = await service.ask(a, '/v1/admin/overrides', { ...override, limit: bucket(5), until: 1 })
  expect(over).toMatchObject({ status: 400, body: { detail: expect.stringContaining('until must be a time that is') } })
  for (const thread of [a, b]) expect(await quotaOf(thread, user)).toBe(100)
})

test('an operator resets, sets and blocks a key through any thread', async () => {
  const user = freshUser()
  const [a, b, c] = service.threads
  await service.ask(a, '/v1/check', { attributes: { user }, cost: 30 })
  await service.ask(b, '/v1/admin/set', { attributes: { user }, remaining: 4 })
  expect(await service.left(c, user)).toBe(4)
  await service.ask(c, '/v1/admin/block', { attributes: { user }, duration: '1h' })
  const { body } = await service.ask(a, '/v1/check', { attributes: { user } })
  expect(body.allowed).toBe(false)
  await service.ask(b, '/v1/admin/reset', { attributes: { user } })
  expect(await service.left(a, user)).toBe(100)
  expect(service.logged.map(({ change }) => change)).toEqual(expect.arrayContaining(['set', 'block', 'reset']))
})

test('a reset forgets the states of an override that only another thread has used', async () => {
  const user = freshUser()
  const [a, b, c] = service.threads
  await service.ask(a, '/v1/admin/overrides', { level: 'all', key: [user], limit: bucket(9) })
  await service.ask(a, '/v1/check', { attributes: { user }, cost: 9 })
  await soon(() => quotaOf(b, user)).toBe(9)
  await service.ask(c, '/v1/admin/reset', { attributes: { user } })
  expect(await service.left(b, user)).toBe(9)
})

test('metrics are those of all threads, and the table is counted once', async () => {
  const user = freshUser()
  for (const thread of service.threads) await service.ask(thread, '/v1/check', { attributes: { user } })
  const scrapes = await Promise.all(
    service.threads.map(async (thread) => (await fetch(`${service.urlOf(thread)}/metrics`)).text()),
  )
  for (const text of scrapes) {
    for (const thread of service.threads)
      expect(text).toMatch(new RegExp(`sluice_decisions_total\\{worker="${thread}",.*outcome="allowed"\\} [1-9]`))
    expect(text.match(/^sluice_store_keys\{.*/gm)).toEqual([
      expect.stringMatching(/^sluice_store_keys\{worker="first"\}/),
    ])
    expect(text.match(/^process_cpu_seconds_total.*/gm)).toHaveLength(1)
    expect(text.match(/^nodejs_heap_size_used_bytes.*/gm)).toHaveLength(3)
    expect(text.match(/^sluice_info.*/gm)?.join()).toContain('store="memory"')
  }
})
