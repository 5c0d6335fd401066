import { askTogether } from '../ask-together.mjs'
import { loadBuild } from '../compare/load-build.mjs'
import { redisBytesCases, redisCases } from '../compare/redis-cases.mjs'
import { takeTurns } from '../compare/take-turns.mjs'
import { everyId, randomIds } from '../ids.mjs'
import { connectIoredis } from '../redis-contenders/ioredis.mjs'
import { redisCpuUs } from '../redis-info.mjs'
import { quantile } from '../statistics.mjs'
import { heldBytes } from './redis-bytes.mjs'

const KEYS = 10_000
const TURN_MS = 200
const MOST_CALLS_A_TURN = 200_000
/** A few callers make few calls, and the compiler needs many to warm up. */
const turnsFor = (callers) => ({ rounds: 12, warmUp: callers < 16 ? 15 : 6 })
const KEYS_FOR_BYTES = 100_000

/** `[{ [subject]: { perSecond, p50Us, clientUs, redisUs } }, …]`, one for each round of turns. */
export async function compareRedis({ builds, title, port }) {
  const { callers, subjects } = redisCases[title]
  const observer = await connectIoredis(port)
  await observer.flushall()
  const created = await subjects(await loadBuilds(builds), port)
  for (const subject of Object.values(created)) await askTogether(subject, { callers: 256, ids: everyId(KEYS) })
  const ids = randomIds(KEYS, MOST_CALLS_A_TURN)
  return takeTurns(created, turnsFor(callers), async (subject) => {
    const before = await cpu(observer)
    const { calls, allowed, latencies, ms } = await askTogether(subject, { callers, ids, ms: TURN_MS })
    const after = await cpu(observer)
    if (allowed !== calls) throw new Error(`${title}: ${calls - allowed} of ${calls} calls were denied`)
    return {
      perSecond: (calls / ms) * 1_000,
      p50Us: quantile(latencies.sort(), 0.5) * 1_000,
      clientUs: (after.clientUs - before.clientUs) / calls,
      redisUs: (after.redisUs - before.redisUs) / calls,
    }
  })
}

/** `{ old, new }`: bytes that Redis holds for each key. */
export async function compareRedisBytes({ builds, title, port }) {
  const observer = await connectIoredis(port)
  const loaded = await loadBuilds(builds)
  const found = {}
  for (const [name, build] of Object.entries(loaded)) {
    const subject = await redisBytesCases[title].subjectOf(name, build, port)
    found[name] = await heldBytes(observer, subject, KEYS_FOR_BYTES)
  }
  return found
}

async function loadBuilds(folders) {
  const loaded = {}
  for (const [name, folder] of Object.entries(folders)) loaded[name] = await loadBuild(folder)
  return loaded
}

async function cpu(observer) {
  const redisUs = await redisCpuUs(observer)
  const { user, system } = process.cpuUsage()
  return { redisUs, clientUs: user + system }
}
