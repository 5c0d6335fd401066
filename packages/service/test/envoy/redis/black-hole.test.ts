/** Redis takes commands and answers none, while calls of Envoy come in: the rule `open` answers each of them in time. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { envoyCalls, openDoor, policy } from '../../../../../bench/service/envoy-calls.mjs'
import { loadAtRate } from '../../../../../bench/service/grpc-load.mjs'
import { startRedis } from '../../../../../scripts/redis-server.mjs'
import { isLong } from '../../../../sluice/test/property/arbitraries.js'
import { scrape } from '../../recorder/serve-here.js'
import { startTestService } from '../../serve/test-service.js'
import { portOf } from '../door-service.js'

/** The default of `--deadline-ms` is 50. */
const MOST_MS = 60
const PER_SECOND = 3_000
const CONNECTIONS = 4
const OUTAGE_MS = 1_000
/** Far less than come in an outage: a machine that is busy sends fewer. */
const LEAST_DEGRADED = 300
const OUTAGES = isLong ? 20 : 1
const calls = envoyCalls(1_000)

/**
 * The client looks at the clock in each turn of the event loop, and never waits, so a turn that takes longer than this was held up
 * by the machine. After a longer one the store gives Redis 10 ms more: the process could not read its answers.
 */
const MOST_TURN_MS = 2
const BUSY_MS = 5
const GRACE_MS = 10

/** A clock that leaves out what the machine has held up. The service runs in this process too. */
function turnClock(): () => number {
  let lastMs = performance.now()
  let resumesMs = lastMs
  let passedMs = 0
  return () => {
    const realMs = performance.now()
    const turnMs = realMs - lastMs
    lastMs = realMs
    if (realMs >= resumesMs) passedMs += Math.min(turnMs, MOST_TURN_MS)
    if (turnMs > BUSY_MS) resumesMs = realMs + GRACE_MS
    return passedMs
  }
}

test.each(['own', 'node'])(
  'while Redis is a black hole, --http2 %s answers every call within 60 ms, and none with an error',
  async (http2) => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const service = await startTestService(policy.levels, { store: redis.url, grpc: '127.0.0.1:0', http2 })
    onTestFinished(() => service.close())
    const opened = await openDoor({ grpcPort: portOf(service.grpcUrl) }, CONNECTIONS, calls)
    onTestFinished(() => {
      for (const each of opened) each.close()
    })
    /** How many calls were answered without Redis. */
    const degraded = async () => {
      const byReason = (await scrape(service.url)).get('sluice_store_degraded_total')?.samples.values() ?? []
      return [...byReason].reduce((sum, count) => sum + count, 0)
    }
    await loadAtRate(opened, PER_SECOND, OUTAGE_MS)
    for (let outage = 0; outage < OUTAGES; outage++) {
      const before = await degraded()
      const load = loadAtRate(opened, PER_SECOND, 3 * OUTAGE_MS, turnClock())
      await pause(OUTAGE_MS)
      redis.signal('SIGSTOP')
      await pause(OUTAGE_MS)
      redis.signal('SIGCONT')
      const { latencies } = await load
      expect(latencies.at(-1)).toBeLessThanOrEqual(MOST_MS)
      expect((await degraded()) - before).toBeGreaterThan(LEAST_DEGRADED)
      await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, { timeout: 20_000 }).toBe(200)
    }
  },
  60_000 * OUTAGES,
)
