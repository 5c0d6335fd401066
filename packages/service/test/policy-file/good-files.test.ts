import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createPolicy, readPolicy } from 'sluice'
import { loadPolicyFile, parsePolicyFile } from 'sluice-service'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { GOOD_YAML, small } from './example-files.js'

const example = new URL('../../examples/stripe.yaml', import.meta.url).pathname

test.each(Object.entries(GOOD_YAML))('a policy with %s loads and decides', (_, text) => {
  const { policy } = parsePolicyFile(text)
  const { $schema: _schema, ...expected } = parse(text)
  expect(policy).toStrictEqual(expected)
  expect(createPolicy(policy).check({}).allowed).toBe(true)
})

test.each(Object.entries(GOOD_YAML))('a policy with %s is the same in JSON, with any indentation', (_, text) => {
  const { policy } = parsePolicyFile(text)
  for (const indent of [undefined, 2, '\t']) {
    const json = JSON.stringify(policy, null, indent)
    expect(parsePolicyFile(json, { file: 'policy.json' }).policy).toStrictEqual(policy)
    expect(parsePolicyFile(json.replaceAll('\n', '\r\n'), { file: 'policy.json' }).policy).toStrictEqual(policy)
    expect(parsePolicyFile(json, { file: 'policy.yaml' }).policy).toStrictEqual(policy)
  }
})

test('a byte order mark and Windows line ends change nothing', () => {
  for (const text of Object.values(GOOD_YAML)) {
    const { policy } = parsePolicyFile(text)
    expect(parsePolicyFile(`\ufeff${text}`).policy).toStrictEqual(policy)
    expect(parsePolicyFile(text.replaceAll('\n', '\r\n')).policy).toStrictEqual(policy)
  }
})

test('the example file has five levels, and no warning about the level that only a raised merchant reaches', async () => {
  const { policy, warnings } = await loadPolicyFile(example)
  expect(policy.levels.map(({ name }) => name)).toEqual(['global', 'merchant', 'charges', 'customers', 'ip'])
  expect(warnings).toEqual([])
  const stripe = createPolicy(policy)
  const passed = (request: Record<string, string>, most: number) => {
    let count = 0
    while (count <= most && stripe.check(request as never).allowed) count++
    return count
  }
  expect(passed({ method: 'GET', path: '/v1/customers', merchant: 'acct_1', ip: '192.0.2.1' }, 99)).toBe(100)
  expect(passed({ method: 'GET', path: '/v1/customers', merchant: 'acct_big', ip: '192.0.2.1' }, 199)).toBe(200)
  expect(passed({ method: 'POST', path: '/v1/charges', merchant: 'acct_2', ip: '192.0.2.1' }, 49)).toBe(50)
  expect(passed({ method: 'GET', path: '/', ip: '192.0.2.1' }, 19)).toBe(20)
})

test('a level that can never deny gets a warning with its line', () => {
  const text = `version: 1
levels:
  - name: tight
    limit: { algorithm: token-bucket, capacity: 10, refill: 10/s }
  - name: wide
    limit: { algorithm: token-bucket, capacity: 100, refill: 100/s }
`
  const { warnings } = parsePolicyFile(text)
  expect(warnings).toEqual([{ line: 6, column: 12, message: expect.stringContaining("'wide' can never deny") }])
})

test('yes, no and on are texts, as in YAML 1.2', () => {
  const text = small(undefined, '    when: { a: yes, b: [no, on], c: true }\n')
  expect(parsePolicyFile(text).policy.levels[0].when).toEqual({ a: 'yes', b: ['no', 'on'], c: true })
})

test('names such as constructor are keys like any other', () => {
  const text = small(undefined, '    when: { __proto__: x, constructor: y }\n')
  const { when = {} } = parsePolicyFile(text).policy.levels[0]
  expect(Object.entries(when)).toEqual([
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
  expect(Object.getPrototypeOf(when)).toBe(Object.prototype)
})

test('an alias is read as its target', () => {
  const { policy } = parsePolicyFile(GOOD_YAML.aliases)
  expect(policy.levels[1].limit).toEqual(policy.levels[0].limit)
  expect(readPolicy(policy).problems).toEqual([])
})

test('a long file, which is converted in parts, is read completely', () => {
  const overrides = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      when: { merchant: `acct_${i}` },
      limit: { algorithm: 'token-bucket', capacity: i + 1, refill: '5/s' },
    }))
  const levels = (count: number) =>
    Array.from({ length: 3 }, (_, i) => ({ name: `l${i}`, overrides: overrides(count) }))
  const lines = levels(3_000).flatMap(({ name, overrides }) => [
    `  - name: ${name}`,
    '    key: [merchant]',
    '    limit: { algorithm: token-bucket, capacity: 1, refill: 5/s }',
    '    overrides:',
    ...overrides.flatMap(({ when, limit }) => [
      `      - when: { merchant: ${when.merchant} }`,
      '        limit:',
      ...Object.entries(limit).map(([name, value]) => `          ${name}: ${value}`),
    ]),
  ])
  const { policy } = parsePolicyFile(`version: 1\nlevels:\n${lines.join('\n')}\n`)
  expect(policy.levels.map(({ overrides }) => overrides)).toEqual(levels(3_000).map(({ overrides }) => overrides))
})

test('JSON is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 })), (conditions) => {
      // Random data in `name` and others is a problem, but readPolicy finds the same problems in the same data.
      const value = { version: 1, levels: [], extra: conditions }
      const text = JSON.stringify(value)
      const problems = readPolicy(JSON.parse(text)).problems
      expect(() => parsePolicyFile(text, { file: 'a.json' })).toThrow(problems[0].message)
    }),
  )
})

test("the ending of the name selects YAML or JSON, and a missing file is the file system's error", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-files-'))
  try {
    const json = join(folder, 'policy.JSON')
    await writeFile(json, '{ "version": 1, } // no')
    await expect(loadPolicyFile(json)).rejects.toThrow(`${json}:1:15 JSON has no comma before '}'`)
    await expect(loadPolicyFile(join(folder, 'none.yaml'))).rejects.toMatchObject({ code: 'ENOENT' })
    const latin1 = join(folder, 'latin1.yaml')
    await writeFile(latin1, Buffer.concat([Buffer.from('version: 1\nname: "\ufffd '), Buffer.from([0xe9, 0x22])]))
    await expect(loadPolicyFile(latin1)).rejects.toThrow(`${latin1}:2:10 the file is not UTF-8 from here on`)
  } finally {
    await rm(folder, { recursive: true })
  }
})
