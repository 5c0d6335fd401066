import { RateLimiterRedis } from 'rate-limiter-flexible'
import { connectIoredis } from './ioredis.mjs'

/** A denial is a rejection that is no Error. */
export async function rateLimiterFlexible(port, { capacity }, clientOptions) {
  const storeClient = await connectIoredis(port, clientOptions)
  const limiter = new RateLimiterRedis({ storeClient, points: capacity, duration: 3600 })
  return {
    ask: (key) => limiter.consume(key),
    isAllowed: () => true,
  }
}

/** With what ioredis has for many commands at a time, and leaves to its users to turn on. */
export function rateLimiterFlexiblePipelined(port, limit) {
  return rateLimiterFlexible(port, limit, { enableAutoPipelining: true })
}
