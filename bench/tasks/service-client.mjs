import { readFileSync } from 'node:fs'
import { createLimiter, tokenBucket } from 'sluice'
import { serviceStore } from 'sluice/client'
import { redisStore } from 'sluice/redis'
import { askTogether } from '../ask-together.mjs'
import { randomIds } from '../ids.mjs'
import { connectIoredis } from '../redis-contenders/ioredis.mjs'
import { redisCpuUs } from '../redis-info.mjs'
import { quantile } from '../statistics.mjs'

const WARM_UP_MS = 2_500
const KEYS = 10_000
const MOST_CALLS = 2_000_000
/** A busy machine must not end the measurement. */
const deadlineMs = 5_000
/** Linux counts the CPU time of a process in ticks of 10 ms. */
const TICK_US = 10_000

/**
 * The cost of decisions through `serviceStore`, or for comparison through `redisStore`: decisions a second, latency, and CPU
 * time a decision of the server and of this process, in microseconds.
 */
export async function serviceClient({ contender, url, pid, port, callers, ms }) {
  const redis = await connectIoredis(port)
  const store = contender === 'redis' ? redisStore(redis, { deadlineMs }) : serviceStore(url, { deadlineMs })
  const limiter = createLimiter({ name: 'bench', limit: tokenBucket({ capacity: 1_000, refill: '1000/s' }), store })
  const subject = { ask: (key) => limiter.tryAcquire(key), isAllowed: ({ allowed }) => allowed }
  const ids = randomIds(KEYS, MOST_CALLS)
  const serverUs = () => (contender === 'redis' ? redisCpuUs(redis) : processUs(pid))
  await askTogether(subject, { callers, ids, ms: WARM_UP_MS })
  globalThis.gc()
  const before = { serverUs: await serverUs(), own: process.cpuUsage() }
  const { calls, latencies, ms: tookMs } = await askTogether(subject, { callers, ids, ms })
  const { user, system } = process.cpuUsage(before.own)
  const usedUs = (await serverUs()) - before.serverUs
  const { degraded } = store.stats()
  if (Object.values(degraded).some((times) => times > 0)) throw new Error(`degraded: ${JSON.stringify(degraded)}`)
  latencies.sort()
  return {
    perSecond: (calls / tookMs) * 1_000,
    p50Us: quantile(latencies, 0.5) * 1_000,
    p99Us: quantile(latencies, 0.99) * 1_000,
    serverUs: usedUs / calls,
    clientUs: (user + system) / calls,
  }
}

/** CPU time that a process has used so far; not a number where there is no /proc. */
function processUs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_US
  } catch {
    return Number.NaN
  }
}
