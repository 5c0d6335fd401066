import { expect, test } from 'vitest'
import { UncountedHits } from '../../src/envoy-rules/uncounted-hits.js'
import { type AskedDescriptor, rulesHere } from './rules-here.js'

const YAML = `domain: test
descriptors:
  - key: a
    rate_limit: { unit: day, requests_per_unit: 10 }
  - key: b
    count_over_limit: true
    rate_limit: { unit: day, requests_per_unit: 10 }
`

/** The levels that are told of after these descriptors, each in a request of its own. */
function told(...descriptors: readonly AskedDescriptor[]): readonly string[] {
  const found: string[] = []
  const uncounted = new UncountedHits((level) => found.push(level))
  const { ask } = rulesHere(YAML, 'test', (outcomes) => uncounted.decided(outcomes))
  for (const each of descriptors) ask(each)
  return found
}

const look = (of: string): AskedDescriptor => ({ of, hits: 0 })
const take = (of: string, hits: number): AskedDescriptor => ({ of, hits })

test('a rule that is looked at, and whose hits then exceed what is left, is told of once', () => {
  expect(told(look('a=x'), take('a=x', 9), take('a=x', 5), take('a=x', 5))).toEqual(['test.a'])
})

test('other rules are not', () => {
  expect(told(take('a=x', 9), take('a=x', 5))).toEqual([])
  expect(told(look('a=x'), take('a=x', 10), take('a=x', 5))).toEqual([])
  expect(told(look('b=x'), take('b=x', 9), take('b=x', 5))).toEqual([])
})
