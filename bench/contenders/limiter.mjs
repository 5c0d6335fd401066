import { RateLimiter } from 'limiter'

/** It limits one thing, so those who limit by key keep one for each key. */
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
