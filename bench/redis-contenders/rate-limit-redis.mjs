import { RedisStore } from 'rate-limit-redis'
import { connectIoredis } from './ioredis.mjs'

/** The store counts; express-rate-limit's middleware compares the count with the limit, as `isAllowed` does here. */
export async function rateLimitRedis(port, { capacity }) {
  const client = await connectIoredis(port)
  const store = new RedisStore({ sendCommand: (command, ...args) => client.call(command, ...args) })
  await store.init({ windowMs: 3_600_000 })
  return {
    ask: (key) => store.increment(key),
    isAllowed: ({ totalHits }) => totalHits <= capacity,
  }
}
