import { startRedis } from '../../scripts/redis-server.mjs'
import { connectIoredis } from '../redis-contenders/ioredis.mjs'
import { redisInfo } from '../redis-info.mjs'
import { burstTurn, envoyCalls, openDoor, policy, steadyTurn } from '../service/envoy-calls.mjs'
import { loadFully } from '../service/grpc-load.mjs'
import { startChild } from '../service/start-child.mjs'
import { spread } from '../statistics.mjs'

/** Longer than any pause of a busy machine, so that Redis decides every call. */
const DEADLINE_MS = 1_000

/** The door for Envoy on a Redis: the CPU of both. */
export async function envoyRedis({ connections, streams, keys, warmUpMs, burst, steady }) {
  const redis = await startRedis()
  const client = await connectIoredis(redis.port)
  const options = { grpc: '127.0.0.1:0', store: redis.url, 'deadline-ms': `${DEADLINE_MS}` }
  const server = await startChild({ policy, options })
  try {
    const opened = await openDoor(server, connections, envoyCalls(keys))
    const subject = { server, opened, store: { cpuUs: () => redisCpuUs(client) } }
    await loadFully(opened, streams, warmUpMs)
    const bursts = await turnsOf(burst.turns, () => burstTurn(subject, streams, burst.ms))
    const steadily = await turnsOf(steady.turns, () => steadyTurn(subject, steady.perSecond, steady.ms))
    for (const each of opened) each.close()
    return { bursts: summary(bursts), steady: summary(steadily), degraded: await degradedOf(server.port) }
  } finally {
    client.disconnect()
    await server.stop()
    await redis.stop()
  }
}

async function turnsOf(count, measure) {
  const turns = []
  while (turns.length < count) turns.push(await measure())
  return turns
}

/** All threads of the server. */
async function redisCpuUs(client) {
  const { used_cpu_user: user, used_cpu_sys: system } = await redisInfo(client, 'cpu')
  return (Number(user) + Number(system)) * 1e6
}

/** Calls that were answered without Redis. */
async function degradedOf(port) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const counts = [...text.matchAll(/^sluice_store_degraded_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count))
  if (counts.length === 0) throw new Error('the service has no metric sluice_store_degraded_total')
  return counts.reduce((sum, count) => sum + count, 0)
}

function summary(turns) {
  const both = turns.map((turn) => ({ ...turn, bothCpuUs: turn.cpuUs + turn.storeCpuUs }))
  const figures = Object.keys(both[0]).map((figure) => [figure, spread(both.map((turn) => turn[figure]))])
  return Object.fromEntries(figures)
}
