import { Redis } from 'ioredis'
import { ioredisOptions } from 'sluice/redis'

/** Opens one connection, with the same options for every contender. */
export async function connectIoredis(port, more = {}) {
  const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, ...more, lazyConnect: true })
  await client.connect()
  return client
}
