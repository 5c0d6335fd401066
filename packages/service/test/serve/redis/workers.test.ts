/** `sluice serve --workers N`: several processes serve one port and decide on one Redis. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { ServeProcess } from '../serve-process.js'

const ENDED = 'a worker ended; another takes its place'
const LISTENS = 'a worker listens'

let redis: RedisServer
let folder: string
let policy: string
beforeAll(async () => {
  redis = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'sluice-workers-'))
  policy = join(folder, 'policy.json')
})
afterAll(async () => {
  await redis?.stop()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => writeFile(policy, policyOf(1_000)))

function policyOf(quota: number): string {
  return JSON.stringify({
    version: 1,
    levels: [{ name: 'all', key: ['user'], limit: { algorithm: 'fixed-window', quota, window: '1d' } }],
  })
}

const start = (...more: string[]) =>
  ServeProcess.start(['--policy', policy, '--store', redis.url, '--deadline-ms', '5000', '--workers', '3', ...more])

/** Asks on a connection of its own, so that another worker may answer. */
async function check(url: string, user: string) {
  const body = JSON.stringify({ attributes: { user } })
  const response = await fetch(`${url}/v1/check`, { method: 'POST', body, headers: { Connection: 'close' } })
  return (await response.json()) as {
    allowed: boolean
    degraded?: string
    levels: { quota: number; remaining: number }[]
  }
}

test('workers share one limit, tell of themselves once, and end together', async () => {
  await using running = await start()
  expect(running.stderr.match(/Sluice decides at/g)).toHaveLength(1)
  expect(running.stderr).toContain('3 processes')
  const verdicts = await Promise.all(Array.from({ length: 60 }, () => check(running.url, 'shared')))
  expect(verdicts.map(({ levels }) => levels[0].remaining).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, i) => 940 + i),
  )
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
  await expect(fetch(`${running.url}/healthz`)).rejects.toThrow()
})

test('a worker that dies is replaced and logged; the others go on', async () => {
  await using running = await start()
  const pids = workersOf(running)
  expect(pids).toHaveLength(3)
  process.kill(pids[0], 'SIGKILL')
  expect(await running.says(ENDED)).toMatchObject({ signal: 'SIGKILL', inMs: 100 })
  await running.says(
    LISTENS,
    running.lines.findIndex(({ msg }) => msg === ENDED),
  )
  const now = workersOf(running)
  expect(now).toHaveLength(3)
  expect(now).not.toContain(pids[0])
  expect((await check(running.url, 'after')).allowed).toBe(true)
})

test('a reload reaches every worker, and a worker that starts while the file is bad has the last good policy', async () => {
  await using running = await start()
  await writeFile(policy, policyOf(2_000))
  running.child.kill('SIGHUP')
  await running.says('another policy is in force')
  const quotas = async () => {
    const verdicts = await Promise.all(Array.from({ length: 12 }, () => check(running.url, 'reload')))
    return [...new Set(verdicts.map(({ levels }) => levels[0].quota))]
  }
  await expect.poll(quotas, { timeout: 10_000 }).toEqual([2_000])
  await writeFile(policy, '{')
  await running.says('the policy file cannot be used; the last good policy stays in force')
  const pids = workersOf(running)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await expect.poll(() => workersOf(running).filter((pid) => !pids.includes(pid)).length, { timeout: 20_000 }).toBe(3)
  expect(await quotas()).toEqual([2_000])
})

test('workers that cannot start end the service with their reason', async () => {
  await using running = await start()
  const taken = new ServeProcess(['--store', redis.url, '--workers', '2', '--http', `127.0.0.1:${running.port}`])
  expect(await taken.ended).toBe(1)
  expect(taken.stderr).toContain(`port ${running.port} is taken`)
  const wrong = new ServeProcess(['--store', redis.url, '--workers', '2', '--prefix', 'a{b}'])
  expect(await wrong.ended).toBe(2)
  expect(wrong.stderr).toContain("got 'a{b}'")
})

/** The ids of the workers that listen now. */
function workersOf({ lines }: ServeProcess): readonly number[] {
  const ended = lines.filter(({ msg }) => msg === ENDED).map(({ worker }) => worker)
  const listening = lines.filter(({ msg }) => msg === LISTENS)
  return listening.filter(({ worker }) => !ended.includes(worker)).map(({ pid }) => Number(pid))
}

test('every process tells the text of a policy that was refused', async () => {
  await using running = await start('--admin-token', 'the-admin-token-of-tests')
  await writeFile(policy, '{ "version": 2 }')
  running.child.kill('SIGHUP')
  await running.says('the policy file cannot be used; the last good policy stays in force')
  const headers = { Authorization: 'Bearer the-admin-token-of-tests', Connection: 'close' }
  const ask = async () => (await (await fetch(`${running.url}/v1/admin/policy`, { headers })).json()) as object
  const refused = {
    file: 'policy.json',
    text: '{ "version": 2 }',
    problems: [{ kind: 'error', line: 1, column: 14 }],
  }
  const told = async () => (await Promise.all(Array.from({ length: 12 }, ask))).every((each) => 'refused' in each)
  await expect.poll(told, { timeout: 20_000 }).toBe(true)
  expect(await ask()).toMatchObject({ inForce: { text: policyOf(1_000), problems: [] }, refused })
})

test('the demo of several processes: all take its traffic, know its token, and can end it', async () => {
  const args = ['--store', redis.url, '--prefix', 'demo:', '--deadline-ms', '5000', '--workers', '2', '--demo', 'on']
  await using running = await ServeProcess.start(args)
  const [, token] = /#token=([\da-f]{32})\n/.exec(running.stderr) ?? []
  const ask = (path: string, init: object = {}) =>
    fetch(running.url + path, { ...init, headers: { Authorization: `Bearer ${token}`, Connection: 'close' } })
  const statuses = await Promise.all(Array.from({ length: 12 }, async () => (await ask('/v1/admin/policy')).status))
  expect(statuses).toEqual(Array(12).fill(200))
  const decisions = async () => {
    const text = await (await ask('/metrics')).text()
    const workers = [...text.matchAll(/^sluice_decisions_total\{.*kind="policy".*outcome="allowed"\} (\d+)$/gm)]
    return workers.map(([, count]) => Number(count))
  }
  const active = async () => (await decisions()).filter((count) => count > 0).length
  await expect.poll(active, { timeout: 20_000 }).toBe(2)
  const ended = await ask('/v1/demo', { method: 'POST', body: '{"running":false}' })
  expect(await ended.json()).toEqual({ running: false })
})
