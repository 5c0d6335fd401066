import type { PolicyFileError } from 'sluice-service'
import { describe, expect, test } from 'vitest'
import { rulesOf } from './rules-here.js'

/** The problems of one file as `line:column message`. */
function problemsOf(...texts: readonly string[]): readonly string[] {
  try {
    rulesOf(...texts)
  } catch (error) {
    if ((error as Error).name !== 'PolicyFileError') throw error
    return (error as PolicyFileError).problems.map(({ line, column, message }) => `${line}:${column} ${message}`)
  }
  return []
}

const UNITS = ': it must be second, minute, hour, day, week, month or year'

const within = (descriptor: string) => `domain: test\ndescriptors:\n  - { ${descriptor} }\n`
const limited = (rateLimit: string) => within(`key: a, rate_limit: { ${rateLimit} }`)

describe('the words of envoyproxy/ratelimit', () => {
  test.each([
    ['', '1:1 config file cannot have empty domain'],
    ['descriptors: []', '1:1 config file cannot have empty domain'],
    ["domain: ''\ndescriptors: []", '1:9 config file cannot have empty domain'],
    ['domain: a\nratelimit: {}', "2:1 config error, unknown key 'ratelimit'; did you mean 'rate_limit'?"],
    ['domain: a\n10: {}', '2:1 config error, key is not of type string: 10'],
    ['domain: a\ndescriptors:\n  - key\n', '3:5 config error, yaml file contains list of type other than map: key'],
    [within('value: x'), '3:5 descriptor has empty key'],
    [within("key: ''"), '3:12 descriptor has empty key'],
    [within('key: a, descriptors: [{ value: b }]'), '3:29 descriptor has empty key'],
    [limited('unit: fortnight, requests_per_unit: 1'), `3:35 invalid rate limit unit 'fortnight'${UNITS}`],
    [limited('unit: unknown, requests_per_unit: 1'), `3:35 invalid rate limit unit 'unknown'${UNITS}`],
    [limited('requests_per_unit: 1'), `3:27 invalid rate limit unit ''${UNITS}`],
    [limited('unit: minutes, requests_per_unit: 1'), "3:35 invalid rate limit unit 'minutes'; did you mean 'minute'?"],
    [
      limited('unit: 30s, requests_per_unit: 1'),
      "3:35 invalid rate limit unit '30s'; write 'window: 30s' in place of it",
    ],
    [
      limited("unit: day, requests_per_unit: '5'"),
      "3:59 error loading config file: requests_per_unit must be a whole number from 0 to 4294967295, got the text '5': write it without quotes",
    ],
    [limited('unlimited: true, unit: day'), '3:52 should not specify rate limit unit when unlimited'],
    [limited('unlimited: true, replaces: [{ name: x }, {}]'), '3:70 should not have an empty replaces entry'],
    [
      limited('unlimited: true, name: x, replaces: [{ name: x }]'),
      '3:66 replaces should not contain name of same descriptor',
    ],
    [
      within('key: a, value: x, share_threshold: true'),
      "3:42 share_threshold can only be used with wildcard values (ending with '*'), but found key 'a_x'",
    ],
    [
      'domain: test\ndescriptors:\n  - key: a\n    value: x\n  - key: a\n    value: x\n',
      "5:10 duplicate descriptor composite key 'test.a_x'",
    ],
    [
      within('key: a, value: x, descriptors: [{ key: b }, { key: b }]'),
      "3:58 duplicate descriptor composite key 'test.a_x.b'",
    ],
    [
      limited('unit: day, requests_per_unit: many'),
      "3:59 error loading config file: requests_per_unit must be a whole number from 0 to 4294967295, got 'many'",
    ],
    [
      limited('unit: day, requests_per_unit: 4294967296'),
      "3:59 error loading config file: requests_per_unit must be a whole number from 0 to 4294967295, got '4294967296'",
    ],
    [
      limited('unit: day, requests_per_unit: 010'),
      "3:59 error loading config file: requests_per_unit must be a whole number from 0 to 4294967295, got '010'",
    ],
    [
      within("key: a, shadow_mode: 'true'"),
      "3:28 error loading config file: shadow_mode must be true or false, got 'true'",
    ],
    [within('key: [a]'), '3:12 error loading config file: key must be text, got a list'],
    ['domain: a\ndescriptors: x', "2:14 error loading config file: descriptors must be a list, got 'x'"],
    ['- domain: a', '1:1 error loading config file: it must have domain: and descriptors:, each on a line'],
    ['domain: a\n\tdescriptors: []', '2:1 error loading config file: a tab indents this: use spaces'],
    ['domain: a\ndomain: b', "2:1 error loading config file: 'domain' is here a second time: the first is in line 1"],
  ])('%j', (text, problem) => {
    expect(problemsOf(text)).toContainEqual(problem)
  })

  test('a domain in two files', () => {
    expect(problemsOf('domain: a', 'domain: a')).toEqual([
      "1:1 duplicate domain 'a' in config file; it is in rules/0.yaml, too",
    ])
  })
})

