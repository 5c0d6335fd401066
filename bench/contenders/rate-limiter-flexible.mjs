import { RateLimiterMemory } from 'rate-limiter-flexible'

/** Without its key prefix, which would make one more string a call. A denial is a rejection that is no Error. */
export function rateLimiterFlexible({ capacity }) {
  const limiter = new RateLimiterMemory({ points: capacity, duration: 3600, keyPrefix: '' })
  return {
    isAsync: true,
    ask: (key) => limiter.consume(key),
    isAllowed: () => true,
  }
}
