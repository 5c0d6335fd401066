import { spawnSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { small } from '../policy-file/example-files.js'
import { EXAMPLE, sluice } from './run-cli.js'

// Inside the package, so that the compiler resolves 'sluice' as it does in a user's program.
const folder = fileURLToPath(new URL('../../node_modules/.cache/types-test', import.meta.url))

beforeAll(() => mkdir(folder, { recursive: true }))
afterAll(() => rm(folder, { recursive: true }))

function compile(file: string): string {
  const require = createRequire(import.meta.url)
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext']
  const settings = [
    ...options,
    '--types',
    'node',
    '--lib',
    'es2023,esnext.disposable',
    '--ignoreConfig',
    '--pretty',
    'false',
  ]
  return spawnSync(process.execPath, [tsc, ...settings, file], { cwd: folder, encoding: 'utf8' }).stdout
}

const PROGRAM = `
import { createPolicy } from 'sluice'
import { loadPolicyFile } from 'sluice-service'
import type { FilePolicy, PolicyAttributes, PolicyLevel } from './policy-types.js'

const { policy: data } = await loadPolicyFile('policy.yaml')
const policy = createPolicy(data) as FilePolicy
const request: PolicyAttributes = { ip: '192.0.2.1', merchant: undefined, method: 'GET', path: '/' }
policy.check({ ...request })
policy.override('merchant', 'acct_1', { algorithm: 'token-bucket', capacity: 1, refill: '1/s' })
export const level: PolicyLevel = 'charges'
`

test('a program with the types compiles, and a program with a misspelt attribute does not', async () => {
  const { code, stdout } = await sluice(['types', EXAMPLE])
  expect(code).toBe(0)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'policy-types.ts'), stdout)
  await writeFile(join(folder, 'good.ts'), PROGRAM)
  expect(compile('good.ts')).toBe('')
  for (const [right, wrong] of [
    ['merchant: undefined', 'merchnt: undefined'],
    ["'charges'", "'chargs'"],
    ["override('merchant'", "override('merchnt'"],
    ['check({ ...request })', "check({ ip: '192.0.2.1' })"],
  ]) {
    await writeFile(join(folder, 'bad.ts'), PROGRAM.replace(right, wrong))
    expect(compile('bad.ts')).toContain('error TS')
  }
})

test('names that are not identifiers are quoted and escaped', async () => {
  const odd = `    when: { "it's": a, 'a"b': a, "*/x": a, "\\u2028": a, "7": a, __proto__: a }\n`
  const { stdout } = await sluice(['types', '-'], { stdin: small(undefined, odd) })
  await writeFile(join(folder, 'odd.ts'), stdout)
  expect(compile('odd.ts')).toBe('')
  expect(stdout).toContain("  readonly 'it\\'s': AttributeValue\n")
})

test('types prints the problems of a bad file', async () => {
  const { code, stdout, stderr } = await sluice(['types', '-'], { stdin: '' })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('stdin:1:1 the file is empty')
})
