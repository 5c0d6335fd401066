/** `sluice serve --lease`: busy keys are decided on leased units, within the limit of the fleet. */
import { createLimiter, tokenBucket } from 'sluice'
import { serviceStore } from 'sluice/client'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { sampleOf, scrape } from '../../recorder/serve-here.js'
import { ServeProcess } from '../serve-process.js'
import { startTestService, type TestService } from '../test-service.js'

const CAPACITY = 500
const REFILL_PER_MS = 0.25
const levelsOf = (refill: string) => [
  { name: 'all', limit: { algorithm: 'token-bucket', capacity: CAPACITY, refill } },
  { name: 'user', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 100_000, refill: '100000/s' } },
]
const CALLERS = 8
const BATCH = 20

let redis: RedisServer
beforeEach(async () => {
  redis = await startRedis()
})
afterEach(() => redis.stop())

/** A request that was admitted: it was decided between these times. */
interface Admission {
  readonly sentMs: number
  readonly answeredMs: number
}

interface Verdict {
  readonly allowed: boolean
  readonly degraded?: string
  readonly levels: readonly { readonly remaining: number }[]
}

async function start(
  refill: string,
  more: Readonly<Record<string, string>> = {},
  levels = levelsOf(refill),
): Promise<TestService> {
  const settings = { store: redis.url, 'deadline-ms': '5000', ...more }
  const service = await startTestService(levels, settings)
  onTestFinished(() => service.close())
  return service
}

async function check(url: string, cost = 1, user = 'busy'): Promise<Verdict> {
  const body = JSON.stringify({ attributes: { user }, cost })
  return (await fetch(`${url}/v1/check`, { method: 'POST', body })).json() as Promise<Verdict>
}

/** Asks `count` times, a multiple of 20, with several callers at each address. */
async function load(urls: readonly string[], count: number): Promise<Admission[]> {
  const admitted: Admission[] = []
  let batches = count / BATCH
  const body = JSON.stringify({ checks: Array.from({ length: BATCH }, () => ({ attributes: { user: 'busy' } })) })
  const call = async (url: string) => {
    while (batches-- > 0) {
      const sentMs = performance.now()
      const response = await fetch(`${url}/v1/check/batch`, { method: 'POST', body })
      const { verdicts } = (await response.json()) as { verdicts: Verdict[] }
      const answeredMs = performance.now()
      for (const { allowed } of verdicts) if (allowed) admitted.push({ sentMs, answeredMs })
    }
  }
  await Promise.all(urls.flatMap((url) => Array.from({ length: CALLERS }, () => call(url))))
  return admitted
}

/** The most units that were surely admitted in an interval, beyond what came back in it. At most the capacity, by the law. */
function worstBurst(admitted: readonly Admission[]): number {
  const byAnswer = admitted.toSorted((a, b) => a.answeredMs - b.answeredMs)
  let worst = 0
  for (const { sentMs: fromMs } of admitted) {
    let count = 0
    for (const { sentMs, answeredMs } of byAnswer)
      if (sentMs >= fromMs) worst = Math.max(worst, ++count - REFILL_PER_MS * (answeredMs - fromMs))
  }
  return worst
}

/** The sum of a metric over all workers. */
async function sumOf(url: string, metric: string): Promise<number> {
  const samples = (await scrape(url)).get(metric)?.samples ?? new Map<string, number>()
  return [...samples.values()].reduce((sum, value) => sum + value, 0)
}

test('two services under load keep one limit, use it, and ask Redis for few of their decisions', async () => {
  const oneLevel = levelsOf('250/s').slice(0, 1)
  const startOne = () => start('250/s', { lease: 'true' }, oneLevel)
  const services = [await startOne(), await startOne()]
  const beganMs = performance.now()
  const admitted = await load(
    services.map(({ url }) => url),
    6_000,
  )
  const most = CAPACITY + REFILL_PER_MS * (performance.now() - beganMs)
  expect(worstBurst(admitted)).toBeLessThanOrEqual(CAPACITY)
  expect(admitted.length).toBeLessThanOrEqual(most)
  expect(admitted.length).toBeGreaterThan(0.9 * CAPACITY)
  const calls = await Promise.all(services.map(({ url }) => sumOf(url, 'sluice_store_calls_total')))
  expect(calls[0] + calls[1]).toBeLessThan(6_000 / 10)
})

test('a scrape tells what became of leased units, and the summary has them beside the state of Redis', async () => {
  const { url, service } = await start('250/s', { lease: 'true', 'lease-ms': '100' })
  await load([url], 400)
  const metrics = await scrape(url)
  const lease = (name: string) => sampleOf(metrics, `sluice_lease_${name}`) ?? Number.NaN
  const units = ['spent', 'returned', 'expired'].map((fate) => lease(`${fate}_units_total`))
  expect(lease('granted_units_total')).toBe(units.reduce((sum, each) => sum + each, lease('held_units')))
  expect(lease('spent_units_total')).toBeGreaterThan(0)
  expect(lease('keys')).toBeGreaterThan(0)
  expect(lease('exchanges_total')).toBeGreaterThan(0)
  expect(lease('direct_decisions_total')).toBeGreaterThan(0)
  expect(sampleOf(metrics, 'sluice_info{store="redis",version="0.1.0"}')).toBe(1)
  service.recorder.tick(Date.now())
  expect(service.recorder.summary.latest?.store).toMatchObject({
    kind: 'redis',
    breaker: 'closed',
    leases: { spent: expect.any(Number) },
  })
})

