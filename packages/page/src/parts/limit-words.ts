import type { BlockFor, Limit } from 'sluice/limits'
import { numberText } from './number-text.js'

/** An algorithm as a person calls it: `token bucket`. */
export function algorithmWords(algorithm: string): string {
  return algorithm.replaceAll('-', ' ')
}

/** A limit as a person says it: `token bucket: 100 at once, then 100/s`. */
export function limitWords(limit: Limit): string {
  const name = algorithmWords(limit.algorithm)
  switch (limit.algorithm) {
    case 'token-bucket':
      return `${name}: ${numberText(limit.capacity)} at once, then ${rateWords(limit.refill)}`
    case 'leaky-bucket':
      return `${name}: ${numberText(limit.capacity)} wait, ${rateWords(limit.drain)} leave`
    case 'fixed-window':
      return `${name}: ${numberText(limit.quota)} in each ${limit.window}`
    case 'sliding-window':
      return `${name}: ${numberText(limit.quota)} in ${limit.window}${slicesWords(limit.slices)}`
    case 'sliding-log':
      return `${name}: ${numberText(limit.quota)} in any ${limit.window}`
    case 'concurrency':
      return `${name}: ${numberText(limit.max)} at the same time, each for ${limit.ttl} at most`
    case 'unlimited':
      return name
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
