import { askTogether } from '../ask-together.mjs'
import { everyId, randomIds } from '../ids.mjs'
import { connectIoredis } from '../redis-contenders/ioredis.mjs'
import { redisContenders } from '../redis-contenders.mjs'
import { redisCpuUs } from '../redis-info.mjs'
import { quantile } from '../statistics.mjs'

/** A few callers make few calls, and the compiler needs many to warm up. */
const warmUpMs = (callers) => (callers < 16 ? 2_500 : 300)
/** More calls than any contender makes in the time. */
const MOST_CALLS = 2_000_000

/**
 * The cost of decisions on Redis after every key is known and the code is compiled: decisions a second, latency, and CPU
 * time a decision of the server and of this process, in microseconds.
 */
export async function redisSpeed({ contender, port, case: name, limit, keys, callers, ms }) {
  const observer = await connectIoredis(port)
  await observer.flushall()
  const create = await redisContenders[contender].load()
  const subject = await create(port, limit)
  await askTogether(subject, { callers: 256, ids: everyId(keys) })
  const ids = randomIds(keys, MOST_CALLS)
  await askTogether(subject, { callers, ids, ms: warmUpMs(callers) })
  globalThis.gc()
  const before = await cpu(observer)
  const measured = await askTogether(subject, { callers, ids, ms })
  const after = await cpu(observer)
  check(contender, name, measured)
  measured.latencies.sort()
  return {
    perSecond: (measured.calls / measured.ms) * 1_000,
    p50Us: quantile(measured.latencies, 0.5) * 1_000,
    p99Us: quantile(measured.latencies, 0.99) * 1_000,
    redisUs: (after.redisUs - before.redisUs) / measured.calls,
    clientUs: (after.clientUs - before.clientUs) / measured.calls,
  }
}

async function cpu(observer) {
  const redisUs = await redisCpuUs(observer)
  const { user, system } = process.cpuUsage()
  return { redisUs, clientUs: user + system }
}

function check(contender, name, { calls, allowed }) {
  if (allowed !== (name === 'admitted' ? calls : 0))
    throw new Error(`${contender} allowed ${allowed} of ${calls} calls`)
}
