import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { small } from '../policy-file/example-files.js'
import { EXAMPLE, sluice, sluiceHere } from './run-cli.js'

let folder: string
let bad: string
let odd: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
  bad = join(folder, 'bad.yaml')
  odd = join(folder, 'odd.yaml')
  await writeFile(bad, 'version: 1\nlevels:\n  - name: a\n    limit: { algorithm: tokn-bucket }\n    kee: b\n')
  await writeFile(odd, small(undefined, '    cost: 0\n'))
})

afterAll(() => rm(folder, { recursive: true }))

test('validate prints one line for a good file', async () => {
  const line = `${EXAMPLE}: 5 levels, 4 attributes (ip, merchant, method, path)\n`
  expect(await sluice(['validate', EXAMPLE])).toEqual({ code: 0, stdout: line, stderr: '' })
})

test('validate prints one line for each problem of a bad file', async () => {
  const { code, stdout, stderr } = await sluice(['validate', EXAMPLE, bad])
  expect(code).toBe(1)
  expect(stderr).toBe('')
  expect(stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(/bad\.yaml:4:12 .*needs capacity/),
    expect.stringMatching(/bad\.yaml:4:12 .*needs refill/),
    expect.stringMatching(/bad\.yaml:4:25 .*did you mean 'token-bucket'\?$/),
    expect.stringMatching(/bad\.yaml:5:5 .*did you mean 'key'\?$/),
    '',
  ])
})

test('validate prints a warning with its line, and succeeds', async () => {
  const { code, stdout, stderr } = await sluice(['validate', odd])
  expect(code).toBe(0)
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^.*odd\.yaml:5:11 warning: 'a' can never deny: .*\n.*odd\.yaml: 1 level, 0 attributes\n$/)
})

test('validate warns of a sliding window in which a client may wait much longer than the window', async () => {
  const stdin = small('{ algorithm: sliding-window, quota: 2, window: 1h }')
  const { code, stdout } = await sluice(['validate', '-'], { stdin })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^stdin:4:12 warning: 'a' may make a client wait 90m .* slices: 5 .* sliding-log .*\n/)
  const { stdout: quiet } = await sluice(['validate', '-'], { stdin: stdin.replace('1h', '1h, slices: 5') })
  expect(quiet).toBe('stdin: 1 level, 0 attributes\n')
})

const overridden = (whens: readonly string[]) => `version: 1
levels:
  - name: all
    key: user
    limit: { algorithm: fixed-window, quota: 10, window: 1h }
    overrides:
${whens.map((when) => `      - { when: ${when}, limit: { algorithm: fixed-window, quota: 20, window: 1h } }`).join('\n')}
`

test('validate warns of an override that never applies, because an earlier one has the same when', async () => {
  const stdin = overridden(['{ plan: [pro, free], user: ann }', '{ plan: pro }', '{ user: ann, plan: [free, pro] }'])
  const { code, stdout } = await sluiceHere(['validate', '-'], { stdin })
  expect(code).toBe(0)
  expect(stdout).toBe(
    "stdin:9:17 warning: override 3 of 'all' never applies: override 1 has the same when\nstdin: 1 level, 2 attributes (plan, user)\n",
  )
})

test('an override by another value, or by the same value under `not`, may apply', async () => {
  const stdin = overridden([
    '{ plan: pro }',
    '{ plan: { not: pro } }',
    '{ plan: null }',
    '{ plan: "1" }',
    '{ plan: 1 }',
  ])
  expect((await sluiceHere(['validate', '-'], { stdin })).stdout).toBe('stdin: 1 level, 2 attributes (plan, user)\n')
})

test.each([
  ['usr', 'user'],
  ['users', 'user'],
  ['suer', 'user'],
  ['uzer', 'user'],
  ['User', 'user'],
  ['pth', 'path'],
  ['user_id', 'userId'],
])('validate warns that %s looks like a misspelling of %s', async (wrong, right) => {
  const stdin = overridden([`{ ${right}: /a }`, `{ ${right}: /b }`, `{ ${wrong}: /c }`])
  const { stdout } = await sluiceHere(['validate', '-'], { stdin })
  expect(stdout).toMatch(
    new RegExp(`^stdin:9:\\d+ warning: '${wrong}' looks like a misspelling of '${right}': .*\nstdin: 1 level`),
  )
})

test.each([
  ['tier1', 'tier2'],
  ['app', 'api'],
  ['id', 'ip'],
  ['plan', 'place'],
])('%s and %s are different attributes', async (one, other) => {
  const stdin = overridden([`{ ${one}: 1.2.3.4 }`, `{ ${other}: 1.2.3.4 }`])
  expect((await sluiceHere(['validate', '-'], { stdin })).stdout).not.toContain('misspelling')
})

test('--json prints the same as JSON', async () => {
  const { code, stdout } = await sluice(['validate', '--json', bad, odd])
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject([
    {
      file: bad,
      ok: false,
      problems: [
        { line: 4, column: 12 },
        { line: 4, column: 12 },
        { line: 4, column: 25 },
        { line: 5, column: 5 },
      ],
      warnings: [],
    },
    { file: odd, ok: true, levels: 1, attributes: [], problems: [], warnings: [{ line: 5, column: 11 }] },
  ])
})

test('- reads the standard input', async () => {
  expect(await sluice(['validate', '-'], { stdin: small() })).toMatchObject({
    code: 0,
    stdout: 'stdin: 1 level, 0 attributes\n',
  })
  expect(await sluice(['validate', '-'], { stdin: 'a' })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('stdin:1:1 a single value is not a policy'),
  })
})

test('a file that cannot be read is reported as a problem, and so are policy files in a folder of rules', async () => {
  const missing = join(folder, 'none.yaml')
  const { code, stdout } = await sluice(['validate', missing, folder])
  expect(code).toBe(1)
  expect(stdout.split('\n').slice(0, 4)).toEqual([
    `${missing}:1:1 there is no such file`,
    `${folder}/bad.yaml:1:1 config error, unknown key 'version'; a file has domain, descriptors`,
    `${folder}/bad.yaml:1:1 config file cannot have empty domain`,
    `${folder}/bad.yaml:2:1 config error, unknown key 'levels': this is a policy file, which has a place of its own`,
  ])
})

test('validate does not complain if its output is closed early', async () => {
  const { stderr } = await sluice(['validate', EXAMPLE], { closeStdout: true })
  expect(stderr).toBe('')
})
