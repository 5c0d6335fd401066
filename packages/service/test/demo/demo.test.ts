/** The demo of `sluice serve`: when it runs, how it is switched, and the link that it prints. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createLog } from '../../dist/serve/log.js'
import { readServeOptions } from '../../dist/serve/serve-options.js'
import { type Serving, startServing } from '../../dist/serve/start-serving.js'
import { withDemo } from '../../src/serve/with-demo.js'
import { type LogLine, ServeProcess } from '../serve/serve-process.js'
import { startTestService } from '../serve/test-service.js'
import { threadOptions } from '../serve/threads/thread-service.js'
import { RawClient } from '../server/raw-client.js'

const LONG = { timeout: 20_000, interval: 20 }
const MADE_UP = /^[\da-f]{32}$/

let serving: Serving | undefined
afterEach(async () => {
  await serving?.close()
  serving = undefined
})

const demoOf = (values: Readonly<Record<string, string>>) => {
  const { demo, demoToken, adminToken } = withDemo(readServeOptions(values, {}))
  return { demo, demoToken, adminToken }
}

test('it runs by default with the example policy in memory, and makes a token up for a machine of its own', () => {
  for (const http of ['127.0.0.1:0', 'localhost:0', '[::1]:0', '8080']) {
    const { demo, demoToken, adminToken } = demoOf({ http })
    expect([demo, adminToken]).toEqual([true, demoToken])
    expect(demoToken).toMatch(MADE_UP)
  }
  expect(demoOf({}).demoToken).not.toBe(demoOf({}).demoToken)
  const own = 'a-token-of-the-operator'
  expect(demoOf({ 'admin-token': own })).toEqual({ demo: true, demoToken: undefined, adminToken: own })
  // Other machines may ask: a token that the operator has not chosen would be a surprise.
  expect(demoOf({ http: '0.0.0.0:8080' })).toEqual({ demo: true, demoToken: undefined, adminToken: undefined })
})

test.each([{ policy: 'mine.yaml' }, { store: 'redis://127.0.0.1:6379' }, { page: 'off' }, { demo: 'off' }])(
  'it does not run with %j, and no token is made up',
  (values) => {
    expect(demoOf(values as Record<string, string>)).toEqual({ demo: false })
  },
)

test('services that are started by a program have no demo unless it is asked for', () => {
  expect(readServeOptions({}, {}).demo).toBeUndefined()
  expect(demoOf({ store: 'redis://127.0.0.1:6379', demo: 'on' }).demo).toBe(true)
})

async function switchDemo(url: string, body: object): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/v1/demo`, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, text: await response.text() }
}

/** How many decisions the policy has made. */
async function decisions(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const samples = [...text.matchAll(/^sluice_decisions_total\{.*kind="policy".*\} (\d+)$/gm)]
  return samples.reduce((sum, [, count]) => sum + Number(count), 0)
}

/** The first events of the stream, as far as it has come within a moment. */
async function isRunningAt(url: string): Promise<unknown> {
  const gone = new AbortController()
  const response = await fetch(`${url}/v1/live`, { signal: gone.signal })
  let text = ''
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(part).toString()
    if (text.includes('\n\nevent:') || /event: hello\ndata: .*\n\n/.test(text)) break
  }
  gone.abort()
  const [, hello] = /event: hello\ndata: (.*)\n/.exec(text) ?? []
  return (JSON.parse(hello) as { demo?: { isRunning: boolean } }).demo?.isRunning
}

