/** The command `sluice serve --workers 2` on the embedded store: threads that listen on one port. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RawClient } from '../../server/raw-client.js'
import { ServeProcess } from '../serve-process.js'

const [major, minor] = process.versions.node.split('.').map(Number)
const isTooOld = major < 22 || (major === 22 && minor < 12)

let folder: string
let policy: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-port-'))
  policy = join(folder, 'policy.json')
  const limit = { algorithm: 'token-bucket', capacity: 1_000, refill: '1/d' }
  await writeFile(policy, JSON.stringify({ version: 1, levels: [{ name: 'all', key: ['user'], limit }] }))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const start = (...more: string[]) => ServeProcess.start(['--policy', policy, '--workers', '2', ...more])

/** Asks on one of the agent's connections. */
async function isAllowed(url: string, agent: Agent): Promise<boolean> {
  const asking = request(`${url}/v1/check`, { method: 'POST', agent }).end('{"attributes":{"user":"u"}}')
  const [response] = await once(asking, 'response')
  let text = ''
  for await (const part of response) text += part
  return (JSON.parse(text) as { allowed: boolean }).allowed
}

/** The samples of a metric, by worker. */
async function byWorker(url: string, name: string): Promise<readonly number[]> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(new RegExp(`^${name}\\{worker="\\d+".*\\} (\\d+)$`, 'gm'))].map(([, value]) => Number(value))
}

/** Why a connection was refused; `undefined` if it was not. */
async function whyRefused(port: number): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  } finally {
    socket.destroy()
  }
}

test.skipIf(!isTooOld)('Node.js older than 22.12 is told what it lacks', async () => {
  const refused = new ServeProcess(['--policy', policy, '--workers', '2'])
  expect(await refused.ended).toBe(2)
  expect(refused.stderr).toContain(`needs Node.js 22.12 or newer, where worker threads can share a port, and this is`)
})

describe.skipIf(isTooOld)('on Node.js 22.12 and newer, which can share a port among threads', () => {
  test('connections go to both threads, and 2,000 requests at once get exactly one quota', async () => {
    await using running = await start()
    expect(running.stderr).toContain('2 threads of one process, on one table')
    const agent = new Agent({ keepAlive: true, maxSockets: 64 })
    const answers = await Promise.all(Array.from({ length: 2_000 }, () => isAllowed(running.url, agent)))
    expect(answers.filter((allowed) => allowed)).toHaveLength(1_000)
    const connections = await byWorker(running.url, 'sluice_http_connections')
    expect(connections.filter((count) => count > 0)).toHaveLength(2)
    const decisions = await byWorker(running.url, 'sluice_decisions_total')
    expect(decisions.reduce((sum, each) => sum + each, 0)).toBe(2_000)
    agent.destroy()
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
    await expect(fetch(`${running.url}/healthz`)).rejects.toThrow()
  })

  test('a shutdown answers the requests in flight of both threads', async () => {
    await using running = await start('--shutdown-ms', '3600000')
    const clients = await Promise.all(Array.from({ length: 40 }, () => RawClient.to(running.url)))
    // The answer to the expectation says that a thread has begun the request.
    const head = 'POST /v1/check HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n'
    for (const client of clients) client.write(head)
    await Promise.all(clients.map((client) => client.until(() => client.text.includes('100 Continue'))))
    const connections = await byWorker(running.url, 'sluice_http_connections')
    expect(connections.filter((count) => count > 0)).toHaveLength(2)
    running.child.kill('SIGTERM')
    // Both threads have stopped accepting, so both know of the shutdown.
    await expect.poll(() => whyRefused(running.port), { timeout: 20_000, interval: 5 }).toBe('ECONNREFUSED')
    for (const client of clients) client.write('{}')
    for (const client of clients)
      expect(await client.rest()).toMatch(/200 OK[\s\S]*Connection: close[\s\S]*"allowed":true/)
    expect(await running.ended).toBe(0)
  })

  test('a port that another program or service has is refused, and a service with threads keeps its port', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const second = (workers: number, at: number) =>
      new ServeProcess(['--policy', policy, '--workers', `${workers}`, '--http', `127.0.0.1:${at}`])
    const beside = second(2, port)
    expect(await beside.ended).toBe(1)
    expect(beside.stderr).toContain(`port ${port} is taken: another process listens on it`)
    other.close()
    await using running = await start()
    for (const workers of [1, 2]) {
      const refused = second(workers, running.port)
      expect(await refused.ended).toBe(1)
      expect(refused.stderr).toContain(`port ${running.port} is taken: another process listens on it`)
    }
  })

  test('a policy that the table cannot keep ends the command with code 1', async () => {
    const path = join(folder, 'sliding.yaml')
    const limit = '{ algorithm: sliding-window, quota: 1000, window: 1m }'
    await writeFile(path, `version: 1\nlevels:\n  - name: odd\n    limit: ${limit}\n`)
    const refused = new ServeProcess(['--policy', path, '--workers', '2'])
    expect(await refused.ended).toBe(1)
    expect(refused.stderr).toMatch(/sliding\.yaml:4:12 the level 'odd' needs --workers 1 or a Redis/)
  })

  test('threads that cannot listen end the command with their reason', async () => {
    const nowhere = new ServeProcess(['--policy', policy, '--workers', '2', '--http', '192.0.2.1:0'])
    expect(await nowhere.ended).toBe(1)
    expect(nowhere.stderr).toContain('this machine has no address 192.0.2.1')
  })
})