describe('what Sluice adds is checked as strictly', () => {
  test.each([
    [limited('window: 30, requests_per_unit: 1'), /^3:37 window must be a duration .* got '30'/],
    [limited('window: 1m, unit: minute, requests_per_unit: 1'), /a limit has a unit or a window/],
    [
      limited('algorithm: gcra, unit: day, requests_per_unit: 1'),
      /algorithm must be one of fixed-window, .* got 'gcra'/,
    ],
    [limited('algorithm: leaky-bucket, unit: day, requests_per_unit: 1'), /which Envoy cannot do; take a token-bucket/],
    [limited('algorithm: concurrency, unit: day, requests_per_unit: 1'), /Envoy does not say when a request is over/],
    [
      limited('algorithm: token-bucket, unit: month, requests_per_unit: 1'),
      /a month has no fixed length for a token-bucket: write 'window: 30d'/,
    ],
    [limited('unit: day, requests_per_unit: 1, burst: 5'), /burst belongs to a token-bucket/],
    [limited('unit: day, requests_per_unit: 1, slices: 5'), /slices belong to a sliding-window/],
    [limited('unlimited: true, window: 1m'), /should not specify window when unlimited/],
    [within('key: a, rate_limit: []'), /a list of 1 to 8, got 0/],
    [
      within(
        `key: a, rate_limit: [{ unit: day, requests_per_unit: 1 }, { unit: hour, requests_per_unit: 1, name: x }]`,
      ),
      /name belongs to the first limit/,
    ],
    [within('key: a, cidr: 10.0.0.1/8'), /a CIDR range without bits after its prefix: '10.0.0.0\/8'/],
    [within('key: a, cidr: []'), /cidr must be a text or a list of texts/],
    [within("key: a, prefix: ['']"), /prefix must be a text or a list of texts/],
    [within('key: a, cidr: 10.0.0.0/8, value: x'), /one of value, prefix and cidr, got value and cidr/],
    [within('key: a, metadata: x'), /metadata must be a map/],
    [within('key: a, burst: 5'), /unknown key 'burst'/],
  ])('%j', (text, problem) => {
    expect(problemsOf(text).join('\n')).toMatch(problem)
  })
})

test('every problem of every file is found', () => {
  expect(() => rulesOf(within('vlaue: a'), `${within('key: a')}limit: 5\n`, 'domain: ok')).toThrow(
    "rules/0.yaml:3:5 descriptor has empty key\nrules/0.yaml:3:7 config error, unknown key 'vlaue'; did you mean 'value'?\n" +
      "rules/1.yaml:4:1 config error, unknown key 'limit'; a file has domain, descriptors\n" +
      "rules/1.yaml:1:1 duplicate domain 'test' in config file; it is in rules/0.yaml, too",
  )
})

test('a key that envoyproxy/ratelimit ignores in its place is warned of', () => {
  const { warnings } = rulesOf(limited('unit: day, requests_per_unit: 1, shadow_mode: true'))
  expect(warnings).toEqual([
    {
      file: 'rules/0.yaml',
      line: 3,
      column: 62,
      message: expect.stringContaining("'shadow_mode' has no effect in rate_limit"),
    },
  ])
  expect(rulesOf(limited('unit: day')).warnings[0].message).toMatch('requests_per_unit is missing, which means 0')
})

