import { PrometheusText } from 'sluice/metrics'
import { expect, test } from 'vitest'
import type { Outcome } from '../../src/envoy-rules/outcome.js'
import { RuleCounts } from '../../src/envoy-rules/rule-counts.js'
import { type AskedDescriptor, descriptorOf, rulesHere } from './rules-here.js'

const YAML = `domain: test
descriptors:
  - key: a
    rate_limit: { unit: minute, requests_per_unit: 10 }
  - key: s
    shadow_mode: true
    rate_limit: { unit: minute, requests_per_unit: 1 }
  - key: u
    rate_limit: { unlimited: true }
  - key: v
    value_to_metric: true
    descriptors:
      - key: w
        value: 'x*'
        rate_limit: { unit: minute, requests_per_unit: 10 }
  - key: d
    descriptors:
      - key: e
        detailed_metric: true
        rate_limit: { unit: minute, requests_per_unit: 10 }
  - key: sh
    value: 'x*'
    share_threshold: true
    detailed_metric: true
    rate_limit: { unit: minute, requests_per_unit: 10 }
`

/** The samples after these requests, without the prefix that all have. */
function samples(
  requests: readonly (readonly (string | AskedDescriptor)[])[],
  counts = new RuleCounts(),
): readonly string[] {
  const { ask } = rulesHere(YAML, 'test', counts.decided)
  for (const descriptors of requests) ask(...descriptors)
  const text = new PrometheusText()
  counts.write(text)
  return text
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('ratelimit_service_rate_limit_') && !line.endsWith(' 0'))
    .map((line) => line.replace('ratelimit_service_rate_limit_', '').replace('domain="test",', ''))
}

test('hits are counted by what became of them', () => {
  expect(samples([[{ of: 'a=x', hits: 7 }], [{ of: 'a=x', hits: 2 }], [{ of: 'a=x', hits: 2 }], ['a=x']])).toEqual([
    'total_hits{key1="a"} 12',
    'over_limit{key1="a"} 2',
    'near_limit{key1="a"} 2',
    'within_limit{key1="a"} 10',
  ])
})

test('a shadow counts what it let through; hits of a denied request are within the limit of its other rules', () => {
  expect(samples([['s=x'], ['s=x'], [{ of: 'a=x', hits: 11 }, 's=y']])).toEqual([
    'total_hits{key1="s"} 3',
    'total_hits{key1="a"} 11',
    'over_limit{key1="s"} 1',
    'over_limit{key1="a"} 11',
    'near_limit{key1="s"} 1',
    'within_limit{key1="s"} 2',
    'shadow_mode{key1="s"} 1',
  ])
})

test('refunds, unlimited rules and descriptors without a limit are not counted', () => {
  expect(samples([[{ of: 'a=x', refund: true }], ['u=x'], ['other=x']])).toEqual([])
})

test('names have values where the rules say so', () => {
  const total = (descriptor: string) => samples([[descriptor]])[0]
  expect(total('v=1 w=x2')).toBe('total_hits{key1="v_1",key2="w_x*"} 1')
  expect(total('d=1 e=2')).toBe('total_hits{key1="d_1",key2="e_2"} 1')
  expect(total('d=1 e=')).toBe('total_hits{key1="d_1",key2="e_"} 1')
  expect(total('sh=x1')).toBe('total_hits{key1="sh_x*"} 1')
})

test('limits that come with a request are named by its entries', () => {
  const limit = { requestsPerUnit: 2, unit: 1 } as const
  expect(samples([[{ of: 'b=1 c=2', limit }]])[0]).toBe('total_hits{key1="b_1",key2="c_2"} 1')
})

test('a name with long values is that of the rule: clients cannot fill the metrics with them', () => {
  const long = 'x'.repeat(300)
  expect(samples([[`d=1 e=${long}`], [`d=${long} e=1`]])[0]).toBe('total_hits{key1="d",key2="e"} 2')
  const limit = { requestsPerUnit: 2, unit: 1 } as const
  expect(samples([[{ of: `b=${long}`, limit }]])[0]).toBe('total_hits{key1="other"} 1')
  expect(samples([[`d=1 e=${'x'.repeat(290)}`]])[0]).toContain('key2="e_xxx')
})

test('names with values are bounded: the hits of further ones count under the name of the rule', () => {
  const counts = new RuleCounts()
  const { file } = rulesHere(YAML)
  const root = file.envoy.domains.get('test')
  const rule = file.envoy.domains.get('test')?.children.find({ key: 'd', value: '1' })
  if (root === undefined || rule === undefined) throw new Error('the rule is missing')
  const nodes = [rule, rule.children.find({ key: 'e', value: '' })]
  for (let i = 0; i < 10_050; i++) {
    const descriptor = descriptorOf(`d=${i} e=1`)
    const asked = {
      index: 0,
      hits: 1,
      isRefund: false,
      isShadow: false,
      rule: nodes[1]?.limitRule,
      nodes,
      given: undefined,
      demands: [],
    }
    const outcome = { asked, isOver: true, tightest: undefined } as unknown as Outcome
    counts.decided([outcome], { domain: 'test', descriptors: [descriptor], hitsAddend: 0 }, false)
  }
  const text = new PrometheusText()
  counts.write(text)
  const lines = text.toString().split('\n')
  expect(lines).toContain('ratelimit_service_rate_limit_total_hits{domain="test",key1="d",key2="e"} 50')
  expect(lines.filter((line) => line.includes('_total_hits{'))).toHaveLength(10_001)
})
