import { createLimiter, tokenBucket } from 'sluice'
import type { Strategy } from './member.js'

/** A node with its fixed share of the limit: capacity and refill divided by the number of nodes. Sends no message. */
export const staticSplit: Strategy = ({ queue, limit, nodes }, node) => {
  const { capacity, refill } = limit
  const [units, per] = refill.split('/')
  // A share of less than a unit still has to admit one now and then.
  const share = tokenBucket({
    capacity: Math.max(1, Math.floor(capacity / nodes)),
    refill: `${Number(units) / nodes}/${per}` as '1/s',
  })
  const limiter = createLimiter({ limit: share, clock: node.clock })
  return {
    node,
    ask: (key, admit) => {
      if (limiter.tryAcquire(key).allowed) admit(queue.nowUs)
    },
  }
}
