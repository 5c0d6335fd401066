/** The gRPC door of worker threads: all of them listen on one port. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHOULD_RATE_LIMIT } from '../../src/envoy/envoy-methods.js'
import { GrpcClient } from '../grpc/grpc-client.js'
import { ServeProcess } from '../serve/serve-process.js'
import { portOf, requestOf } from './door-service.js'
import { decodeResponse, encodeRequest } from './envoy-protos.js'

const [major, minor] = process.versions.node.split('.').map(Number)
const isTooOld = major < 22 || (major === 22 && minor < 12)

let folder: string
let policy: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-threads-'))
  policy = join(folder, 'policy.json')
  const limit = { algorithm: 'token-bucket', capacity: 100, refill: '1/d' }
  await writeFile(policy, JSON.stringify({ version: 1, levels: [{ name: 'all', key: ['user'], limit }] }))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.skipIf(isTooOld)('on Node.js 22.12 and newer, which can share a port among threads', () => {
  test('connections go to both threads, which share one quota', async () => {
    await using running = await ServeProcess.start(['--policy', policy, '--workers', '2', '--grpc', '127.0.0.1:0'])
    const port = portOf(String(running.lines.find(({ msg }) => msg === 'the service listens')?.grpc))
    const clients = Array.from({ length: 30 }, () => new GrpcClient(port))
    const message = encodeRequest(requestOf({ user: 'ann' }))
    const answers = await Promise.all(
      clients.flatMap((client) => Array.from({ length: 5 }, () => client.unary(SHOULD_RATE_LIMIT, message))),
    )
    const codes = answers.map((answer) => decodeResponse(answer).overallCode)
    expect(codes.filter((code) => code === 'OK')).toHaveLength(100)
    const text = await (await fetch(`${running.url}/metrics`)).text()
    const connections = [...text.matchAll(/^sluice_grpc_connections\{worker="\d+"\} (\d+)$/gm)].map(([, count]) =>
      Number(count),
    )
    expect(connections.filter((count) => count > 0)).toHaveLength(2)
    for (const client of clients) client.close()
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  })

  test('a port that another program has is refused', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const refused = new ServeProcess(['--policy', policy, '--workers', '2', '--grpc', `127.0.0.1:${port}`])
    expect(await refused.ended).toBe(1)
    expect(refused.stderr).toContain(
      `port ${port} is taken: another process listens on it; --grpc 127.0.0.1:0 takes a free port`,
    )
    other.close()
  })
})

test('one process refuses a port that another program has', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const refused = new ServeProcess(['--policy', policy, '--grpc', `127.0.0.1:${port}`])
  expect(await refused.ended).toBe(1)
  expect(refused.stderr).toContain(`--grpc 127.0.0.1:0 takes a free port`)
  other.close()
})
