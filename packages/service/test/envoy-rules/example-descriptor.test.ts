import { expect, test } from 'vitest'
import { exampleDescriptor } from '../../src/envoy-rules/example-descriptor.js'
import { findRule } from '../../src/envoy-rules/find-rule.js'
import { rulesOf } from './rules-here.js'

const LIMIT = 'rate_limit: { unit: day, requests_per_unit: 1 }'

test.each([
  `key: a, ${LIMIT}`,
  `key: a, value: x, ${LIMIT}`,
  `key: a, value: '*x*y', ${LIMIT}`,
  `key: 'a*', ${LIMIT}`,
  `key: a, prefix: [x, y], ${LIMIT}`,
  `key: a, cidr: 10.0.0.0/8, ${LIMIT}`,
  `key: a, descriptors: [{ key: free }, { key: b, value: y, ${LIMIT} }]`,
])('the example for { %s } leads to its limit', (descriptor) => {
  const { envoy } = rulesOf(`domain: test\ndescriptors: [{ key: whitelisted }, { ${descriptor} }]`)
  const { domain, descriptors } = exampleDescriptor(envoy)
  expect(domain).toBe('test')
  const root = envoy.domains.get('test')
  expect(root && findRule(root, descriptors[0].entries)).toBeDefined()
})

test('rules without a limit have an example, too', () => {
  expect(exampleDescriptor(rulesOf('domain: test').envoy).domain).toBe('test')
})
