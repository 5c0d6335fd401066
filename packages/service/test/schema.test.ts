import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import { readPolicy } from 'sluice'
import { PolicyFileError, parsePolicyFile } from 'sluice-service'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { GOOD_YAML, small } from './policy-file/example-files.js'

const schemaPath = createRequire(import.meta.url).resolve('sluice-service/policy.schema.json')
const schema = JSON.parse(readFileSync(schemaPath, 'utf8'))
const isValid = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema)

const stripe = readFileSync(new URL('../examples/stripe.yaml', import.meta.url), 'utf8')

test.each([...Object.entries(GOOD_YAML), ['the example', stripe]])(
  'what is good is good by the schema: %s',
  (_, text) => {
    expect(isValid(parse(text)), JSON.stringify(isValid.errors)).toBe(true)
    expect(readPolicy(parsePolicyFile(text).policy).problems).toEqual([])
  },
)

const limits = [
  '5',
  '[]',
  '{}',
  '{ algorithm: tokn-bucket, capacity: 1, refill: 1/s }',
  '{ algorithm: token-bucket, refill: 1/s }',
  '{ algorithm: token-bucket, capacity: 1 }',
  '{ algorithm: token-bucket, capacity: -1, refill: 1/s }',
  '{ algorithm: token-bucket, capacity: 1.5, refill: 1/s }',
  "{ algorithm: token-bucket, capacity: '1', refill: 1/s }",
  '{ algorithm: token-bucket, capacity: 1000000000000001, refill: 1/s }',
  '{ algorithm: token-bucket, capacity: 1, refill: 5 }',
  '{ algorithm: token-bucket, capacity: 1, refill: 5/sec }',
  '{ algorithm: token-bucket, capacity: 1, refill: 5/s, window: 1s }',
  '{ algorithm: leaky-bucket, capacity: 1, refill: 1/s }',
  '{ algorithm: leaky-bucket, capacity: 1, drain: fast }',
  '{ algorithm: fixed-window, quota: 1 }',
  '{ algorithm: fixed-window, window: 1s }',
  '{ algorithm: fixed-window, quota: 1, window: soon }',
  '{ algorithm: fixed-window, quota: 1, window: 0 }',
  '{ algorithm: fixed-window, quota: 1, window: 60 }',
  '{ algorithm: concurrency, max: 1, ttl: 30000 }',
  '{ algorithm: token-bucket, capacity: 1, refill: 0.3333333333/s }',
  '{ algorithm: fixed-window, quota: 1, window: 1s, align: last }',
  '{ algorithm: fixed-window, quota: 1, window: 1s, slices: 2 }',
  '{ algorithm: sliding-window, quota: 1, window: 1s, slices: 101 }',
  '{ algorithm: sliding-log, quota: 1000001, window: 1s }',
  '{ algorithm: sliding-log, quota: 1, window: 1s, align: first }',
  '{ algorithm: concurrency, ttl: 1s }',
  '{ algorithm: concurrency, max: -1 }',
  '{ algorithm: concurrency, max: 1000001 }',
  '{ algorithm: concurrency, max: 1, ttl: soon }',
  '{ algorithm: concurrency, max: 1, window: 1s }',
  '{ algorithm: unlimited, capacity: 1 }',
  '{ algorithm: unlimted }',
  `[${Array(9).fill('{ algorithm: token-bucket, capacity: 1, refill: 1/s }')}]`,
]

const lines = [
  'nme: b',
  'key: 5',
  "key: ['']",
  'key: [a, a]',
  'key: [a, b, c, d, e, f, g, h, i]',
  'cost: -1',
  'cost: 1.5',
  'cost: []',
  'shadow: yes',
  'onFailure: opn',
  'blockFor: soon',
  'blockFor: 900',
  'blockFor: { first: 60 }',
  'blockFor: {}',
  'blockFor: [1m]',
  'blockFor: true',
  'blockFor: { first: 1m, factor: 0.5 }',
  "blockFor: { first: 1m, factor: '2' }",
  'blockFor: { first: 1m, facter: 2 }',
  'blockFor: { first: 1m, most: never }',
  'overrides: {}',
  'overrides: [{ limit: { algorithm: token-bucket, capacity: 1, refill: 1/s } }]',
  'overrides: [{ when: { a: b }, limit: 3 }]',
  'when: 3',
  "when: { '': a }",
  "when: { a: '' }",
  'when: { a: [] }',
  'when: { a: {} }',
  'when: { a: [[b]] }',
  'when: { a: { present: 3 } }',
  'when: { a: { no: 3 } }',
  'when: { a: { not: 3, present: true } }',
  'when: { a: { path: v1 } }',
  'when: { a: { cidr: home } }',
  'when: { path: v1 }',
  "when: { path: '/a?b' }",
  'when: { path: { not: v1 } }',
  'when: { path: 3 }',
  'when: { ip: home }',
  'when: { ip: [3] }',
  "when: { method: 'GET /' }",
]

const bad = [
  ...limits.map((limit) => small(limit)),
  ...lines.map((line) => small(undefined, `    ${line}\n`)),
  '3',
  '[]',
  'version: 1',
  'version: 1\nlevels: []',
  'levels:\n  - { name: a, limit: { algorithm: token-bucket, capacity: 1, refill: 1/s } }',
  small().replace('version: 1', 'version: 2'),
  small().replace('name: a', "name: 'a b'"),
  small().replace('name: a', `name: ${'a'.repeat(65)}`),
  small().replace('version: 1', 'version: 1\nipv6Prefix: 129'),
  small().replace('version: 1', 'version: 1\nextra: 1'),
]

test.each(bad)('the schema refuses: %s', (text) => {
  expect(isValid(parse(text))).toBe(false)
  expect(() => parsePolicyFile(text)).toThrow(PolicyFileError)
})

test('everything has a description for editors', () => {
  const { level, limit } = schema.definitions
  const named = [schema.properties, level.properties]
  for (const [name, { description, $ref }] of named.flatMap((properties) => Object.entries<Described>(properties))) {
    const there = description ?? schema.definitions[$ref?.split('/').at(-1) ?? '']?.description
    expect(there, name).toEqual(expect.any(String))
  }
  for (const { then } of limit.allOf) {
    for (const [name, each] of Object.entries<Described>(then.properties)) {
      if (name !== 'algorithm') expect(each.description ?? each.$ref, name).toEqual(expect.any(String))
    }
  }
})

interface Described {
  readonly description?: string
  readonly $ref?: string
}