test('a request takes from busy levels and others, all or none, until every unit is used', async () => {
  const { url } = await start('1/d', { lease: 'true' })
  let admitted = (await load([url], 100)).length
  expect(admitted).toBe(100)
  expect((await check(url, CAPACITY - 100 + 1)).allowed).toBe(false)
  expect((await check(url, 1, 'rare')).allowed).toBe(true)
  const used = async () => {
    admitted += (await load([url], 400)).length
    return admitted + 1
  }
  await expect.poll(used, { timeout: 20_000 }).toBe(CAPACITY)
  expect(await load([url], 400)).toEqual([])
})

test('the limits of clients are leased too, and keep their quota', async () => {
  const { url } = await start('1/d', { lease: 'true' })
  const store = serviceStore(url, { deadlineMs: 10_000 })
  const limiter = createLimiter({ name: 'search', limit: tokenBucket({ capacity: 200, refill: '1/d' }), store })
  let admitted = 0
  const admittedSoFar = async () => {
    const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter.tryAcquire('busy')))
    expect(decisions.every(({ degraded }) => degraded === undefined)).toBe(true)
    admitted += decisions.filter(({ allowed }) => allowed).length
    return admitted
  }
  await expect.poll(admittedSoFar, { timeout: 20_000 }).toBe(200)
  expect(await admittedSoFar()).toBe(200)
  expect(await sumOf(url, 'sluice_lease_spent_units_total')).toBeGreaterThan(0)
})

test('a service that ends gives its leases back at once', async () => {
  const leasing = await start('1/d', { lease: 'true' })
  const admitted = await load([leasing.url], 60)
  const held = async () => {
    admitted.push(...(await load([leasing.url], BATCH)))
    return sumOf(leasing.url, 'sluice_lease_held_units')
  }
  await expect.poll(held, { timeout: 20_000 }).toBeGreaterThan(0)
  await leasing.close()
  const direct = await start('1/d')
  expect((await check(direct.url, 0)).levels[0].remaining).toBe(CAPACITY - admitted.length)
})

test('a service ends also if Redis does not take its leases back', async () => {
  const leasing = await start('1/d', { lease: 'true', 'deadline-ms': '3600000' })
  await load([leasing.url], 200)
  redis.signal('SIGSTOP')
  const beganMs = performance.now()
  await leasing.close()
  expect(performance.now() - beganMs).toBeLessThan(10_000)
  redis.signal('SIGCONT')
})

test('while Redis is away, units in hand are spent and then the rule decides; a Redis that comes back empty lends again', async () => {
  const { url } = await start('250/s', { lease: 'true', 'on-failure': 'closed', 'deadline-ms': '50' })
  const beganMs = performance.now()
  const before = await load([url], 1_000)
  const { port } = redis
  await redis.stop()
  const ready = async () => (await fetch(`${url}/readyz`)).status
  await expect.poll(ready, { timeout: 20_000 }).toBe(503)
  const during: Admission[] = []
  const ruleDecides = async () => {
    during.push(...(await load([url], 20)))
    return (await check(url)).degraded
  }
  await expect.poll(ruleDecides, { timeout: 20_000 }).toBe('closed')
  redis = await startRedis({ port })
  await expect.poll(async () => (await check(url, 0)).degraded, { timeout: 20_000 }).toBeUndefined()
  const spentBefore = await sumOf(url, 'sluice_lease_spent_units_total')
  const after: Admission[] = []
  const spent = async () => {
    after.push(...(await load([url], 400)))
    return sumOf(url, 'sluice_lease_spent_units_total')
  }
  await expect.poll(spent, { timeout: 20_000 }).toBeGreaterThan(spentBefore)
  // A Redis that loses its data may admit one capacity more, and what was held: at most a capacity again.
  const most = 3 * CAPACITY + REFILL_PER_MS * (performance.now() - beganMs)
  expect(before.length + during.length + after.length).toBeLessThanOrEqual(most)
  expect(worstBurst([...before, ...during])).toBeLessThanOrEqual(CAPACITY)
  expect(worstBurst(after)).toBeLessThanOrEqual(CAPACITY)
})

test('every worker leases for itself, a scrape has the leases of all, and the start says so', async () => {
  await using running = await ServeProcess.start(
    ['--store', redis.url, '--deadline-ms', '5000', '--workers', '2', '--http', '127.0.0.1:0'],
    { SLUICE_LEASE: 'true' },
  )
  expect(running.stderr).toContain('with busy keys on leases of up to 250 ms')
  const checkOnce = () =>
    fetch(`${running.url}/v1/check`, {
      method: 'POST',
      body: '{"attributes":{"merchant":"acct_1"}}',
      headers: { connection: 'close' },
    })
  const spentByAll = async () => {
    await Promise.all(Array.from({ length: 60 }, checkOnce))
    return sumOf(running.url, 'sluice_lease_spent_units_total')
  }
  await expect.poll(spentByAll, { timeout: 20_000 }).toBeGreaterThan(0)
  const spent = (await scrape(running.url)).get('sluice_lease_spent_units_total')?.samples ?? new Map()
  expect([...spent.keys()].toSorted()).toEqual([
    'sluice_lease_spent_units_total{worker="1"}',
    'sluice_lease_spent_units_total{worker="2"}',
  ])
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
})
