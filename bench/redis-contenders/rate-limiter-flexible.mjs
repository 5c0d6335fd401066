import { RateLimiterRedis } from 'rate-limiter-flexible'
import { connectIoredis } from './ioredis.mjs'

/** It denies by a rejection that is not an Error. */
export async function rateLimiterFlexible(port, { capacity }, clientOptions) {
  const storeClient = await connectIoredis(port, clientOptions)
  const limiter = new RateLimiterRedis({ storeClient, points: capacity, duration: 3600 })
  return {
    ask: (key) => limiter.consume(key),
    isAllowed: () => true,
  }
}

/** With auto-pipelining, an option of ioredis that is off by default. */
export function rateLimiterFlexiblePipelined(port, limit) {
  return rateLimiterFlexible(port, limit, { enableAutoPipelining: true })
}
