import { RateLimiterMemory } from 'rate-limiter-flexible'

/** Without its key prefix, which would make one more string for each call. It denies by a rejection that is not an Error. */
export function rateLimiterFlexible({ capacity }) {
  const limiter = new RateLimiterMemory({ points: capacity, duration: 3600, keyPrefix: '' })
  return {
    isAsync: true,
    ask: (key) => limiter.consume(key),
    isAllowed: () => true,
  }
}
