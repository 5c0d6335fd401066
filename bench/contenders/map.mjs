/** The token bucket of the articles in a `Map`: tokens as a float, refilled at each call, by `Date.now()`. */
export function map({ capacity, perHour }) {
  const perMs = perHour / 3_600_000
  const buckets = new Map()
  return {
    ask(key) {
      const now = Date.now()
      let bucket = buckets.get(key)
      if (bucket === undefined) {
        bucket = { tokens: capacity, last: now }
        buckets.set(key, bucket)
      }
      bucket.tokens = Math.min(capacity, bucket.tokens + (now - bucket.last) * perMs)
      bucket.last = now
      if (bucket.tokens < 1) return false
      bucket.tokens -= 1
      return true
    },
    isAllowed: (allowed) => allowed,
  }
}
