import { RateLimiter } from 'limiter'

/** One `RateLimiter` limits one thing, so limiting by key takes one for each key. */
export function limiter({ capacity }) {
  const limiters = new Map()
  return {
    ask(key) {
      let found = limiters.get(key)
      if (found === undefined) {
        found = new RateLimiter({ tokensPerInterval: capacity, interval: 'hour' })
        limiters.set(key, found)
      }
      return found.tryRemoveTokens(1)
    },
    isAllowed: (allowed) => allowed,
  }
}
