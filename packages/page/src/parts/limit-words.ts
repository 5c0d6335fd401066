import type { BlockFor, Limit } from 'sluice/limits'
import { numberText } from './number-text.js'

/** A limit as a person says it: `token bucket: 100 at once, then 100/s`. */
export function limitWords(limit: Limit): string {
  switch (limit.algorithm) {
    case 'token-bucket':
      return `token bucket: ${numberText(limit.capacity)} at once, then ${rateWords(limit.refill)}`
    case 'leaky-bucket':
      return `leaky bucket: ${numberText(limit.capacity)} wait, ${rateWords(limit.drain)} leave`
    case 'fixed-window':
      return `fixed window: ${numberText(limit.quota)} in each ${limit.window}`
    case 'sliding-window':
      return `sliding window: ${numberText(limit.quota)} in ${limit.window}${slicesWords(limit.slices)}`
    case 'sliding-log':
      return `sliding log: ${numberText(limit.quota)} in any ${limit.window}`
    case 'concurrency':
      return `concurrency: ${numberText(limit.max)} at the same time, each for ${limit.ttl} at most`
    case 'unlimited':
      return 'unlimited'
  }
}

/** `10000/s` is `10,000/s`. */
function rateWords(rate: string): string {
  return rate.replace(/^\d+/, (units) => BigInt(units).toLocaleString('en'))
}

function slicesWords(slices: number | undefined): string {
  return slices === undefined || slices === 1 ? '' : `, counted in ${slices} slices`
}

/** How long a level blocks a key that exceeds: `blocks for 1m, then 2 times longer each time, up to 1h`. */
export function blockWords(blockFor: BlockFor): string {
  if (typeof blockFor !== 'object') return `blocks for ${blockFor}`
  const { first, factor = 2, most } = blockFor
  return `blocks for ${first}, then ${factor} times longer each time${most === undefined ? '' : `, up to ${most}`}`
}
