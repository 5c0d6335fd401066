import { expect, test } from 'vitest'
import { MisspeltAttributes } from '../../src/doors/misspelt-attributes.js'

const ASKED = ['method', 'path', 'merchant']

function looked(...requests: readonly object[]) {
  const warnings: unknown[] = []
  const misspelt = new MisspeltAttributes({ warn: (facts: unknown) => void warnings.push(facts) })
  for (const request of requests) misspelt.look(request, ASKED)
  return warnings
}

test('a misspelt attribute is told once, with the name that was probably meant', () => {
  const request = { method: 'GET', path: '/', merchnt: 'acct_1' }
  expect(looked(request, request)).toEqual([{ attribute: 'merchnt', didYouMean: 'merchant' }])
})

test('an attribute that the policy does not ask about is no mistake', () => {
  expect(looked({ method: 'GET', path: '/', merchant: 'acct_1', merchants: 2, region: 'eu' })).toEqual([])
})

test('a client that makes up names is told of a bounded number of them', () => {
  const requests = Array.from({ length: 5_000 }, (_, i) => ({ [`path${i}`]: '/', method: 'GET', merchant: 'm' }))
  expect(looked(...requests).length).toBeLessThanOrEqual(1_000)
})
