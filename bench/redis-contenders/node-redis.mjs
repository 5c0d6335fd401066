import { createClient } from 'redis'
import { nodeRedisOptions } from 'sluice/redis'

export async function connectNodeRedis(port) {
  const client = createClient({ socket: { host: '127.0.0.1', port }, ...nodeRedisOptions })
  await client.connect()
  return client
}
