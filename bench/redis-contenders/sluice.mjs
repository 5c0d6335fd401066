import { createLimiter } from 'sluice'
import { redisStore } from 'sluice/redis'

/** With the options that it has unless told otherwise. A decision made without Redis is none to measure. */
export function sluiceOn(client, limit) {
  const limiter = createLimiter({ name: 'bench', limit, store: redisStore(client) })
  return {
    ask: (key) => limiter.tryAcquire(key),
    isAllowed({ allowed, degraded }) {
      if (degraded !== undefined) throw new Error('sluice decided without Redis')
      return allowed
    },
  }
}