test.each(['alone', 'threads'])('%s: the demo asks every worker, and can be ended and begun again', async (form) => {
  const logged: LogLine[] = []
  const log = createLog('json', { write: (line: string) => void logged.push(JSON.parse(line)) })
  const given = readServeOptions({ http: '127.0.0.1:0' }, {})
  serving = await startServing({ ...(form === 'alone' ? given : threadOptions()), demo: true }, log)
  const { url } = serving
  const urls = logged.filter(({ msg }) => msg === 'a worker listens').map((each) => String(each.url))
  await expect.poll(() => decisions(url), LONG).toBeGreaterThan(20)
  // Any worker can end it, and all know.
  const asked = urls.at(-1) ?? url
  expect(await isRunningAt(asked)).toBe(true)
  expect(await switchDemo(asked, { running: false })).toEqual({ status: 200, text: '{"running":false}' })
  for (const each of [url, ...urls]) await expect.poll(() => isRunningAt(each), LONG).toBe(false)
  // A batch may be under way. After it, nothing comes.
  let before = -1
  await expect
    .poll(async () => {
      const [last, now] = [before, await decisions(url)]
      before = now
      return last === now
    }, LONG)
    .toBe(true)
  expect(await switchDemo(asked, { running: true })).toMatchObject({ status: 200 })
  await expect.poll(() => decisions(url), LONG).toBeGreaterThan(before)
  expect(await isRunningAt(asked)).toBe(true)
})

test('a service without a demo answers 404; a wrong body is a 400', async () => {
  const service = await startTestService()
  try {
    const answer = await switchDemo(service.url, { running: true })
    expect([answer.status, answer.text]).toEqual([
      404,
      expect.stringContaining('the demo runs with the example policy'),
    ])
    for (const [body, detail] of [
      [{}, 'running must be true or false, got undefined'],
      [{ running: 'yes' }, 'running must be true or false, got \\"yes\\"'],
      [{ run: true }, "there is no member 'run'"],
    ] as const)
      expect(await switchDemo(service.url, body)).toEqual({ status: 400, text: expect.stringContaining(detail) })
    expect(await isRunningAt(service.url)).toBeUndefined()
  } finally {
    await service.close()
  }
})

test('the command prints the link first; its token opens the admin API, and another run has another', async () => {
  await using running = await ServeProcess.start([], { SLUICE_DEMO: '' })
  const [, token] = /^Open (?:http:\/\/127\.0\.0\.1:\d+\/)#token=([\da-f]{32})\n/.exec(running.stderr) ?? []
  expect(token).toMatch(MADE_UP)
  expect(running.stderr).toContain('It shows the traffic of a demo. --demo off leaves the demo out')
  expect(running.stderr.trimEnd().split('\n').length).toBeLessThan(17)
  // The log may be kept and sent elsewhere.
  expect(JSON.stringify(running.lines)).not.toContain(token)
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`${running.url}/v1/admin/policy`, { headers })).status).toBe(200)
  expect((await fetch(`${running.url}/v1/admin/policy`)).status).toBe(401)
  await expect.poll(() => decisions(running.url), LONG).toBeGreaterThan(20)
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
})

test('with --demo off, or with a policy of your own, the link has no token and the admin API is off', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-demo-'))
  const policy = join(folder, 'policy.json')
  const limit = { algorithm: 'fixed-window', quota: 5, window: '1h' }
  await writeFile(policy, JSON.stringify({ version: 1, levels: [{ name: 'all', limit }] }))
  try {
    for (const args of [
      ['--demo', 'off'],
      ['--policy', policy],
    ]) {
      await using running = await ServeProcess.start(args, { SLUICE_DEMO: '' })
      expect(running.stderr).toMatch(/^Open http:\/\/127\.0\.0\.1:\d+\/\n\nSluice decides at/)
      expect((await fetch(`${running.url}/v1/admin/policy`)).status).toBe(403)
      expect((await switchDemo(running.url, { running: true })).status).toBe(404)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('who begins the demo while the service shuts down does not keep it from ending', async () => {
  await using running = await ServeProcess.start([], { SLUICE_DEMO: 'on' })
  const late = await RawClient.to(running.url)
  const body = '{"running":true}'
  late.write(`POST /v1/demo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`)
  await late.until(() => late.statuses.includes(100))
  running.child.kill('SIGTERM')
  await running.says('the service shuts down')
  late.write(body)
  expect(await late.rest()).toContain('200 OK')
  expect(await running.ended).toBe(0)
})
