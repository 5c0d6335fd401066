/** What `sluice serve --workers N` on the embedded store refuses: an old Node.js, and limits that the table cannot keep. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../../dist/serve/log.js'
import { startServing } from '../../../dist/serve/start-serving.js'
import { readServeOptions } from '../../../src/serve/serve-options.js'
import type { LogLine } from '../serve-process.js'
import { threadOptions } from './thread-service.js'

let folder: string
let policy: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-threads-'))
  policy = join(folder, 'policy.yaml')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const textOf = (limit: string) => `version: 1
levels:
  - name: fine
    limit: { algorithm: token-bucket, capacity: 10, refill: 1/s }
  - name: odd
    key: [user]
    limit: ${limit}
`
const WINDOW = '{ algorithm: fixed-window, quota: 7, window: 1h }'
const REMEDY = "the level 'odd' needs --workers 1 or a Redis, such as --store redis://localhost:6379: "

test.each(['20.19.0', '22.11.0', '23.0.0'])('threads need a newer Node.js than %s', (node) => {
  expect(() => readServeOptions({ workers: '2' }, {}, node)).toThrow(
    '--workers with --store memory needs Node.js 22.12 or newer, where worker threads can share a port, and this is ' +
      `${node}; on this one it needs a Redis, such as --store redis://localhost:6379`,
  )
  expect(readServeOptions({ workers: '2', store: 'redis://localhost' }, {}, node)).toMatchObject({ reusePort: false })
  expect(readServeOptions({ workers: '1' }, {}, node)).toMatchObject({ reusePort: false })
})

test.each(['22.12.0', '23.1.0', '24.0.0', '26.1.0'])('Node.js %s can share a port among threads', (node) => {
  expect(readServeOptions({ workers: '2' }, {}, node)).toMatchObject({ workers: 2, reusePort: true })
})

test.each([
  ['{ algorithm: sliding-window, quota: 5, window: 1h }', "algorithm 'sliding-window'"],
  ['{ algorithm: sliding-log, quota: 5, window: 1h }', "algorithm 'sliding-log'"],
  ['{ algorithm: concurrency, max: 5, ttl: 1m }', "algorithm 'concurrency'"],
  ['{ algorithm: fixed-window, quota: 5, window: 1h, align: first }', "align: 'first'"],
  ['{ algorithm: token-bucket, capacity: 5, refill: 9999/s }', "'9999/s'"],
])('a policy with the limit %s is refused at the start', async (limit, named) => {
  await writeFile(policy, textOf(limit))
  const starting = startServing(threadOptions({ policy }), createLog('off', process.stdout))
  await expect(starting).rejects.toMatchObject({
    code: 'SLUICE_INVALID_POLICY_FILE',
    problems: [{ line: 7, column: 12, message: expect.stringContaining(named) }],
  })
  const { message } = (await starting.catch((error: unknown) => error)) as Error
  expect(message).toContain(`${policy}:7:12 ${REMEDY}the table of the worker threads cannot`)
  expect(message).not.toContain('memoryStore')
})

test('a limit of an override is named too', async () => {
  const overrides = '[{ when: { user: vip }, limit: { algorithm: sliding-log, quota: 5, window: 1h } }]'
  await writeFile(policy, `${textOf(WINDOW)}    overrides: ${overrides}\n`)
  const starting = startServing(threadOptions({ policy }), createLog('off', process.stdout))
  await expect(starting).rejects.toMatchObject({ problems: [{ line: 8, message: expect.stringContaining('odd') }] })
})

test('such a policy is refused at a reload, and the last good one stays in all threads', async () => {
  await writeFile(policy, textOf(WINDOW))
  const logged: LogLine[] = []
  const log = createLog('json', { write: (line: string) => void logged.push(JSON.parse(line)) })
  const serving = await startServing(threadOptions({ policy }), log)
  try {
    await writeFile(policy, textOf('{ algorithm: sliding-window, quota: 9, window: 1h }'))
    await serving.reload()
    const refusal = 'the policy file cannot be used; the last good policy stays in force'
    expect(logged.find(({ msg }) => msg === refusal)?.problems).toMatchObject([{ line: 7, column: 12 }])
    const urls = logged.filter(({ msg }) => msg === 'a worker listens').map(({ url }) => url)
    expect(urls).toHaveLength(3)
    for (const url of urls) {
      const response = await fetch(`${url}/v1/check`, { method: 'POST', body: '{"attributes":{"user":"u"},"cost":0}' })
      expect(await response.json()).toMatchObject({ levels: [{ name: 'fine' }, { name: 'odd', quota: 7 }] })
      expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/reloads_total\{.*result="refused"\} 1/)
    }
  } finally {
    await serving.close()
  }
})
