import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ServeProcess } from '../serve/serve-process.js'
import { main, sluice } from './run-cli.js'
import { hasTerminal, Terminal } from './terminal.js'

const TOKEN = 'a token of many characters'
const ENTER = '\u001b[?1049h'
const LEAVE = '\u001b[?25h\u001b[?1049l'

let service: ServeProcess
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  service = await ServeProcess.start(['--admin-token', TOKEN])
  env = { SLUICE_URL: service.url, SLUICE_ADMIN_TOKEN: TOKEN }
  const checks = [...Array(60).fill('acct_1'), ...Array(20).fill('acct_2'), ...Array(30).fill('\u001b[31mred')]
  const body = JSON.stringify({ checks: checks.map((merchant) => ({ attributes: { merchant } })) })
  await fetch(`${service.url}/v1/check/batch`, { method: 'POST', body })
  // More than acct_2 has left: denied twice.
  const denied = JSON.stringify({ attributes: { merchant: 'acct_2' }, cost: 101 })
  for (let i = 0; i < 2; i++) await fetch(`${service.url}/v1/check`, { method: 'POST', body: denied })
})

afterAll(async () => {
  service.child.kill()
  await service.ended
})

test('top --once prints rates, levels and the busiest keys', async () => {
  const { code, stdout, stderr } = await sluice(['top', '--once'], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^Sluice at http:\/\/127\.0\.0\.1:\d+, store memory, \d\d:\d\d:\d\d UTC\n/)
  expect(stdout).toMatch(/\n[\d,]+ decisions\/s {3}[\d,]+ allowed {3}[\d,]+ denied/)
  expect(stdout).toMatch(/\nlevel +decisions\/s +denied\/s\nglobal +\d+ +\d+\n/)
  expect(stdout).toMatch(/\nKeys with the most requests in the last \d+ s\nkey +level +requests +requests\/s +denied\n/)
  expect(stdout).toMatch(
    /\nacct_1 +merchant +60 +[\d.]+ +0\n\\u001b\[31mred +merchant +30 +[\d.]+ +0\nacct_2 +merchant +22 /,
  )
})

test('--sort denials puts the keys with the most denials first, and --keys bounds them', async () => {
  const { stdout } = await sluice(['top', '--once', '--sort', 'denials', '--keys', '1'], { env })
  expect(stdout).toMatch(/Keys with the most denials in the last \d+ s\nkey.*\nacct_2 +merchant +[\d ≤]* +[\d.]+ +2\n$/)
})

test('top --json prints a line of JSON for each second', async () => {
  const { code, stdout } = await sluice(['top', '--once', '--json'], { env })
  expect(code).toBe(0)
  const { decisionsPerSecond, topKeys, store } = JSON.parse(stdout)
  expect(decisionsPerSecond).toBeGreaterThanOrEqual(0)
  expect(store.kind).toBe('memory')
  expect(topKeys.levels.map(({ level }: { level: string }) => level)).toContain('merchant')
  expect(stdout.indexOf('\n')).toBe(stdout.length - 1)
})

test.each([
  [
    ['--admin-token', 'another one'],
    'the admin token is wrong: --admin-token or SLUICE_ADMIN_TOKEN must be the token',
    1,
  ],
  [['--sort', 'name'], "--sort must be load or denials, got 'name'", 2],
  [['--keys', '0'], "--keys must be a whole number from 1 to 200, got '0'", 2],
  [['now'], "top takes options only, got 'now'", 2],
])('top %j is an error that says what would be right', async (args, said, exitCode) => {
  const { code, stdout, stderr } = await sluice(['top', '--once', ...args], { env })
  expect(stderr).toContain(`sluice: ${said}`)
  expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' })
})

test('without a token, top says how to give one', async () => {
  const { code, stderr } = await sluice(['top', '--once'], { env: { SLUICE_URL: service.url } })
  expect(code).toBe(1)
  expect(stderr).toContain('sluice: no admin token is given: --admin-token or SLUICE_ADMIN_TOKEN must be the token')
})

test.each([[[]], [['--admin-token', TOKEN]]])(
  'if the admin API is off, top %j says how to turn it on',
  async (args) => {
    await using off = await ServeProcess.start([])
    const { code, stderr } = await sluice(['top', '--once', ...args], { env: { SLUICE_URL: off.url } })
    expect(code).toBe(1)
    expect(stderr).toContain(`sluice: the admin API of ${off.url} is off: start the service with --admin-token TEXT`)
  },
)

/** A service that sends one summary, and goes away when its function is called. */
async function brief(): Promise<{ readonly url: string; leave(): void }> {
  const summary = {
    ...{ atMs: Date.now(), elapsedMs: 1_000, decisions: 0, allowed: 0, denied: 0, errors: 0, degraded: 0 },
    ...{ decisionsPerSecond: 0, p50Ms: 0, p99Ms: 0, worstDelayMs: 0, levels: [], store: { kind: 'other' } },
    topKeys: { sinceMs: Date.now(), levels: [] },
  }
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(`: hello\n\nevent: summary\ndata: ${JSON.stringify(summary)}\n\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const leave = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(leave)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, leave }
}

test('in a pipe, top ends with an error when the service goes away', async () => {
  const { url, leave } = await brief()
  const ended = sluice(['top', '--json'], { env: { ...env, SLUICE_URL: url }, onStdout: leave })
  const { code, stdout, stderr } = await ended
  expect(code).toBe(1)
  expect(JSON.parse(stdout).store).toEqual({ kind: 'other' })
  expect(stderr).toMatch(/^sluice: http:\/\/127\.0\.0\.1:\d+ /)
})

describe.skipIf(!hasTerminal)('on a terminal', () => {
  function start(url = service.url): Terminal {
    const terminal = new Terminal(`"${process.execPath}" "${main}" top`, { ...env, SLUICE_URL: url, NO_COLOR: '1' })
    onTestFinished(() => terminal.kill())
    return terminal
  }

  test('q ends it and gives the terminal back', async () => {
    const terminal = start()
    await terminal.shows(/acct_1 +merchant +60/)
    expect(terminal.output).toContain(ENTER)
    // A terminal may pass a screen on in several parts.
    await terminal.shows(/s: other order {3}q: end/)
    terminal.type('s')
    await terminal.shows(/Keys with the most denials/)
    terminal.type('q')
    expect(await terminal.ended).toBe(0)
    expect(terminal.output.endsWith(LEAVE)).toBe(true)
  })

  test('it fits a terminal that becomes smaller', async () => {
    const terminal = start()
    await terminal.shows(/acct_1 +merchant/)
    const from = terminal.output.length
    terminal.resize(30, 8)
    await terminal.shows(/\[HSluice at http:.{12,14}…/, from)
    terminal.type('\u0003')
    expect(await terminal.ended).toBe(0)
    const screen = terminal.output.slice(terminal.output.lastIndexOf('\u001b[H'))
    expect(screen.split('\r\n').length).toBeLessThanOrEqual(8)
  })

  test.each(['SIGTERM', 'SIGHUP'] as const)('%s gives the terminal back', async (signal) => {
    const terminal = start()
    await terminal.shows(/acct_1 +merchant/)
    process.kill(terminal.pid, signal)
    await terminal.ended
    expect(terminal.output.endsWith(LEAVE)).toBe(true)
  })

  test('it says so when the service goes away, and keeps asking', async () => {
    const { url, leave } = await brief()
    const terminal = start(url)
    await terminal.shows(/q: end/)
    leave()
    await terminal.shows(/does not answer; asking again/)
    terminal.type('q')
    expect(await terminal.ended).toBe(0)
  })

  test('an error at the start is shown below, on the ordinary screen', async () => {
    const { url, leave } = await brief()
    leave()
    const terminal = start(url)
    expect(await terminal.ended).toBe(1)
    expect(terminal.output).toMatch(/\?1049l.*sluice: no service listens at/s)
  })
})
