/** Worker threads have the rules of the first one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog } from '../../dist/serve/log.js'
import { type Serving, startServing } from '../../dist/serve/start-serving.js'
import { ask } from '../serve/test-service.js'
import { threadOptions } from '../serve/threads/thread-service.js'

let folder: string
let serving: Serving | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-rules-threads-'))
})
afterEach(async () => {
  await serving?.close()
  serving = undefined
  await rm(folder, { recursive: true })
})

const write = (rateLimit: string) =>
  writeFile(join(folder, 'a.yaml'), `domain: test\ndescriptors: [{ key: a, rate_limit: { ${rateLimit} } }]`)

const serve = () =>
  startServing(threadOptions({ 'envoy-config': folder, workers: '2' }), createLog('off', { write: () => {} }))

async function quota(): Promise<number> {
  const attributes = { rule: 'test.a', descriptor: 'x' }
  const { body } = await ask((serving as Serving).url, '/v1/check', { attributes, cost: 0 })
  return (body as { levels: { quota: number }[] }).levels[0]?.quota
}

test('threads get the rules at the start and after a change, and all of them count', async () => {
  await write('unit: hour, requests_per_unit: 10')
  serving = await serve()
  expect(await quota()).toBe(10)
  await write('unit: hour, requests_per_unit: 20')
  await expect.poll(quota, { timeout: 20_000 }).toBe(20)
  const response = await fetch(`${serving.url}/metrics`)
  const text = await response.text()
  expect(text).toMatch(/ratelimit_service_config_load_success\{worker="1"\} 2/)
  expect(text).toMatch(/ratelimit_service_config_load_success\{worker="2"\} 2/)
})

test('a limit that the table of the threads cannot keep is refused before any thread has it', async () => {
  await write('unit: month, requests_per_unit: 10')
  await expect(serve()).rejects.toThrow("the level 'test.a..month' needs --workers 1 or a Redis")
})
