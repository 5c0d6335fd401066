/** What the log says about a policy when it is put in force. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/serve/log.js'
import { readServeOptions } from '../../src/serve/serve-options.js'
import { startServing } from '../../src/serve/start-serving.js'

const bucket = { algorithm: 'token-bucket', capacity: 5, refill: '1/s' }
const places = { algorithm: 'concurrency', max: 5, ttl: '30s' }
const PLAIN = [{ name: 'plain', key: ['ip'], limit: { ...bucket, capacity: 2 } }]
const WITH_PLACES = [
  ...PLAIN,
  { name: 'always', limit: [bucket, places] },
  { name: 'sometimes', limit: bucket, overrides: [{ when: { method: 'POST' }, limit: places }] },
]
const BY_MERCHANT = [{ name: 'merchant', key: ['merchant', 'ip'], limit: bucket }]

async function serve(levels: readonly object[], given: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-advice-'))
  const policy = join(folder, 'policy.json')
  const write = (next: readonly object[]) => writeFile(policy, JSON.stringify({ version: 1, levels: next }))
  await write(levels)
  const warnings: Record<string, unknown>[] = []
  const log = createLog('json', {
    write: (line: string) => {
      const told = JSON.parse(line)
      if (told.level === 40) warnings.push(told)
    },
  })
  const serving = await startServing(readServeOptions({ http: '127.0.0.1:0', policy, ...given }, {}), log)
  onTestFinished(async () => {
    await serving.close()
    await rm(folder, { recursive: true })
  })
  return {
    warnings,
    reload: async (next: readonly object[]) => {
      await write(next)
      await serving.reload()
    },
  }
}

test('the log names levels with concurrency limits at the start and after a reload, and says to reserve', async () => {
  const { warnings, reload } = await serve(WITH_PLACES)
  const expected = { levels: ['always', 'sometimes'], advice: expect.stringContaining('/v1/reserve') }
  expect(warnings).toMatchObject([expected])
  await reload(PLAIN)
  expect(warnings).toHaveLength(1)
  await reload(WITH_PLACES)
  expect(warnings.slice(1)).toMatchObject([expected])
})

test('with --grpc, the log names levels with leaky buckets, which Envoy cannot wait for', async () => {
  const queue = { algorithm: 'leaky-bucket', capacity: 5, drain: '1/s' }
  const levels = [...PLAIN, { name: 'queue', limit: queue }]
  expect((await serve(levels)).warnings).toEqual([])
  const { warnings } = await serve(levels, { grpc: '127.0.0.1:0' })
  expect(warnings).toMatchObject([
    { levels: ['queue'], msg: expect.stringContaining('Envoy cannot make a request wait') },
  ])
})

test('the log names attributes that the gate knows no field for at the start and after a reload', async () => {
  const { warnings, reload } = await serve(BY_MERCHANT, { 'trusted-proxies': '127.0.0.1' })
  const expected = { attributes: ['merchant'], advice: '--gate-attributes merchant=x-merchant' }
  expect(warnings).toMatchObject([expected])
  await reload(PLAIN)
  expect(warnings).toHaveLength(1)
  await reload(BY_MERCHANT)
  expect(warnings.slice(1)).toMatchObject([expected])
})

test('the log says nothing about the gate if no proxy is trusted, or if every attribute has a field', async () => {
  expect((await serve(BY_MERCHANT)).warnings).toEqual([])
  const fields = { 'trusted-proxies': '127.0.0.1', 'gate-attributes': 'merchant=x-merchant' }
  expect((await serve(BY_MERCHANT, fields)).warnings).toEqual([])
})

test('the log has the warnings of the file with their lines, at the start and after a reload', async () => {
  const SMALL = [{ name: 'exports', limit: { algorithm: 'sliding-window', quota: 2, window: '1h' } }]
  const { warnings, reload } = await serve(SMALL)
  const expected = {
    file: expect.stringMatching(/policy\.json$/),
    line: 1,
    msg: expect.stringContaining("'exports' may make a client wait 90m in a sliding window of 1h"),
  }
  expect(warnings).toMatchObject([expected])
  await reload(PLAIN)
  expect(warnings).toHaveLength(1)
  await reload(SMALL)
  expect(warnings.slice(1)).toMatchObject([expected])
})