describe('values are texts, as they are written', () => {
  test.each(['007', '1.10', 'true', '0x1F', '2026-01-01', '1_000'])('%s', (value) => {
    const { envoy } = rulesOf(within(`key: a, value: ${value}`))
    expect(envoy.domains.get('test')?.children.find({ key: 'a', value })).toBeDefined()
  })

  test('numbers and flags of YAML 1.1 are read', () => {
    const { policy } = rulesOf(
      limited('unit: DAY, requests_per_unit: 1_000').replace('key: a', 'key: a, shadow_mode: yes'),
    )
    expect(policy.levels[0]).toMatchObject({ shadow: true, limit: { quota: 1000, window: '1d' } })
  })
})

describe('hostile files are refused in bounded time', () => {
  const deep = (depth: number) =>
    `domain: a\ndescriptors: ${'[{ key: a, descriptors: '.repeat(depth)}[]${'}]'.repeat(depth)}`
  const bomb = `domain: a\nx0: &x0 [{ key: a }]\n${Array.from({ length: 30 }, (_, i) => `x${i + 1}: &x${i + 1} [*x${i}, *x${i}]`).join('\n')}`

  test.each([
    ['deep', deep(1_000), /nested more than 64 deep/],
    ['aliases', bomb, /too many|more than 64/],
    [
      'many rules',
      `domain: a\ndescriptors:\n${Array.from({ length: 10_001 }, (_, i) => `- {key: k${i}, rate_limit: {unit: day, requests_per_unit: 1}}`).join('\n')}`,
      /the rules have 10,001 limits in 1 domains: together they must be at most 10,000/,
    ],
    ['large', `domain: ${'a'.repeat(10_000_001)}`, /smaller than 10 MB/],
    ['a loop', 'domain: a\ndescriptors: &d [{ key: a, descriptors: *d }]', /never ends/],
  ])('%s', (_, text, problem) => {
    expect(problemsOf(text).join('\n')).toMatch(problem)
  })

  test('keys of objects are only keys', () => {
    const { envoy } = rulesOf(
      'domain: __proto__\ndescriptors: [{ key: __proto__, value: constructor, rate_limit: { unit: day, requests_per_unit: 1 } }]',
    )
    const root = envoy.domains.get('__proto__')
    expect(root?.children.find({ key: '__proto__', value: 'constructor' })).toBeDefined()
    expect(root?.children.find({ key: 'constructor', value: 'x' })).toBeUndefined()
    expect(envoy.domains.get('constructor')).toBeUndefined()
  })
})

test('rules that no descriptor reaches are warned of', () => {
  const { warnings } = rulesOf(`domain: test
descriptors:
  - key: a
  - key: a
    value: '*'
  - key: a
    value: x*
  - key: a
    value: x
  - key: b
    value: x*
`)
  expect(warnings.map(({ line }) => line)).toEqual([3, 6])
  expect(warnings[0].message).toMatch('this rule never applies')
})

describe('merge keys, which envoyproxy/ratelimit reads', () => {
  const merged = (more: string) => `domain: test
descriptors:
  - key: a
    rate_limit: &limit { unit: day, requests_per_unit: 5, name: five }
    metadata: &metadata { team: web, cost: 1 }
  - key: b
    rate_limit:
      <<: *limit
      requests_per_unit: 7
    metadata: { <<: [*metadata, { cost: 2, more: 3 }], own: 4 }
${more}`

  test('the own entries count, then those of the first map', () => {
    const { policy, envoy } = rulesOf(merged(''))
    expect(policy.levels[1].limit).toMatchObject({ quota: 7, window: '1d' })
    const rule = envoy.domains.get('test')?.children.find({ key: 'b', value: 'x' })?.limitRule
    expect(rule).toMatchObject({ name: 'five', metadata: { own: 4, team: 'web', cost: 1, more: 3 } })
  })

  test('what they bring is checked, too', () => {
    expect(problemsOf(merged('  - { key: c, rate_limit: { <<: 5, unit: day } }'))).toEqual([
      '11:29 error loading config file: after <<: comes a map, or a list of maps',
    ])
    expect(problemsOf(merged('  - { key: c, <<: { vlaue: x } }'))).toEqual([
      "11:21 config error, unknown key 'vlaue'; did you mean 'value'?",
    ])
  })
})
