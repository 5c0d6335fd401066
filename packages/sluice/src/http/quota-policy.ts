import { durationUs, type Limit, parseRate } from '../limits/index.js'

/** What a client is told of a limit that does not change from request to request. */
export interface QuotaPolicy {
  readonly quota: number
  /** In how many seconds the quota comes back, at least 1. */
  readonly windowSeconds: number
}

const known = new WeakMap<Limit, QuotaPolicy>()

export function quotaPolicyOf(limit: Limit): QuotaPolicy {
  let policy = known.get(limit)
  if (policy === undefined) {
    policy = { quota: quotaOf(limit), windowSeconds: Math.max(1, Math.ceil(windowUs(limit) / 1_000_000) || 1) }
    known.set(limit, policy)
  }
  return policy
}

function quotaOf(limit: Limit): number {
  return 'capacity' in limit ? limit.capacity : limit.quota
}

/** Of a bucket, the time in which it fills. */
function windowUs(limit: Limit): number {
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
