/** `sluice serve` as a process: signals, exit codes, and an error for every wrong option. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../src/cli/run.js'
import { sluice } from '../cli/run-cli.js'
import { post, RawClient } from '../server/raw-client.js'
import { ServeProcess } from './serve-process.js'

test('it says where it listens and what to try, and SIGTERM ends it with code 0', async () => {
  await using running = await ServeProcess.start([])
  expect(running.stderr).toContain(`Sluice decides at ${running.url} (only programs on this machine can reach it`)
  expect(running.stderr).toContain(`--http 0.0.0.0:${running.port} changes that`)
  expect(running.stderr).toContain('about merchant, method, path, ip; other attributes of a request are ignored')
  const [, command, data] = /curl (\S+) -d '(.*)'/.exec(running.stderr) ?? []
  const response = await fetch(command, { method: 'POST', body: data })
  expect(await response.json()).toMatchObject({ allowed: true })
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
  expect(running.lines.map(({ msg }) => msg).slice(-2)).toEqual(['the service shuts down', 'the service has shut down'])
})

test('SIGHUP reads the policy again; environment variables stand for options', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-serve-'))
  const path = join(folder, 'policy.json')
  const policyOf = (quota: number) =>
    JSON.stringify({ version: 1, levels: [{ name: 'all', limit: { algorithm: 'fixed-window', quota, window: '1h' } }] })
  try {
    await writeFile(path, policyOf(10))
    await using running = await ServeProcess.start([], { SLUICE_POLICY: path, SLUICE_STROE: 'x', SLUICE_STORE: '' })
    expect(running.stderr).toContain('1 level, all')
    expect(running.lines[0].msg).toBe('the variable SLUICE_STROE is not read; did you mean SLUICE_STORE?')
    for (const signal of ['SIGHUP', 'SIGHUP'] as const) {
      const from = running.lines.length
      running.child.kill(signal)
      expect(await running.says('another policy is in force', from)).toMatchObject({ file: path, levels: 1 })
    }
    await writeFile(path, '{')
    const from = running.lines.length
    running.child.kill('SIGHUP')
    const bad = await running.says('the policy file cannot be used; the last good policy stays in force', from)
    expect(bad.problems).toMatchObject([{ line: 1, column: 2 }])
    const response = await fetch(`${running.url}/v1/check`, { method: 'POST', body: '{}' })
    expect(await response.json()).toMatchObject({ levels: [{ quota: 10, remaining: 9 }] })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a request in flight holds the shutdown up, and a second signal ends the process at once', async () => {
  await using running = await ServeProcess.start(['--shutdown-ms', '3600000'])
  const client = await RawClient.to(running.url)
  client.write(post('/v1/check', '{}').slice(0, -1))
  // The server has read the first part once it answers another request that came later.
  expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
  running.child.kill('SIGTERM')
  await running.says('the service shuts down')
  // A terminal and npm both pass a signal on: one that follows at once is no second wish.
  running.child.kill('SIGINT')
  const late = setInterval(() => running.child.kill('SIGINT'), 100)
  expect(await running.ended).toBe(130)
  clearInterval(late)
  expect(await client.rest()).toBe('')
})

test('a request in flight is finished within the deadline', async () => {
  await using running = await ServeProcess.start(['--shutdown-ms', '3600000'])
  const client = await RawClient.to(running.url)
  const request = post('/v1/check', '{}')
  client.write(request.slice(0, -1))
  expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
  running.child.kill('SIGTERM')
  await running.says('the service shuts down')
  client.write(request.slice(-1))
  expect(await client.rest()).toMatch(/200 OK[\s\S]*Connection: close[\s\S]*"allowed":true/)
  expect(await running.ended).toBe(0)
})

const WRONG: readonly (readonly [readonly string[], number, RegExp])[] = [
  [['--polcy', 'x'], 2, /there is no option --polcy; did you mean --policy FILE\?/],
  [['policy.yaml'], 2, /serve takes options only, got 'policy.yaml'; did you mean --policy\?/],
  [['--policy'], 2, /--policy needs a value/],
  [['--policy', 'a', '--policy', 'b'], 2, /--policy is given twice/],
  [['--policy', 'missing.yaml'], 1, /missing\.yaml:1:1 there is no such file/],
  [['--policy', '.'], 1, /\.:1:1 this is a folder, not a file/],
  [['--http', '8080x'], 2, /--http must be an address with a port, such as 127\.0\.0\.1:8080, got '8080x'/],
  [['--http', '127.0.0.1:70000'], 2, /--http must be an address with a port/],
  [['--http', '192.0.2.1:0'], 1, /this machine has no address 192\.0\.2\.1/],
  [['--http', 'no-such-host.invalid:0'], 1, /there is no host no-such-host\.invalid/],
  [['--store', 'postgres://x'], 2, /the store must be memory, redis:\/\/host:6379/],
  [['--store', 'redis://'], 2, /the store must be memory/],
  [['--store', 'redis://user:secret@:99999'], 2, /the store must be memory(?!.*secret)/],
  [['--workers', '0'], 2, /--workers must be a whole number from 1 to 256, got '0'/],
  [['--deadline-ms', '1.5'], 2, /--deadline-ms must be a whole number from 1 to 3600000, got '1\.5'/],
  [['--lease'], 2, /--lease needs a Redis, such as --store redis:.*--store memory decides every key in this process/],
  [['--store', 'redis://127.0.0.1', '--lease=100'], 2, /--lease takes no value/],
  [['--lease-ms', '100'], 2, /--lease-ms is the longest lease of --lease, which is not given: add --lease/],
  [
    ['--store', 'redis://127.0.0.1', '--lease', '--lease-ms', '251'],
    2,
    /--lease-ms must be a whole number from 5 to 250, got '251'/,
  ],
  [['--on-failure', 'maybe'], 2, /--on-failure must be open, closed, local, got 'maybe'/],
  [['--instances', '-1'], 2, /--instances/],
  [['--log', 'xml'], 2, /--log must be json, text, off, got 'xml'/],
  [['--shutdown-ms', 'soon'], 2, /--shutdown-ms must be a whole number from 0/],
  [['--page', 'no'], 2, /--page must be on, off, got 'no'/],
  [['--demo', 'yes'], 2, /--demo must be on, off, got 'yes'/],
  [
    ['--policy', 'mine.yaml', '--demo', 'on'],
    2,
    /--demo makes up clients of the example policy, and they would use up limits of yours: leave out --policy, or the demo/,
  ],
  [['--demo', 'on', '--page', 'off'], 2, /--demo is traffic to look at, and --page is off/],
  [['--grpc', 'x'], 2, /--grpc must be an address with a port, such as 127\.0\.0\.1:8080, got 'x'/],
  [['--http', '127.0.0.1:8080', '--grpc', '8080'], 2, /--grpc needs another port than --http, got 8080 for both/],
  [['--grpc-cert', 'a.pem'], 2, /--grpc-cert needs --grpc, which is not given: add --grpc/],
  [['--grpc', '0', '--grpc-cert', 'a.pem'], 2, /--grpc-cert needs --grpc-key, which is not given/],
  [['--grpc', '0', '--grpc-key', 'a.pem'], 2, /--grpc-key needs --grpc-cert, which is not given/],
  [['--grpc', '0', '--grpc-client-ca', 'a.pem'], 2, /--grpc-client-ca needs --grpc-cert, which is not given/],
  [['--grpc', '0', '--envoy-headers', 'all'], 2, /--envoy-headers must be draft, draft-6, legacy, none, got 'all'/],
  [
    ['--http', '0', '--grpc', '0', '--grpc-cert', 'no.pem', '--grpc-key', 'no.pem'],
    1,
    /--grpc-cert no\.pem cannot be read/,
  ],
  [['--http', '0', '--grpc', '192.0.2.1:0'], 1, /this machine has no address 192\.0\.2\.1; --grpc 0\.0\.0\.0:0/],
  [['--rls', 'x'], 2, /did you mean --grpc HOST:PORT\?/],
  [['--admin-token', 'short'], 2, /--admin-token must have at least 16 characters/],
]

test.each(WRONG)('%s: exit code %i and one line that says what would be right', async (args, code, message) => {
  const stdout: string[] = []
  const stderr: string[] = []
  const into = (texts: string[]) => ({ write: (text: string) => texts.push(text) })
  expect(
    await run(['serve', ...args], { stdin: [] as never, stdout: into(stdout), stderr: into(stderr), env: {} }),
  ).toBe(code)
  expect(stderr).toEqual([expect.stringMatching(message)])
  expect(stderr[0].trimEnd().split('\n')).toHaveLength(1)
  expect(stdout).toEqual([])
})

test.each([
  [{ SLUICE_WORKERS: 'many' }, "SLUICE_WORKERS must be a whole number from 1 to 256, got 'many'"],
  [{ SLUICE_LEASE: 'yes' }, "SLUICE_LEASE must be true, false, got 'yes'"],
  [{ SLUICE_LEASE: 'true' }, 'SLUICE_LEASE needs a Redis, such as --store redis://localhost:6379'],
  [{ SLUICE_LEASE: 'false', SLUICE_LEASE_MS: '50' }, 'SLUICE_LEASE_MS is the longest lease of --lease'],
])('a wrong value in the environment names its variable: %j', async (env, message) => {
  const running = new ServeProcess([], env as Record<string, string>)
  expect(await running.ended).toBe(2)
  expect(running.stderr).toContain(message)
})

test('a port that is taken: exit code 1', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { code, stderr } = await sluice(['serve', '--http', `127.0.0.1:${port}`])
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`port ${port} is taken`) })
  other.close()
})
