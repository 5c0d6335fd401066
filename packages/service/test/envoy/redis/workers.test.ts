/** The gRPC door of several workers, and on a Redis that goes away. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { SHOULD_RATE_LIMIT } from '../../../src/envoy/envoy-methods.js'
import { GrpcClient } from '../../grpc/grpc-client.js'
import { ServeProcess } from '../../serve/serve-process.js'
import { entriesOf, portOf } from '../door-service.js'
import { decodeResponse, encodeRequest } from '../envoy-protos.js'

let redis: RedisServer
let folder: string
let policy: string
beforeAll(async () => {
  redis = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'sluice-envoy-'))
  policy = join(folder, 'policy.json')
  const limit = { algorithm: 'fixed-window', quota: 1_000, window: '1d' }
  await writeFile(policy, JSON.stringify({ version: 1, levels: [{ name: 'user', key: 'user', limit }] }))
})
afterAll(async () => {
  await redis?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Asks on a connection of its own, so that another worker may answer. */
async function ask(port: number, ...users: readonly string[]) {
  const client = new GrpcClient(port)
  try {
    const descriptors = users.map((user) => ({ entries: entriesOf({ user }) }))
    const answer = await client.unary(SHOULD_RATE_LIMIT, encodeRequest({ domain: 'api', descriptors }))
    return decodeResponse(answer) as { overallCode: string; statuses: { limitRemaining: number }[] }
  } finally {
    client.close()
  }
}

const args = () => ['--policy', policy, '--store', redis.url, '--deadline-ms', '5000', '--grpc', '127.0.0.1:0']

test('processes answer on one port and share one limit', async () => {
  await using running = await ServeProcess.start([...args(), '--workers', '2'])
  const port = portOf(String(running.lines.find(({ msg }) => msg === 'the service listens')?.grpc))
  const answers = await Promise.all(Array.from({ length: 30 }, () => ask(port, 'shared')))
  const left = answers.map(({ statuses }) => statuses[0].limitRemaining)
  expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => 970 + i))
  const text = await (await fetch(`${running.url}/metrics`)).text()
  const byWorker = [...text.matchAll(/sluice_http_requests_total\{worker="\d+",door="envoy",status="2xx"\} (\d+)/g)]
  const counts = byWorker.map(([, count]) => Number(count))
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30)
  expect(counts.filter((count) => count > 0)).toHaveLength(2)
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
})

test('descriptors pass together on Redis', async () => {
  await using running = await ServeProcess.start(args())
  const port = portOf(String(running.lines.find(({ msg }) => msg === 'the service listens')?.grpc))
  expect((await ask(port, 'ann', 'bob')).statuses.map(({ limitRemaining }) => limitRemaining)).toEqual([999, 999])
  const many = await ask(port, ...Array<string>(1_000).fill('bob'))
  expect(many.overallCode).toBe('OVER_LIMIT')
  expect((await ask(port, 'bob')).statuses[0].limitRemaining).toBe(998)
})

test.each([
  ['open', 'OK'],
  ['closed', 'OVER_LIMIT'],
])('while Redis does not answer, the rule %s answers in time', async (rule, code) => {
  const away = 'redis://127.0.0.1:1'
  const rest = [
    '--policy',
    policy,
    '--store',
    away,
    '--deadline-ms',
    '20',
    '--grpc',
    '127.0.0.1:0',
    '--on-failure',
    rule,
  ]
  await using running = await ServeProcess.start(rest)
  const port = portOf(String(running.lines.find(({ msg }) => msg === 'the service listens')?.grpc))
  expect((await ask(port, 'ann')).overallCode).toBe(code)
  expect((await ask(port, 'ann', 'bob')).overallCode).toBe(code)
})
