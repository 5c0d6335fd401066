/** `GET /v1/live` of worker processes on one Redis: whichever answers tells the totals of all. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRedis } from '../../../../../scripts/redis-server.mjs'
import { ServeProcess } from '../../serve/serve-process.js'
import { LiveClient, sumOf } from '../live-client.js'

const LONG = { timeout: 20_000, interval: 5 }
const POLICY = {
  version: 1,
  levels: [{ name: 'all', key: ['user'], limit: { algorithm: 'token-bucket', capacity: 40, refill: '1/d' } }],
}

test('the totals are those of all processes, also after one died, and leases are added up', async () => {
  const redis = await startRedis()
  const folder = await mkdtemp(join(tmpdir(), 'sluice-live-'))
  const policy = join(folder, 'policy.json')
  await writeFile(policy, JSON.stringify(POLICY))
  try {
    await using running = await ServeProcess.start([
      '--policy',
      policy,
      '--store',
      redis.url,
      '--workers',
      '3',
      '--lease',
      '--deadline-ms',
      '5000',
    ])
    const { url } = running
    // A connection of its own for each, so that other workers answer.
    const check = async () => {
      const body = '{"attributes":{"user":"a-secret-user"}}'
      const response = await fetch(`${url}/v1/check`, { method: 'POST', body, headers: { Connection: 'close' } })
      return ((await response.json()) as { allowed: boolean }).allowed
    }
    const clients = await Promise.all(Array.from({ length: 4 }, async () => (await LiveClient.open(url)).read()))
    const allowed = (await Promise.all(Array.from({ length: 60 }, check))).filter(Boolean).length
    const all = { allowed, denied: 60 - allowed, levels: [[allowed, 60 - allowed, 0, 0]] }
    for (const client of clients) {
      await expect.poll(() => sumOf(client.frames), LONG).toEqual(all)
      expect((await client.next('hello')).service).toMatchObject({
        pid: running.child.pid,
        workers: 3,
        isExample: false,
      })
      await client.next(
        'store',
        ({ kind, state, leases }) => kind === 'redis' && state === 'well' && leases !== undefined,
      )
    }
    const keys = await Promise.all(
      clients.map((client) => client.next('keys', ({ byLoad }) => byLoad.some(({ count }) => count === 60))),
    )
    expect(new Set(keys.map(({ byLoad }) => byLoad[0].key)).size).toBe(1)
    const worker = running.lines.find(({ msg }) => msg === 'a worker listens')
    process.kill(Number(worker?.pid), 'SIGKILL')
    await running.says('a worker ended; another takes its place')
    await expect.poll(() => running.lines.filter(({ msg }) => msg === 'a worker listens').length, LONG).toBe(4)
    const later = (await LiveClient.open(url)).read()
    // Units that other processes held on lease may have come back.
    const more = (await Promise.all(Array.from({ length: 20 }, check))).filter(Boolean).length
    const sum = [allowed + more, 80 - allowed - more]
    await expect.poll(() => sumOf(later.frames).levels[0]?.slice(0, 2), LONG).toEqual(sum)
    for (const client of [...clients, later]) expect(client.text).not.toContain('a-secret-user')
  } finally {
    await redis.stop()
    await rm(folder, { recursive: true })
  }
}, 60_000)
