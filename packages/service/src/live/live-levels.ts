import type { Level, Limit } from 'sluice'
import type { PolicyFile } from '../policy-file/parse-policy-file.js'
import type { LiveLevels } from './live-events.js'

/** The levels of a policy for a person. */
export function liveLevels({ policy }: PolicyFile, version: number): LiveLevels {
  return {
    version,
    policy: policy.name ?? 'default',
    levels: policy.levels.map(({ name, limit, shadow }: Level) => ({
      name,
      limits: [limit].flat().map((each) => limitText(each as Limit)),
      ...(shadow === true && { shadow }),
    })),
  }
}

/** A limit in a few words: `token bucket, 100 at once, 100/s`. */
function limitText(limit: Limit): string {
  switch (limit.algorithm) {
    case 'token-bucket':
      return `token bucket, ${shown(limit.capacity)} at once, ${limit.refill}`
    case 'leaky-bucket':
      return `leaky bucket, a queue of ${shown(limit.capacity)}, ${limit.drain}`
    case 'fixed-window':
      return `fixed window, ${shown(limit.quota)} in ${limit.window}`
    case 'sliding-window':
      return `sliding window, ${shown(limit.quota)} in ${limit.window}`
    case 'sliding-log':
      return `sliding log, ${shown(limit.quota)} in ${limit.window}`
    case 'concurrency':
      return `concurrency, ${shown(limit.max)} in flight, each for at most ${limit.ttl}`
    case 'unlimited':
      return 'unlimited'
  }
}

function shown(units: number): string {
  return units.toLocaleString('en')
}
