/** `GET /v1/live` over real sockets: what a client is told, and what it is not. */
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import type { LiveKey } from '../../src/live/live-events.js'
import { parsePolicyFile } from '../../src/policy-file/parse-policy-file.js'
import { DescribedService, TOKEN } from '../openapi/described-service.js'
import { ask, startTestService } from '../serve/test-service.js'
import { RawClient } from '../server/raw-client.js'
import { LiveClient, sumOf } from './live-client.js'

const described = new DescribedService()

const bucket = (capacity: number) => ({ algorithm: 'token-bucket', capacity, refill: '1/d' })
const LEVELS = [
  { name: 'merchant', key: ['merchant'], limit: bucket(3) },
  { name: 'trial', key: ['merchant'], limit: bucket(1), shadow: true },
  { name: 'writes', when: { method: 'POST' }, limit: bucket(1_000) },
]

async function start(levels: readonly object[] = LEVELS) {
  const running = await startTestService(levels, { 'admin-token': TOKEN, 'shutdown-ms': '100' }, 'api')
  onTestFinished(() => running.close())
  return { ...running, recorder: running.service.recorder }
}

const check = (url: string, attributes: object, cost = 1) => ask(url, '/v1/check', { attributes, cost })

/** Opens a stream that is read, and has had its history. */
async function open(url: string, query = '', token?: string): Promise<LiveClient> {
  const client = (await LiveClient.open(url, query, token)).read()
  await client.next('hello')
  return client
}

it('frames add up to what was sent, in all and for each level', async () => {
  const { url, recorder } = await start()
  const client = await open(url)
  for (let i = 0; i < 5; i++) await check(url, { merchant: 'a', method: i < 2 ? 'POST' : 'GET' })
  recorder.tick(Date.now())
  for (let i = 0; i < 2; i++) await check(url, { merchant: 'b' })
  recorder.tick(Date.now())
  await client.next('frame', () => sumOf(client.frames).allowed === 5)
  expect(sumOf(client.frames)).toEqual({
    allowed: 5,
    denied: 2,
    levels: [
      [5, 2, 0, 0],
      [2, 0, 5, 0],
      [2, 0, 0, 0],
    ],
  })
  const { levels } = await client.next('hello')
  expect(levels).toEqual({
    version: 1,
    policy: 'api',
    levels: [
      { name: 'merchant', limits: [{ algorithm: 'token-bucket', capacity: 3, refill: '1/d' }] },
      { name: 'trial', limits: [{ algorithm: 'token-bucket', capacity: 1, refill: '1/d' }], shadow: true },
      { name: 'writes', limits: [{ algorithm: 'token-bucket', capacity: 1_000, refill: '1/d' }] },
    ],
  })
  const busy = client.frames.find(({ allowed }) => allowed > 0)
  expect(busy).toMatchObject({ workers: 1, version: 1, errors: 0, degraded: 0 })
  expect(busy?.p99Ms).toBeGreaterThanOrEqual(busy?.p50Ms ?? Infinity)
})

it('a client that comes later is given the history, and then goes on', async () => {
  const { url, recorder } = await start()
  await check(url, { merchant: 'a' })
  for (let i = 0; i < 12; i++) recorder.tick(Date.now() + i)
  const client = await open(url)
  const { seconds, tens, service } = await client.next('hello')
  expect(seconds.length).toBeGreaterThanOrEqual(12)
  expect(sumOf(seconds).levels[0]).toEqual([1, 0, 0, 0])
  expect(sumOf(tens).levels[0]).toEqual([1, 0, 0, 0])
  expect(service).toMatchObject({ store: 'memory', workers: 1, hasAdmin: true, isAdmin: false, pid: process.pid })
  expect([...service.attributes].sort()).toEqual(['merchant', 'method'])
  await check(url, { merchant: 'a' })
  recorder.tick(Date.now() + 1_000)
  await client.next('frame', ({ allowed }) => allowed === 1)
  expect(sumOf(client.frames).levels[0]).toEqual([2, 0, 0, 0])
})

