import { createLimiter } from 'sluice'
import { redisStore } from 'sluice/redis'

/** A limiter of this build with the default options of its store. */
export function sluiceOn(client, limit) {
  return sluiceWith({ createLimiter, redisStore }, client, limit, {})
}

/** A limiter of a given build. A decision that was made without Redis must not be measured: it throws. */
export function sluiceWith({ createLimiter, redisStore }, client, limit, options) {
  const limiter = createLimiter({ name: 'bench', limit, store: redisStore(client, options) })
  return {
    ask: (key) => limiter.tryAcquire(key),
    isAllowed({ allowed, degraded }) {
      if (degraded !== undefined) throw new Error('sluice decided without Redis')
      return allowed
    },
  }
}
