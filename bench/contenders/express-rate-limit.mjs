import { MemoryStore } from 'express-rate-limit'

/** Its store counts; its middleware compares the count with the limit, as `isAllowed` does here. */
export function expressRateLimit({ capacity }) {
  const store = new MemoryStore()
  store.init({ windowMs: 3_600_000 })
  return {
    isAsync: true,
    ask: (key) => store.increment(key),
    isAllowed: ({ totalHits }) => totalHits <= capacity,
  }
}
