import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findRule } from '../../src/envoy-rules/find-rule.js'
import { descriptorOf, rulesOf } from './rules-here.js'

/** The values of the rule that a descriptor leads to, as its file writes them; `undefined` without a rule. */
function found(yaml: string, descriptor: string): string | undefined {
  const root = rulesOf(`domain: test\ndescriptors:\n${yaml}`).envoy.domains.get('test')
  const rule = root && findRule(root, descriptorOf(descriptor).entries)?.rule
  return rule && JSON.stringify(rule.levels[0].name)
}

const LIMIT = 'rate_limit: { unit: day, requests_per_unit: 1 }'

describe('the rule for a descriptor', () => {
  const yaml = `
  - { key: a, value: exact, ${LIMIT} }
  - { key: a, value: 'ex*', ${LIMIT} }
  - { key: a, value: 'e*t', ${LIMIT} }
  - { key: a, ${LIMIT} }
  - { key: b, value: '*', ${LIMIT} }
  - { key: c, value: x, descriptors: [{ key: d, ${LIMIT} }] }
  - { key: c, value: 'x*', ${LIMIT} }
  - { key: c, ${LIMIT}, descriptors: [{ key: d, value: y, ${LIMIT} }] }
  - { key: 'pre*', ${LIMIT} }
  - { key: 'pre_x', ${LIMIT} }
  - { key: m, value: '*a*b*', ${LIMIT} }`

  test.each([
    ['an exact value comes first', 'a=exact', 'a_exact'],
    ['then the first wildcard that fits', 'a=exit', 'a_ex*'],
    ['in the order of the file', 'a=et', 'a_e*t'],
    ['then the bare key', 'a=y', 'a'],
    ['a wildcard fits an empty value', 'b=', 'b_*'],
    ['the bare key fits an empty value', 'a=', 'a'],
    ['the text of a later wildcard is its exact value', 'a=e*t', 'a_e*t'],
    ['the limit of the last entry counts', 'c=z', 'c'],
    ['a nested rule', 'c=x d=1', 'c_x.d'],
    ['a nested rule of the bare key', 'c=z d=y', 'c.d_y'],
    ['an exact rule without a limit hides the wildcard', 'c=x', undefined],
    ['no way back to a rule that fits less', 'c=x1 d=y', undefined],
    ['more entries than rules', 'a=exact b=1', undefined],
    ['fewer entries than rules', 'c=x', undefined],
    ['an unknown key', 'z=1', undefined],
    ['key and value are not joined', 'a_exact=', undefined],
    ['a key that ends with * fits keys that begin so', 'prefix=1', 'pre*'],
    ['before a bare key', 'pre_x=1', 'pre*'],
    ['several stars, in order', 'm=xxaxxbxx', 'm_*a*b*'],
    ['not in another order', 'm=ba', undefined],
  ])('%s: %s', (_, descriptor, composite) => {
    const name = composite === undefined ? undefined : found(yaml, descriptor)
    if (composite === undefined) expect(found(yaml, descriptor)).toBeUndefined()
    else
      expect(
        rulesOf(`domain: test\ndescriptors:${yaml}`).policy.levels.map((each) => JSON.stringify(each.name)),
      ).toContain(name)
    if (composite !== undefined) expect(pathOf(yaml, descriptor)).toBe(composite)
  })
})

/** The composite keys on the way to the rule. */
function pathOf(yaml: string, descriptor: string): string | undefined {
  const root = rulesOf(`domain: test\ndescriptors:${yaml}`).envoy.domains.get('test')
  const rule = root && findRule(root, descriptorOf(descriptor).entries)?.rule
  return rule?.path.map(({ key, test: asked }) => ('value' in asked ? `${key}_${asked.value}` : key)).join('.')
}

/** A rule as the model sees it. */
interface ModelRule {
  readonly key: string
  readonly value: string
  readonly hasLimit: boolean
  readonly descriptors: readonly ModelRule[]
}

const KEY = fc.constantFrom('a', 'b', 'ab')
const VALUE = fc.constantFrom('', 'x', 'xy', 'x*', '*', '*y', 'x*y', '*x*')

const RULES: fc.Arbitrary<readonly ModelRule[]> = fc.letrec<{ rules: readonly ModelRule[] }>((tie) => ({
  rules: fc.uniqueArray(
    fc.record({
      key: KEY,
      value: VALUE,
      hasLimit: fc.boolean(),
      descriptors: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.constant([]), tie('rules')),
    }) as fc.Arbitrary<ModelRule>,
    { maxLength: 5, selector: ({ key, value }) => `${key}_${value}` },
  ),
})).rules

const ENTRIES = fc.array(fc.record({ key: KEY, value: fc.constantFrom('', 'x', 'xy', 'y', 'xzy', 'x*', 'z') }), {
  maxLength: 3,
})

/** The path of the rule by trying every rule in every order that counts, with regular expressions. */
function modelFind(
  rules: readonly ModelRule[],
  [entry, ...rest]: readonly { key: string; value: string }[],
): string | undefined {
  if (entry === undefined) return undefined
  const ofKey = rules.filter(({ key }) => key === entry.key)
  const exact = ofKey.find(({ value }) => value !== '' && value === entry.value)
  const wild = ofKey.find(
    ({ value }) => value.includes('*') && new RegExp(`^${value.replaceAll('*', '[^]*')}$`).test(entry.value),
  )
  const next = exact ?? wild ?? ofKey.find(({ value }) => value === '')
  if (next === undefined) return undefined
  const own = `${next.key}=${next.value}`
  if (rest.length === 0) return next.hasLimit ? own : undefined
  const below = modelFind(next.descriptors, rest)
  return below === undefined ? undefined : `${own} ${below}`
}

function yamlOf(rules: readonly ModelRule[]): object {
  return rules.map(({ key, value, hasLimit, descriptors }) => ({
    key,
    value,
    ...(hasLimit && { rate_limit: { unit: 'day', requests_per_unit: 1 } }),
    descriptors: yamlOf(descriptors),
  }))
}

test('the tree finds what a naive search finds', () => {
  fc.assert(
    fc.property(RULES, fc.array(ENTRIES, { minLength: 1, maxLength: 10 }), (rules, all) => {
      const root = rulesOf(JSON.stringify({ domain: 'test', descriptors: yamlOf(rules) })).envoy.domains.get('test')
      for (const entries of all) {
        const rule = root && findRule(root, entries)?.rule
        const path = rule?.path.map(({ key, test: asked }) => `${key}=${'value' in asked ? asked.value : ''}`).join(' ')
        expect(path).toBe(modelFind(rules, entries))
      }
    }),
    { numRuns: 300 },
  )
})
