import { startRedis } from '../scripts/redis-server.mjs'
import { connectIoredis } from './redis-contenders/ioredis.mjs'
import { redisInfo } from './redis-info.mjs'

/** Starts a Redis server, calls `run` with its port and version, and stops the server. */
export async function withRedis(run) {
  const server = await startRedis()
  try {
    return await run(server.port, await versionOf(server.port))
  } finally {
    await server.stop()
  }
}

async function versionOf(port) {
  const client = await connectIoredis(port)
  const { redis_version: version } = await redisInfo(client, 'server')
  client.disconnect()
  return version
}
