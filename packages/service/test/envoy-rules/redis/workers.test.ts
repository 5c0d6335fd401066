/** `sluice serve --envoy-config --workers N`: all processes have the same rules, and count together. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { ServeProcess } from '../../serve/serve-process.js'

let redis: RedisServer
let folder: string
beforeAll(async () => {
  redis = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'sluice-rules-workers-'))
})
afterAll(async () => {
  await redis?.stop()
  await rm(folder, { recursive: true, force: true })
})

const write = (quota: number) =>
  writeFile(
    join(folder, 'a.yaml'),
    `domain: test\ndescriptors: [{ key: a, rate_limit: { unit: month, requests_per_unit: ${quota} } }]`,
  )

interface Status {
  readonly currentLimit: { readonly requestsPerUnit: number }
  readonly limitRemaining?: number
}

/** Asks on a connection of its own, so that another worker may answer. */
async function ask(url: string, hits: number): Promise<Status> {
  const descriptors = [{ entries: [{ key: 'a', value: 'x' }], hitsAddend: hits }]
  const body = JSON.stringify({ domain: 'test', descriptors })
  const response = await fetch(`${url}/json`, { method: 'POST', body, headers: { Connection: 'close' } })
  return ((await response.json()) as { statuses: Status[] }).statuses[0]
}

test('workers count together, and all of them follow a change', { timeout: 60_000 }, async () => {
  await write(1_000)
  const options = ['--store', redis.url, '--deadline-ms', '5000', '--workers', '3']
  await using running = await ServeProcess.start(['--envoy-config', folder, ...options])
  const answers = await Promise.all(Array.from({ length: 30 }, () => ask(running.url, 1)))
  const left = answers.map(({ limitRemaining }) => limitRemaining)
  expect(left.sort((one, other) => Number(other) - Number(one))).toEqual(Array.from({ length: 30 }, (_, i) => 999 - i))
  await write(2_000)
  const quotas = async () => {
    const looks = await Promise.all(Array.from({ length: 12 }, () => ask(running.url, 0)))
    return [...new Set(looks.map(({ currentLimit }) => currentLimit.requestsPerUnit))]
  }
  await expect.poll(quotas, { timeout: 20_000 }).toEqual([2_000])
  expect((await ask(running.url, 0)).limitRemaining).toBe(1_970)
})
