import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { onServer } from '../../redis/faults-clients.js'

const WORKER = fileURLToPath(new URL('./fleet-worker.mjs', import.meta.url))
const PROCESSES = 3

interface Report {
  readonly through: Readonly<Record<string, number>>
  readonly shadow: number
  readonly degraded: Readonly<Record<string, number>>
}

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server?.stop())

/** Every process asks so often, all at once, for ten merchants in turn. */
async function runFleet(options: { global: number; merchant: number; asks: number }): Promise<readonly Report[]> {
  await onServer(server.port, (redis) => redis.flushall())
  const args = [JSON.stringify({ port: server.port, ...options })]
  const children = Array.from({ length: PROCESSES }, () => fork(WORKER, args))
  try {
    await Promise.all(children.map((child) => said(child)))
    const reports = Promise.all(children.map((child) => said(child)))
    for (const child of children) child.send('begin')
    return (await reports) as readonly Report[]
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

async function said(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of the fleet ended: ${code}`)
  })
  ended.catch(() => {})
  return (await Promise.race([once(child, 'message'), ended]))[0]
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const throughOf = (reports: readonly Report[], merchant: string) =>
  sum(reports.map(({ through }) => through[merchant] ?? 0))

it('processes that share a policy are given what its global level allows, all of it and never more', async () => {
  const reports = await runFleet({ global: 1_500, merchant: 1_000, asks: 2_000 })
  expect(sum(reports.flatMap(({ through }) => Object.values(through)))).toBe(1_500)
  expect(sum(reports.flatMap(({ degraded }) => Object.values(degraded)))).toBe(0)
  expect(sum(reports.map(({ shadow }) => shadow))).toBe(10)
})

it('processes that share a policy are given what each merchant is allowed, and denials cost the global level nothing', async () => {
  const reports = await runFleet({ global: 100_000, merchant: 70, asks: 2_000 })
  for (let i = 0; i < 10; i++) expect(throughOf(reports, `m${i}`)).toBe(70)
})
