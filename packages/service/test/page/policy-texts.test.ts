/** The texts that `GET /v1/admin/policy` tells: in one process and in threads, while the file on disk is good, bad or gone. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog } from '../../dist/serve/log.js'
import { readServeOptions } from '../../dist/serve/serve-options.js'
import { type Serving, startServing } from '../../dist/serve/start-serving.js'
import type { PolicyAnswer } from '../../src/live/inspect-answer.js'
import type { LogLine } from '../serve/serve-process.js'
import { ThreadService, threadOptions } from '../serve/threads/thread-service.js'

const TOKEN = 'the-admin-token-of-tests'

let folder: string
let path: string
let serving: Serving | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-texts-'))
  path = join(folder, 'my policy.yaml')
})
afterEach(async () => {
  await serving?.close()
  serving = undefined
  await rm(folder, { recursive: true })
})

const textOf = (quota: number | string) => `# The limits of the shop.
version: 1
levels:
  - name: all
    limit: { algorithm: fixed-window, quota: ${quota}, window: 1h }
`

async function policyAt(url: string): Promise<PolicyAnswer> {
  const response = await fetch(`${url}/v1/admin/policy`, { headers: { authorization: `Bearer ${TOKEN}` } })
  expect(response.status).toBe(200)
  return (await response.json()) as PolicyAnswer
}

/** Serves the policy file, and gives the address of every process or thread that answers. */
async function serve(form: 'alone' | 'threads'): Promise<readonly string[]> {
  const logged: LogLine[] = []
  const log = createLog('json', { write: (line: string) => void logged.push(JSON.parse(line)) })
  const options = { http: '127.0.0.1:0', policy: path, 'admin-token': TOKEN }
  serving = await startServing(form === 'alone' ? readServeOptions(options, {}) : threadOptions({ policy: path }), log)
  const urls = logged.filter(({ msg }) => msg === 'a worker listens').map(({ url }) => String(url))
  return form === 'alone' ? [serving.url] : urls
}

/** Resolves when every process or thread says that this text is refused, or that none is. */
async function untilRefused(all: () => Promise<readonly PolicyAnswer[]>, text: string | undefined): Promise<void> {
  const isSo = async () => (await all()).every(({ refused }) => refused?.text === text)
  await expect.poll(isSo, { timeout: 20_000 }).toBe(true)
}

test.each(['alone', 'threads'] as const)('%s: the text in force, and the one that is refused', async (form) => {
  await writeFile(path, textOf(10))
  const urls = await serve(form)
  expect(urls).toHaveLength(form === 'alone' ? 1 : 3)
  const all = () => Promise.all(urls.map(policyAt))
  const inForce = { file: 'my policy.yaml', text: textOf(10), problems: [] }
  for (const answer of await all()) {
    expect(answer).toMatchObject({ inForce })
    expect(answer).not.toHaveProperty('refused')
  }
  await writeFile(path, textOf('lots'))
  await serving?.reload()
  const problem = { kind: 'error', line: 5, column: 46, message: expect.stringContaining('quota') }
  const refused = { file: 'my policy.yaml', text: textOf('lots'), problems: [problem] }
  // A thread gets the news by a message, and answers a request that overtakes it as before.
  await untilRefused(all, refused.text)
  for (const answer of await all()) expect(answer).toMatchObject({ inForce, refused })
  await rm(path)
  await serving?.reload()
  const gone = { text: '', problems: [{ kind: 'error', line: 1, column: 1, message: 'there is no such file' }] }
  await untilRefused(all, '')
  for (const answer of await all()) expect(answer).toMatchObject({ inForce, refused: gone })
  // The file is there again, with the text in force: the refusal is over without a reload.
  await writeFile(path, textOf(10))
  await untilRefused(all, undefined)
  for (const answer of await all()) expect(answer).toMatchObject({ inForce })
})

test('warnings are at their lines, also if the text begins with a byte order mark', async () => {
  const idle = `${textOf(10)}  - name: idle\n    limit: { algorithm: fixed-window, quota: 20, window: 1h }\n`
  await writeFile(path, `\ufeff${idle}`)
  const [url] = await serve('alone')
  const { inForce } = await policyAt(url)
  expect(inForce.text).toBe(idle)
  expect(inForce.problems).toEqual([expect.objectContaining({ kind: 'warning', line: expect.any(Number) })])
  expect(inForce.text.split('\n')[inForce.problems[0].line - 1]).toMatch(/idle|quota: 20/)
})

test('a thread that starts while the file is bad knows that it is', async () => {
  const limit = { algorithm: 'fixed-window', quota: 5, window: '1h' }
  await using service = await ThreadService.start([{ name: 'all', limit }], 2)
  const problem = { line: 1, column: 2, message: 'the text is cut off' }
  service.fleet.refuse({ file: 'policy.json', text: '{', problems: [problem] })
  const [first] = service.threads
  service.kill(first)
  await expect.poll(() => service.threads.at(-1), { timeout: 20_000, interval: 5 }).toBeGreaterThan(2)
  const { body } = await service.ask(service.threads.at(-1) as number, '/v1/admin/policy')
  expect(body.refused).toEqual({ file: 'policy.json', text: '{', problems: [{ kind: 'error', ...problem }] })
  expect(body.inForce).toMatchObject({ file: 'policy.json', text: expect.stringContaining('"quota":5') })
})