it('without the token keys and attributes are masked, each always in the same way; with it they are not', async () => {
  const { url, recorder, service } = await start([
    ...LEVELS,
    { name: 'paths', when: { path: '/v1/**' }, limit: bucket(99) },
  ])
  const [open1, open2, admin] = [await open(url), await open(url), await open(url, '', TOKEN)]
  expect((await admin.next('hello')).service.isAdmin).toBe(true)
  for (let i = 0; i < 5; i++)
    await check(url, { merchant: 'a-secret-merchant', method: 'POST', path: '/v1/charges?card=a-secret-card' })
  for (let i = 1; i < 3; i++) recorder.tick(Date.now() + i)
  const told = []
  for (const client of [open1, open2, admin]) {
    const { byLoad, byDenials } = await client.next('keys', (keys) => keys.byDenials.length > 0)
    const [last] = (await client.next('requests')).slice(-1)
    const keyOf = ({ level }: LiveKey) => level === 'merchant'
    told.push({
      load: byLoad.find(keyOf),
      denials: byDenials.find(keyOf),
      paths: byLoad.find(({ level }) => level === 'paths'),
      last,
    })
  }
  const [masked, again, clear] = told
  expect(open1.text).not.toContain('a-secret')
  expect(again).toEqual(masked)
  expect(masked.load).toMatchObject({ count: 5, error: 0, key: expect.stringMatching(/^•••• [0-9a-f]{6}$/) })
  expect(masked.denials).toMatchObject({ count: 2, key: masked.load?.key })
  // A level without a key has one for all requests, which is no secret.
  expect(masked.paths).toMatchObject({ key: '*', count: 5 })
  expect(masked.last.attributes).toEqual({ merchant: masked.load?.key, method: 'POST', path: '/v1/charges' })
  expect(clear.load?.key).toBe('a-secret-merchant')
  expect(clear.last).toMatchObject({
    allowed: false,
    deniedBy: ['merchant'],
    degraded: false,
    cost: 1,
    attributes: { merchant: 'a-secret-merchant', method: 'POST', path: '/v1/charges' },
  })
  expect(admin.text).not.toContain('a-secret-card')
  expect(service.recorder.recents.find(clear.last.id)).toMatchObject({ cost: 1, attributes: clear.last.attributes })
})

it('a wrong token is refused, and after ten of them every token is', async () => {
  const { url } = await start()
  const wrong = await Promise.all(Array.from({ length: 10 }, () => LiveClient.open(url, '', 'not-the-token')))
  expect(wrong.map(({ status }) => status)).toEqual(Array(10).fill(401))
  expect((await LiveClient.open(url, '', TOKEN)).status).toBe(429)
  expect((await LiveClient.open(url)).status).toBe(200)
  const behindProxy = await fetch(`${url}/v1/live`, { method: 'HEAD', headers: { authorization: 'Basic dTpw' } })
  expect(behindProxy.status).toBe(200)
})

it('without an admin API a token is refused', async () => {
  const running = await startTestService(LEVELS, { 'shutdown-ms': '100' })
  onTestFinished(() => running.close())
  expect((await LiveClient.open(running.url, '', TOKEN)).status).toBe(403)
  const client = await open(running.url)
  expect((await client.next('hello')).service).toMatchObject({ hasAdmin: false, isAdmin: false })
})

it('level= tells the keys of one level, and a level that is not there is an error', async () => {
  const { url, recorder } = await start()
  const client = await open(url, '?level=writes')
  recorder.tick(Date.now())
  for (let i = 0; i < 3; i++) await check(url, { merchant: 'a', method: 'POST' })
  for (let i = 1; i < 3; i++) recorder.tick(Date.now() + i)
  const { byLoad } = await client.next('keys', (keys) => keys.byLoad.length > 0)
  expect(byLoad.map(({ level, count }) => [level, count])).toEqual([['writes', 3]])
  const refused = await fetch(`${url}/v1/live?level=wirtes`)
  expect(refused.status).toBe(400)
  expect(((await refused.json()) as { detail: string }).detail).toBe(
    "level must be a level of the policy, got 'wirtes'; the policy has merchant, trial, writes",
  )
  expect((await fetch(`${url}/v1/live?levels=writes`)).status).toBe(400)
})

