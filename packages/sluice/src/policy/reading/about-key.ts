import { BlockTest, NotTest, type Test } from '../matching/test.js'
import type { Asks } from './read-level.js'

/**
 * Is what is asked a matter of the key alone, so that one key always meets the same answer? In a key, an IPv6 address
 * stands for its network: to ask about less than that is to ask about something else.
 */
export function isAboutKey(asks: Asks, key: readonly string[], ipv6Prefix: number): boolean {
  return asks.every(({ attribute, test }) => {
    return key.includes(attribute) && (attribute !== 'ip' || longestV6Prefix(test) <= ipv6Prefix)
  })
}

function longestV6Prefix(test: Test): number {
  if (test instanceof NotTest) return longestV6Prefix(test.test)
  if (!(test instanceof BlockTest)) return 0
  return test.blocks.reduce((most, { network, prefix }) => (network.length === 8 ? Math.max(most, prefix) : most), 0)
}
