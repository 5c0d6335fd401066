/** `GET /v1/live` of worker threads: each of them tells the totals of all. Each has a port of its own here. */
import { expect, test } from 'vitest'
import { ThreadService } from '../serve/threads/thread-service.js'
import { LiveClient, sumOf } from './live-client.js'

const LONG = { timeout: 20_000, interval: 5 }
const LEVELS = [
  { name: 'all', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 30, refill: '1/d' } },
  { name: 'few', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 5, refill: '1/d' }, shadow: true },
]

async function checks(service: ThreadService, thread: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await service.ask(thread, '/v1/check', { attributes: { user: 'u' } })
}

test('every thread tells what all of them decided, masks alike, and a thread that dies breaks nothing', async () => {
  await using service = await ThreadService.start(LEVELS)
  const [a, b, c] = service.threads
  const clients = await Promise.all([a, b].map(async (thread) => (await LiveClient.open(service.urlOf(thread))).read()))
  const hellos = await Promise.all(clients.map((client) => client.next('hello')))
  expect(hellos[0].service).toMatchObject({ workers: 3, pid: process.pid, store: 'memory' })
  expect(hellos[1].service).toEqual(hellos[0].service)
  await checks(service, a, 10)
  await checks(service, b, 10)
  await checks(service, c, 20)
  const expected = {
    allowed: 30,
    denied: 10,
    levels: [
      [30, 10, 0, 0],
      [5, 0, 35, 0],
    ],
  }
  for (const client of clients) await expect.poll(() => sumOf(client.frames), LONG).toEqual(expected)
  expect(clients[0].frames.at(-1)?.workers).toBe(3)
  // Keys and requests of all threads, for the clients of any.
  const keys = await Promise.all(
    clients.map((client) => client.next('keys', ({ byLoad }) => byLoad.some(({ count }) => count === 40))),
  )
  expect(keys[0].byLoad[0].key).toMatch(/^•••• [0-9a-f]{6}$/)
  expect(keys[1].byLoad).toEqual(keys[0].byLoad)
  await checks(service, c, 1)
  for (const client of clients) await client.next('requests', (requests) => requests.some(({ allowed }) => !allowed))
  // The counts of the last moment die with a thread; here they were told.
  await expect.poll(() => sumOf(clients[0].frames).denied, LONG).toBe(11)
  service.kill(c)
  await expect.poll(() => service.threads.find((thread) => thread > c), LONG).toBeDefined()
  const later = service.threads.at(-1) as number
  await checks(service, later, 4)
  for (const client of clients) await expect.poll(() => sumOf(client.frames).denied, LONG).toBe(15)
  // A thread that came later has the history of all.
  const last = (await LiveClient.open(service.urlOf(later))).read()
  await expect.poll(() => sumOf(last.frames), LONG).toMatchObject({ allowed: 30, denied: 15 })
}, 60_000)

test('every thread tells that the policy file cannot be used, also one that starts later', async () => {
  await using service = await ThreadService.start(LEVELS, 2)
  const clients = await Promise.all(service.threads.map((each) => LiveClient.open(service.urlOf(each))))
  for (const client of clients) client.read()
  service.fleet.refuse({ file: 'policy.json', text: '{', problems: [{ line: 1, column: 2, message: 'cut off' }] })
  for (const client of clients) await client.next('policy', ({ problems }) => problems === 1)
  service.kill(service.threads[0])
  await expect.poll(() => service.threads.at(-1), LONG).toBeGreaterThan(2)
  const later = (await LiveClient.open(service.urlOf(service.threads.at(-1) as number))).read()
  await expect
    .poll(() => [...later.all('hello').map(({ policy }) => policy), ...later.all('policy')].at(-1)?.problems, LONG)
    .toBe(1)
}, 60_000)

test('after a reload every thread tells the levels before their first frame', async () => {
  await using service = await ThreadService.start(LEVELS, 2)
  const client = (await LiveClient.open(service.urlOf(service.threads[0]))).read()
  await client.next('hello')
  await client.next('frame', ({ version }) => version === 1)
  service.use([{ name: 'new', limit: { algorithm: 'unlimited' } }, ...LEVELS])
  await checks(service, service.threads[1], 3)
  await client.next('frame', ({ version, allowed }) => version === 2 && allowed > 0)
  const names = client.events.map(({ name, data }) => (name === 'frame' ? data.version : name))
  expect(names.indexOf('levels')).toBe(names.indexOf(2) - 1)
  expect(client.all('levels')[0].levels.map(({ name }) => name)).toEqual(['new', 'all', 'few'])
  await expect
    .poll(() => sumOf(client.frames.filter(({ version }) => version === 2)).levels[0], LONG)
    .toEqual([3, 0, 0, 0])
}, 60_000)