it('events=keys tells the keys, masked as ever, and nothing else', async () => {
  const { url, recorder } = await start()
  const open = async (token?: string) => (await LiveClient.open(url, '?level=writes&events=keys', token)).read()
  const [masked, clear] = [await open(), await open(TOKEN)]
  await check(url, { merchant: 'a', method: 'POST' })
  for (let i = 0; i < 3; i++) recorder.tick(Date.now() + i)
  for (const client of [masked, clear]) {
    const { byLoad } = await client.next('keys', (keys) => keys.byLoad.length > 0)
    expect(byLoad).toEqual([{ level: 'writes', key: '*', count: 1, error: 0 }])
    expect(new Set(client.events.map(({ name }) => name))).toEqual(new Set(['keys']))
  }
  const refused = await fetch(`${url}/v1/live?events=frames`)
  expect(refused.status).toBe(400)
  expect(((await refused.json()) as { detail: string }).detail).toBe(
    "events must be keys, or absent for all events, got 'frames'",
  )
})

it('after a reload the levels are told before the first frame of them, and old frames keep their version', async () => {
  const { url, recorder, service } = await start()
  const client = await open(url)
  await check(url, { merchant: 'a', method: 'POST' })
  recorder.tick(Date.now())
  await client.next('frame', ({ allowed }) => allowed === 1)
  const levels = [{ name: 'new', limit: bucket(9) }, ...LEVELS.slice(0, 1)]
  await check(url, { merchant: 'b' })
  service.use(parsePolicyFile(JSON.stringify({ version: 1, name: 'api', levels })))
  await check(url, { merchant: 'b' })
  recorder.tick(Date.now() + 1_000)
  await client.next('frame', ({ version, allowed }) => version === 2 && allowed === 2)
  const order = client.events.filter(({ name }) => name === 'levels' || name === 'frame')
  const told = order.findIndex(({ name }) => name === 'levels')
  expect(client.all('levels')).toMatchObject([{ version: 2, levels: [{ name: 'new' }, { name: 'merchant' }] }])
  const versions = order.map(({ data }) => (data as { version: number }).version)
  expect(new Set(versions.slice(0, told))).toEqual(new Set([1]))
  expect(new Set(versions.slice(told))).toEqual(new Set([2]))
  // The request before the reload counts at the place that its level has now.
  expect(sumOf(client.frames.filter(({ version }) => version === 2)).levels).toEqual([
    [1, 0, 0, 0],
    [2, 0, 0, 0],
  ])
  const { seconds, levels: now } = await (await open(url)).next('hello')
  expect(now.version).toBe(2)
  expect([...new Set(seconds.map(({ version }) => version))]).toEqual([1, 2])
})

it('a policy file that cannot be used is told at once: how many problems it has, and none of its text', async () => {
  const { url, recorder, service } = await start()
  const client = await open(url)
  expect((await client.next('hello')).policy).toEqual({ problems: 0 })
  const problem = { line: 1, column: 1, message: 'a-secret-message' }
  service.refuse({ file: 'a-secret.yaml', text: 'a-secret-text', problems: [problem, problem] })
  await client.next('policy', ({ problems }) => problems === 2)
  const later = await open(url)
  expect((await later.next('hello')).policy).toEqual({ problems: 2 })
  service.use(service.file)
  recorder.tick(Date.now())
  await client.next('policy', ({ problems }) => problems === 0)
  const order = client.events.map(({ name }) => name)
  expect(order.lastIndexOf('policy')).toBeLessThan(order.indexOf('levels'))
  expect(client.text + later.text).not.toContain('a-secret')
})

it('32 clients listen at most, one that goes away makes room, and clients with the token have places of their own', async () => {
  const { url } = await start()
  const clients = await Promise.all(Array.from({ length: 32 }, () => LiveClient.open(url)))
  expect(clients.map(({ status }) => status)).toEqual(Array(32).fill(200))
  const refused = await LiveClient.open(url)
  expect([refused.status, refused.response.headers['content-type']]).toEqual([503, 'application/problem+json'])
  expect((await LiveClient.open(url, '', TOKEN)).status).toBe(200)
  clients[0].response.destroy()
  await expect.poll(async () => (await LiveClient.open(url)).status).toBe(200)
})

