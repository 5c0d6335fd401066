import { createLimiter, memoryStore, tokenBucket } from 'sluice'
import { leasedStore } from 'sluice/leased'
import { redisStore } from 'sluice/redis'
import { connectIoredis } from '../redis-contenders/ioredis.mjs'

const CALLERS = 256
const WARM_UP_TURNS = 2
const TURNS = 5
/** A synchronous caller lets the process answer other things after so many calls. */
const CALLS_AT_ONCE = 256
// Never used up. A lease is for a quarter of a second, so the bucket fills in at least one second.
const limit = tokenBucket({ capacity: 1_000_000_000, refill: '100000000/s' })
const KEY = 'user:1'

/**
 * One key, decided in memory, on leases and directly in Redis, in turns of one process. Returns, for each turn, decisions a
 * second and CPU time of this process a decision in nanoseconds: `now` for calls that return a decision, `later` for 256
 * callers that await one.
 */
export async function leases({ port, ms }) {
  const redis = redisStore(await connectIoredis(port), { deadlineMs: 5_000 })
  const store = leasedStore(redis)
  const memory = createLimiter({ name: 'bench', limit, store: memoryStore() })
  const leased = createLimiter({ name: 'leased', limit, store })
  const direct = createLimiter({ name: 'direct', limit, store: redis })
  const subjects = {
    memoryNow: () => decideNow(() => memory.tryAcquire(KEY), ms),
    leasedNow: () => decideNow(() => leased.tryAcquireNow(KEY) ?? leased.tryAcquire(KEY), ms),
    memoryLater: () => decideLater(memory, ms),
    leasedLater: () => decideLater(leased, ms),
    direct: () => decideLater(direct, ms),
  }
  const found = Object.fromEntries(Object.keys(subjects).map((name) => [name, {}]))
  for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn++) {
    for (const [name, measure] of Object.entries(subjects)) {
      const before = process.cpuUsage()
      const { decided, tookMs } = await measure()
      const { user, system } = process.cpuUsage(before)
      const measured = { perSecond: (decided / tookMs) * 1_000, cpuNs: ((user + system) / decided) * 1_000 }
      if (turn >= WARM_UP_TURNS) found[name][`turn ${turn}`] = measured
    }
  }
  const { exchanges, direct: asked, spent } = store.stats()
  await store.close()
  return { turns: found, callsADecision: (exchanges + asked) / spent }
}

/** Counts only the time of the calls, and the calls that returned a decision. */
async function decideNow(decide, ms) {
  let [decided, busyMs] = [0, 0]
  const endMs = performance.now() + ms
  while (performance.now() < endMs) {
    const startMs = performance.now()
    for (let i = 0; i < CALLS_AT_ONCE; i++) {
      const decision = decide()
      if ('then' in decision) {
        await decision
        break
      }
      check(decision)
      decided++
    }
    busyMs += performance.now() - startMs
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { decided, tookMs: busyMs }
}

async function decideLater(limiter, ms) {
  const startMs = performance.now()
  const endMs = startMs + ms
  let decided = 0
  const caller = async () => {
    while (performance.now() < endMs) {
      check(await limiter.tryAcquire(KEY))
      decided++
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return { decided, tookMs: performance.now() - startMs }
}

function check({ allowed, degraded }) {
  if (!allowed || degraded !== undefined) throw new Error('a decision was a denial, or was made without Redis')
}
