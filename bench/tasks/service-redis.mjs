import { setTimeout as pause } from 'node:timers/promises'
import { startRedis } from '../../scripts/redis-server.mjs'
import { loadAtRate, loadFully, openConnections } from '../service/load.mjs'
import { policy, singleRequests } from '../service/requests.mjs'
import { startChild } from '../service/start-child.mjs'
import { quantilesOf } from './service-speed.mjs'

/**
 * The service on Redis: its greatest rate, and latencies at half of it, without trouble and while Redis is killed a third
 * of the time after the start and started again at two thirds.
 */
export async function serviceRedis({ connections, warmUpMs, peakMs, latencyMs }) {
  let redis = await startRedis()
  const { port } = redis
  const service = await startChild({ policy, options: { store: `redis://127.0.0.1:${port}` } })
  try {
    const next = singleRequests()
    const opened = await openConnections(service.port, connections)
    await loadFully(opened, next, warmUpMs)
    const before = await service.usage()
    const answers = await loadFully(opened, next, peakMs)
    const cpuUs = ((await service.usage()).cpuUs - before.cpuUs) / answers
    const peak = (answers * 1_000) / peakMs
    const perSecond = Math.round(peak / 2)
    const calm = await loadAtRate(opened, next, { perSecond, ms: latencyMs })
    const outage = async () => {
      await pause(latencyMs / 3)
      await redis.stop()
      await pause(latencyMs / 3)
      redis = await startRedis({ port })
    }
    const [troubled] = await Promise.all([loadAtRate(opened, next, { perSecond, ms: latencyMs }), outage()])
    return {
      peak,
      cpuUs,
      perSecond,
      calm: { errors: calm.errors, ...quantilesOf(calm.latencies) },
      outage: { errors: troubled.errors, ...quantilesOf(troubled.latencies) },
    }
  } finally {
    await service.stop()
    await redis.stop()
  }
}
