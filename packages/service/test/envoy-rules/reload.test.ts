/** The rules in force follow the files of their folder. */
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog } from '../../src/serve/log.js'
import { readServeOptions } from '../../src/serve/serve-options.js'
import { type Serving, startServing } from '../../src/serve/start-serving.js'
import type { LogLine } from '../serve/serve-process.js'
import { ask } from '../serve/test-service.js'

const TOKEN = 'a token for this test'

let folder: string
let serving: Serving | undefined
let logged: LogLine[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-rules-'))
  logged = []
})
afterEach(async () => {
  await serving?.close()
  serving = undefined
  await rm(folder, { recursive: true })
})

const rulesOf = (quota: number, domain = 'test') =>
  `domain: ${domain}\ndescriptors:\n  - key: a\n    rate_limit: { unit: hour, requests_per_unit: ${quota} }\n`

async function serve(path = folder): Promise<Serving> {
  const log = createLog('json', { write: (line: string) => void logged.push(JSON.parse(line)) })
  const options = readServeOptions({ http: '127.0.0.1:0', 'envoy-config': path, 'admin-token': TOKEN }, {})
  serving = await startServing(options, log)
  return serving
}

/** The quota of the rule `a`, or 0 if the domain has none. */
async function quotaOf(domain = 'test'): Promise<number> {
  const attributes = { rule: `${domain}.a`, descriptor: 'x' }
  const { body } = await ask((serving as Serving).url, '/v1/check', { attributes, cost: 0 })
  return (body as { levels: { quota: number }[] }).levels[0]?.quota ?? 0
}

const untilQuota = (quota: number, domain?: string) =>
  expect.poll(() => quotaOf(domain), { timeout: 20_000, interval: 20 }).toBe(quota)

const untilLogged = (msg: string, count = 1) =>
  expect.poll(() => logged.filter((line) => line.msg === msg).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count)

test('files that are written, added and removed are followed, also in folders below', async () => {
  await writeFile(join(folder, 'a.yaml'), rulesOf(10))
  await serve()
  expect(await quotaOf()).toBe(10)
  await writeFile(join(folder, 'a.yaml'), rulesOf(20))
  await untilQuota(20)
  await writeFile(join(folder, 'b.yml'), rulesOf(5, 'other'))
  await untilQuota(5, 'other')
  await mkdir(join(folder, 'team'))
  await writeFile(join(folder, 'team', 'c.yaml'), rulesOf(7, 'third'))
  await untilQuota(7, 'third')
  await writeFile(join(folder, 'team', 'c.yaml'), rulesOf(8, 'third'))
  await untilQuota(8, 'third')
  await rm(join(folder, 'b.yml'))
  await untilQuota(0, 'other')
  expect(await quotaOf()).toBe(20)
})

test('a ConfigMap, whose ..data link is swapped, is followed, and its versions are not read twice', async () => {
  const put = async (quota: number) => {
    await mkdir(join(folder, `..v${quota}`))
    await writeFile(join(folder, `..v${quota}`, 'a.yaml'), rulesOf(quota))
    await writeFile(join(folder, `..v${quota}`, 'b.yaml'), rulesOf(quota, 'other'))
    await symlink(`..v${quota}`, join(folder, '..data_tmp'))
    await rename(join(folder, '..data_tmp'), join(folder, '..data'))
  }
  await put(10)
  for (const name of ['a.yaml', 'b.yaml']) await symlink(`..data/${name}`, join(folder, name))
  await serve()
  for (const quota of [11, 12]) {
    await put(quota)
    await untilQuota(quota)
    expect(await quotaOf('other')).toBe(quota)
    await rm(join(folder, `..v${quota - 1}`), { recursive: true })
  }
  expect(logged.filter(({ level }) => level === 50)).toEqual([])
})

test('a link to the folder, as RUNTIME_ROOT often is, is followed when it leads elsewhere', async () => {
  for (const quota of [1, 2]) {
    await mkdir(join(folder, `${quota}`))
    await writeFile(join(folder, `${quota}`, 'a.yaml'), rulesOf(quota))
  }
  await symlink('1', join(folder, 'current'))
  await serve(join(folder, 'current'))
  expect(await quotaOf()).toBe(1)
  await symlink('2', join(folder, 'next'))
  await rename(join(folder, 'next'), join(folder, 'current'))
  await untilQuota(2)
})

test('a bad file changes nothing, also not what good files say, and is reported', async () => {
  await writeFile(join(folder, 'a.yaml'), rulesOf(10))
  const { url } = await serve()
  await writeFile(join(folder, 'b.yaml'), 'domain: b\ndescriptors:\n  - kye: a\n')
  await writeFile(join(folder, 'a.yaml'), rulesOf(20))
  const message = 'the policy file cannot be used; the last good policy stays in force'
  await untilLogged(message)
  expect(await quotaOf()).toBe(10)
  const logLine = logged.find(({ msg }) => msg === message)
  expect(JSON.stringify(logLine?.problems)).toContain(`${folder}/b.yaml`)
  const response = await fetch(`${url}/v1/admin/policy`, { headers: { authorization: `Bearer ${TOKEN}` } })
  const { refused } = (await response.json()) as {
    refused: { text: string; problems: { line: number; message: string }[] }
  }
  const [{ line }] = refused.problems.filter((problem) => problem.message.includes('unknown key'))
  expect(refused.text.split('\n')[line - 1]).toBe('  - kye: a')
  expect(refused.text).toMatch(/^# a.yaml\n[^#]*\n# b.yaml\n/)
  expect(refused.text).not.toContain(folder)
  await rm(join(folder, 'b.yaml'))
  await untilQuota(20)
})

test('a folder without rules, and one that is gone, change nothing', async () => {
  await writeFile(join(folder, 'a.yaml'), rulesOf(10))
  await serve()
  await rm(join(folder, 'a.yaml'))
  await untilLogged('the policy file cannot be used; the last good policy stays in force')
  expect(await quotaOf()).toBe(10)
  await writeFile(join(folder, 'a.yaml'), rulesOf(11))
  await untilQuota(11)
})

test('a service does not start with bad rules, no rules or no folder', async () => {
  await expect(serve()).rejects.toThrow('there are no rules')
  await expect(serve(join(folder, 'nowhere'))).rejects.toThrow('there is no such file')
  await writeFile(join(folder, 'a.yaml'), 'descriptors: []')
  await expect(serve()).rejects.toThrow('config file cannot have empty domain')
})

test('rules and a policy file together are refused', () => {
  expect(() => readServeOptions({ policy: 'a.yaml', 'envoy-config': 'rules' }, {})).toThrow(
    '--envoy-config and --policy are two policies, and a service has one',
  )
  expect(() => readServeOptions({ 'envoy-config': 'rules', demo: 'on' }, {})).toThrow('leave out --envoy-config')
})
