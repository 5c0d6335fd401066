/** The policy in force follows its file. */
import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog } from '../../src/serve/log.js'
import { readServeOptions } from '../../src/serve/serve-options.js'
import { type Serving, startServing } from '../../src/serve/start-serving.js'
import type { LogLine } from './serve-process.js'
import { ask } from './test-service.js'

let folder: string
let serving: Serving | undefined
let logged: LogLine[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-reload-'))
  logged = []
})
afterEach(async () => {
  await serving?.close()
  serving = undefined
  await rm(folder, { recursive: true })
})

const policyOf = (quota: number) => `version: 1
levels:
  - name: all
    limit: { algorithm: fixed-window, quota: ${quota}, window: 1h }
`

async function serve(path: string): Promise<Serving> {
  const log = createLog('json', { write: (line: string) => void logged.push(JSON.parse(line)) })
  serving = await startServing(readServeOptions({ http: '127.0.0.1:0', policy: path }, {}), log)
  return serving
}

async function quotaOf({ url }: Serving): Promise<number> {
  const { body } = await ask(url, '/v1/check', { cost: 0 })
  return (body as { levels: { quota: number }[] }).levels[0].quota
}

const untilQuota = (quota: number) =>
  expect.poll(() => quotaOf(serving as Serving), { timeout: 20_000, interval: 20 }).toBe(quota)

test('a file that is written again is put in force', async () => {
  const path = join(folder, 'policy.yaml')
  await writeFile(path, policyOf(10))
  expect(await quotaOf(await serve(path))).toBe(10)
  await writeFile(path, policyOf(20))
  await untilQuota(20)
  await writeFile(path, policyOf(30))
  await untilQuota(30)
})

test('an editor that renames a new file to the old name is followed, again and again', async () => {
  const path = join(folder, 'policy.yaml')
  await writeFile(path, policyOf(10))
  await serve(path)
  for (const quota of [11, 12, 13]) {
    await writeFile(join(folder, '.policy.yaml.swp'), policyOf(quota))
    await rename(join(folder, '.policy.yaml.swp'), path)
    await untilQuota(quota)
  }
})

test('a Kubernetes volume, whose ..data link is swapped, is followed', async () => {
  const put = async (quota: number) => {
    await mkdir(join(folder, `..v${quota}`))
    await writeFile(join(folder, `..v${quota}`, 'policy.yaml'), policyOf(quota))
    await symlink(`..v${quota}`, join(folder, '..data_tmp'))
    await rename(join(folder, '..data_tmp'), join(folder, '..data'))
  }
  await put(10)
  await symlink('..data/policy.yaml', join(folder, 'policy.yaml'))
  await serve(join(folder, 'policy.yaml'))
  for (const quota of [11, 12]) {
    await put(quota)
    await untilQuota(quota)
    await rm(join(folder, `..v${quota - 1}`), { recursive: true })
  }
  expect(logged.filter(({ level }) => level === 50)).toEqual([])
})

test('a link to a file in another folder is followed when that file changes', async () => {
  await mkdir(join(folder, 'elsewhere'))
  await writeFile(join(folder, 'elsewhere', 'real.yaml'), policyOf(10))
  await symlink('elsewhere/real.yaml', join(folder, 'policy.yaml'))
  await serve(join(folder, 'policy.yaml'))
  await writeFile(join(folder, 'elsewhere', 'real.yaml'), policyOf(20))
  await untilQuota(20)
})

test('a bad file is logged with line and column, and the last good policy stays; so is a file that is gone', async () => {
  const path = join(folder, 'policy.yaml')
  await writeFile(path, policyOf(10))
  await serve(path)
  await writeFile(path, policyOf(20).replace('fixed-window', 'fixed-windov'))
  const bad = () => logged.filter(({ level }) => level === 50)
  await expect.poll(() => bad().length, { timeout: 20_000 }).toBe(1)
  expect(bad()[0]).toMatchObject({
    file: path,
    msg: 'the policy file cannot be used; the last good policy stays in force',
    problems: [{ line: 4, column: 25, message: expect.stringContaining('fixed-window') }],
  })
  expect(await quotaOf(serving as Serving)).toBe(10)
  await rm(path)
  await serving?.reload()
  expect(bad()[1]).toMatchObject({ problems: [{ line: 1, column: 1, message: 'there is no such file' }] })
  expect(await quotaOf(serving as Serving)).toBe(10)
  await writeFile(path, policyOf(30))
  await untilQuota(30)
})

test('a policy that the store cannot use counts as bad', async () => {
  const path = join(folder, 'policy.json')
  const named = (name: unknown) =>
    JSON.stringify({
      version: 1,
      name,
      levels: [{ name: 'all', limit: { algorithm: 'fixed-window', quota: 10, window: '100d' } }],
    })
  await writeFile(path, named('one'))
  await serve(path)
  await writeFile(path, named(''))
  await serving?.reload()
  expect(logged.at(-1)).toMatchObject({ level: 50 })
  expect(await quotaOf(serving as Serving)).toBe(10)
})

test('1,000 reloads under load lose no request, and every answer is by the old policy or the new', {
  timeout: 120_000,
}, async () => {
  const path = join(folder, 'policy.yaml')
  await writeFile(path, policyOf(1_000_000))
  const { url, reload } = await serve(path)
  let isOver = false
  let answers = 0
  const client = async () => {
    for (; !isOver; answers++) {
      const { status, body } = await ask(url, '/v1/check', { cost: 1 })
      const { allowed, levels } = body as { allowed: boolean; levels: { quota: number; remaining: number }[] }
      expect({ status, allowed, levels: levels.length }).toEqual({ status: 200, allowed: true, levels: 1 })
      expect([1_000_000, 2_000_000]).toContain(levels[0].quota)
    }
  }
  const clients = [client(), client()]
  for (let i = 1; i <= 1_000; i++) {
    writeFileSync(path, policyOf(i % 2 === 1 ? 2_000_000 : 1_000_000))
    await reload()
  }
  isOver = true
  await Promise.all(clients)
  expect(answers).toBeGreaterThan(100)
  // States stay through reloads: every unit that was taken is still taken.
  const { body } = await ask(url, '/v1/check', { cost: 0 })
  expect(body).toMatchObject({ levels: [{ quota: 1_000_000, remaining: 1_000_000 - answers }] })
  expect(logged.filter(({ level }) => level === 50)).toEqual([])
})