it('a connection has one stream: requests behind it take no place from others', async () => {
  const { url } = await start()
  const greedy = await RawClient.to(url)
  onTestFinished(() => greedy.close())
  greedy.write('GET /v1/live HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(40))
  await greedy.until(() => greedy.text.includes('event: hello'))
  const clients = await Promise.all(Array.from({ length: 31 }, () => LiveClient.open(url)))
  expect(clients.map(({ status }) => status)).toEqual(Array(31).fill(200))
  greedy.close()
  await expect.poll(async () => (await LiveClient.open(url)).status).toBe(200)
})

it('a client that does not read is dropped, and one that reads is told everything', async () => {
  const wide = Array.from({ length: 1_000 }, (_, i) => ({
    name: `level-${i}`,
    when: { user: `${i}` },
    limit: bucket(9),
  }))
  const { url, recorder } = await start(wide)
  for (let i = 0; i < 300; i++) recorder.tick(Date.now() + i)
  const slow = await LiveClient.open(url)
  const quick = await open(url)
  const hello = await quick.next('hello')
  expect(hello.seconds.length).toBe(300)
  expect(hello.tens.length).toBe(30)
  // The system buffers some megabytes for it.
  for (let i = 0; i < 1_500; i++) {
    recorder.tick(Date.now() + i)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const closed = new Promise((resolve) => slow.response.once('close', resolve))
  slow.read()
  await closed
  expect(slow.response.complete).toBe(false)
  expect(slow.all('frame').length).toBeLessThan(1_400)
  await expect.poll(() => quick.all('frame').length).toBeGreaterThanOrEqual(1_500)
})

it('a page that is opened later shows who was denied before', async () => {
  const { url, recorder } = await start()
  for (let i = 0; i < 5; i++) await check(url, { merchant: 'a' })
  recorder.tick(Date.now())
  recorder.tick(Date.now() + 60_000)
  const client = await open(url, '', TOKEN)
  const requests = await client.next('requests')
  expect(requests.map(({ allowed, deniedBy, attributes }) => [allowed, deniedBy, attributes.merchant])).toEqual([
    ...Array(3).fill([true, [], 'a']),
    ...Array(2).fill([false, ['merchant'], 'a']),
  ])
})

it('a service without a page samples no request', async () => {
  const running = await startTestService(LEVELS, { page: 'off' })
  onTestFinished(() => running.close())
  const { recents } = running.service.recorder
  await check(running.url, { merchant: 'a' })
  running.service.recorder.tick(Date.now())
  expect(recents.take()).toEqual([])
  expect(recents.all).toEqual([])
})

it('streams end when the service shuts down', async () => {
  const running = await startTestService(LEVELS, { 'shutdown-ms': '60000' })
  const client = await open(running.url)
  const ended = once(client.response, 'end')
  await running.close()
  await ended
  expect(client.all('end')).toEqual([{ reason: 'the service shuts down' }])
})

it('every event is as its description says', async () => {
  const { url, recorder, service } = await start()
  const client = await open(url, '', TOKEN)
  recorder.tick(Date.now())
  await check(url, { merchant: 'a' })
  service.use(service.file)
  recorder.board.hear({ demo: { isRunning: true } })
  for (let i = 1; i < 3; i++) recorder.tick(Date.now() + i)
  await client.next('keys')
  await client.next('requests')
  const schemas = {
    hello: 'LiveHello',
    frame: 'LiveFrame',
    levels: 'LiveLevels',
    policy: 'LivePolicy',
    store: 'LiveStore',
    keys: 'LiveTopKeys',
    requests: 'LiveRequests',
    demo: 'LiveDemo',
  } as const
  for (const [name, schema] of Object.entries(schemas)) {
    const events = client.all(name as keyof typeof schemas)
    expect(events.length, name).toBeGreaterThan(0)
    for (const data of events)
      expect(described.problems({ $ref: `#/components/schemas/${schema}` }, data), name).toBe('')
  }
  expect((await (await open(url)).next('hello')).demo).toEqual({ isRunning: true })
})
