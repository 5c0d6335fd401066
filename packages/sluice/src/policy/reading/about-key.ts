import { PathTest } from '../matching/path-test.js'
import { BlockTest, EqualTest, NotTest, positive, type Test } from '../matching/test.js'
import type { Asks } from './read-level.js'

/**
 * Is what is asked a matter of the key alone, so that one key always meets the same answer? In a key, an IPv6 address
 * stands for its network: to ask about less than that is to ask about something else. So it is with paths and methods, of
 * which a key has one spelling for all.
 */
export function isAboutKey(asks: Asks, key: readonly string[], ipv6Prefix: number): boolean {
  return asks.every(({ attribute, test }) => {
    if (attribute === 'ip') return key.includes(attribute) && longestV6Prefix(test) <= ipv6Prefix
    return key.includes(attribute) && (!hasReadings(attribute, test) || asksPresence(test))
  })
}

function hasReadings(attribute: string, test: Test): boolean {
  return attribute === 'method' || positive(test) instanceof PathTest
}

function asksPresence(test: Test): boolean {
  const asked = positive(test)
  return asked instanceof EqualTest && asked.texts.size === 0
}

function longestV6Prefix(test: Test): number {
  if (test instanceof NotTest) return longestV6Prefix(test.test)
  if (!(test instanceof BlockTest)) return 0
  return test.blocks.reduce((most, { network, prefix }) => (network.length === 8 ? Math.max(most, prefix) : most), 0)
}
