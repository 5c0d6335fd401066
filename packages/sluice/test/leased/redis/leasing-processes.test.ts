import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tokenBucket } from 'sluice'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { until } from '../../redis/faults-until.js'
import { type Span, worstBurstOfSpans } from '../../simulator/span-law.js'
import { LeasingProcesses, nowUs } from './leasing-processes.js'

const CAPACITY = 400
const PER_SECOND = 1_000
/** Redis reads the clock of the day, which may run faster than that of the logs while it is being set right. */
const SURE_PER_SECOND = 1.001 * PER_SECOND
const limit = tokenBucket({ capacity: CAPACITY, refill: `${PER_SECOND}/s` })

let server: RedisServer
let fleet: LeasingProcesses

/** Starts a server with these options, and four processes that lease from it. */
async function start(options: Parameters<typeof startRedis>[0] = {}) {
  server = await startRedis(options)
  fleet = new LeasingProcesses(4, server.port, limit)
  await fleet.started()
}

afterEach(async () => {
  fleet?.stop()
  await server?.stop()
})

const admitted = (count: number) => until(`${count} are admitted`, () => fleet.spans().length >= count, 20_000)
const worst = (spans: readonly Span[]) => worstBurstOfSpans(spans, SURE_PER_SECOND)
const lastUs = (spans: readonly Span[]) => Math.max(...spans.map(({ answeredUs }) => answeredUs))
const firstUs = (spans: readonly Span[]) => Math.min(...spans.map(({ sentUs }) => sentUs))

it('four processes never admit more than capacity + refill·T in any interval, though one of them is killed', async () => {
  await start()
  await admitted(CAPACITY + 0.5 * PER_SECOND)
  await fleet.kill(0)
  await admitted(CAPACITY + 2.5 * PER_SECOND)
  const reports = await fleet.end()
  const spans = fleet.spans()
  expect(worst(spans)).toBeLessThanOrEqual(CAPACITY)
  const allowed = CAPACITY + ((lastUs(spans) - firstUs(spans)) / 1e6) * PER_SECOND
  expect(spans.length).toBeGreaterThan(0.8 * allowed)
  const sum = (of: 'asked' | 'calls') => reports.reduce((total, report) => total + report[of], 0)
  expect(sum('asked')).toBeGreaterThan(spans.length)
  expect(sum('calls')).toBeLessThan(0.05 * sum('asked'))
})

it('four processes admit at most a capacity and what they held more if Redis is killed and comes back empty', async () => {
  await start()
  await admitted(CAPACITY + 0.5 * PER_SECOND)
  const killedUs = nowUs()
  await server.stop()
  server = await startRedis({ port: server.port })
  const backUs = nowUs()
  await until('Redis decides again', () => lastUs(fleet.spans()) > backUs + 1e6, 20_000)
  await fleet.end()
  const spans = fleet.spans()
  // Each of the two servers kept the law. What was held under the first was spent under the second.
  expect(worst(spans.filter(({ answeredUs }) => answeredUs < killedUs))).toBeLessThanOrEqual(CAPACITY)
  expect(worst(spans.filter(({ sentUs }) => sentUs >= killedUs))).toBeLessThanOrEqual(2 * CAPACITY)
  expect(worst(spans)).toBeLessThanOrEqual(3 * CAPACITY)
})

it('four processes keep the law strictly if Redis is killed and comes back with all it has written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kept-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const options = { folder, args: ['--appendonly', 'yes', '--appendfsync', 'always'] }
  await start(options)
  for (let kills = 1; kills <= 2; kills++) {
    await admitted(kills * (CAPACITY + 0.5 * PER_SECOND))
    await server.stop()
    server = await startRedis({ ...options, port: server.port })
    const backUs = nowUs()
    await until('Redis decides again', () => lastUs(fleet.spans()) > backUs + 1e6, 20_000)
  }
  await fleet.end()
  expect(worst(fleet.spans())).toBeLessThanOrEqual(CAPACITY)
})
