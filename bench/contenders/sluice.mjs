import { createLimiter, memoryStore, tokenBucket } from 'sluice'

export function sluice({ capacity, perHour }) {
  const store = memoryStore()
  const limiter = createLimiter({ name: 'bench', limit: tokenBucket({ capacity, refill: `${perHour}/h` }), store })
  return {
    ask: (key) => limiter.tryAcquire(key),
    isAllowed: (decision) => decision.allowed,
    storeBytes: () => store.stats().bytes,
  }
}
