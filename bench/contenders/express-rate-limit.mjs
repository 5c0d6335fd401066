import { MemoryStore } from 'express-rate-limit'

/** Its store counts; comparing the count with the limit is what its middleware does. */
export function expressRateLimit({ capacity }) {
  const store = new MemoryStore()
  store.init({ windowMs: 3_600_000 })
  return {
    isAsync: true,
    ask: (key) => store.increment(key),
    isAllowed: ({ totalHits }) => totalHits <= capacity,
  }
}
