import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { startRedis } from '../../scripts/redis-server.mjs'
import { envoyCalls, openDoor, policy, steadyTurn } from '../service/envoy-calls.mjs'
import { loadFully } from '../service/grpc-load.mjs'
import { startChild } from '../service/start-child.mjs'
import { spread } from '../statistics.mjs'

/** Longer than any pause of a busy machine, so that Redis decides every call. */
const DEADLINE_MS = '1000'
/** Where Linux says how a process is scheduled, in the fields after its name. */
const POLICY_FIELD = 38

/** Linux stops a program under `chrt` that has used a processor for 95 % of a second, so turns have pauses between them. */
const PAUSE_MS = 700

/** Latencies of the door for Envoy at constant rates, on the embedded store and on Redis. */
export async function envoyLatency({
  connections,
  streams,
  keys,
  warmUpMs,
  ms,
  turns,
  memoryPerSecond,
  redisPerSecond,
}) {
  const redis = await startRedis()
  const calls = envoyCalls(keys)
  const options = { grpc: '127.0.0.1:0' }
  const servers = {
    memory: await startChild({ policy, options }),
    redis: await startChild({ policy, options: { ...options, store: redis.url, 'deadline-ms': DEADLINE_MS } }),
  }
  const measure = async (server, perSecond) => {
    const opened = await openDoor(server, connections, calls)
    await loadFully(opened, streams, warmUpMs)
    await steadyTurn({ server, opened }, perSecond, warmUpMs)
    const found = []
    while (found.length < turns) {
      await pause(PAUSE_MS)
      found.push(await steadyTurn({ server, opened }, perSecond, ms))
    }
    for (const each of opened) each.close()
    return summary(found)
  }
  try {
    return {
      isRealTime: isRealTime(),
      fast: await measure(servers.memory, memoryPerSecond),
      slow: await measure(servers.memory, redisPerSecond),
      redis: await measure(servers.redis, redisPerSecond),
    }
  } finally {
    for (const server of Object.values(servers)) await server.stop()
    await redis.stop()
  }
}

function summary(turns) {
  return Object.fromEntries(Object.keys(turns[0]).map((figure) => [figure, spread(turns.map((turn) => turn[figure]))]))
}

/** Whether this process, and so its children, goes before all usual programs, as `chrt -r 1` makes it. */
function isRealTime() {
  try {
    const text = readFileSync('/proc/self/stat', 'utf8')
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[POLICY_FIELD]) > 0
  } catch {
    return false
  }
}
