import { type Concurrency, durationUs, type Limit, parseRate, quotaOf } from '../limits/index.js'

/** What a client is told of a limit that does not change from request to request. */
export interface QuotaPolicy {
  readonly quota: number
  /** In how many seconds the quota comes back, at least 1. What is in flight comes back when it is over. */
  readonly windowSeconds: number | undefined
}

const known = new WeakMap<Limit, QuotaPolicy>()

export function quotaPolicyOf(limit: Limit): QuotaPolicy {
  let policy = known.get(limit)
  if (policy === undefined) {
    policy = { quota: quotaOf(limit), windowSeconds: windowSecondsOf(limit) }
    known.set(limit, policy)
  }
  return policy
}

function windowSecondsOf(limit: Limit): number | undefined {
  if (limit.algorithm === 'concurrency') return undefined
  return Math.max(1, Math.ceil(windowUs(limit) / 1_000_000) || 1)
}

/** Of a bucket, the time in which it fills. */
function windowUs(limit: Exclude<Limit, Concurrency>): number {
  switch (limit.algorithm) {
    case 'token-bucket':
      return fillUs(limit.capacity, limit.refill)
    case 'leaky-bucket':
      return fillUs(limit.capacity, limit.drain)
    default:
      return durationUs('window', limit.window)
  }
}

function fillUs(capacity: number, rateText: string): number {
  const { units, perUs } = parseRate('rate', rateText)
  return (capacity * Number(perUs)) / Number(units)
}
