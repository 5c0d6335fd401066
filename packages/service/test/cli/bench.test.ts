import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ServeProcess } from '../serve/serve-process.js'
import { main, sluice } from './run-cli.js'
import { hasTerminal, Terminal } from './terminal.js'

/** The numbers of a report that the tests look at. */
interface Report {
  readonly requests: number
  readonly decisions: number
  readonly decisionsPerSecond: number
  readonly elapsedMs: number
  readonly allowed: number
  readonly denied: number
  readonly failed: Readonly<Record<string, number>>
  readonly unanswered: number
  readonly latencyMs: Readonly<Record<'p50' | 'p90' | 'p99' | 'p999' | 'max', number>>
}

async function bench(args: readonly string[]): Promise<{ code: number | null; report: Report; stderr: string }> {
  const { code, stdout, stderr } = await sluice(['bench', ...args, '--json'])
  return { code, stderr, report: (stdout === '' ? {} : JSON.parse(stdout)) as Report }
}

const VERDICT = '{"allowed":true,"retryAfterMs":0,"delayMs":0,"deniedBy":[],"levels":[{"name":"a","allowed":true}]}'
const SHORT = ['--duration', '400ms', '--warm-up', '0']

/** A server that answers as a service would, or as the test wants. */
async function answering(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('bench counts what the service itself counted', async () => {
  await using service = await ServeProcess.start([])
  const { code, report, stderr } = await bench([service.url, ...SHORT, '--connections', '4', '--keys', '3'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(report.decisions).toBe(report.allowed + report.denied)
  expect(report.decisions).toBe(report.requests)
  // Three merchants have 50 charges each, and 50 a second after that.
  expect(report.denied).toBeGreaterThan(0)
  expect(report.allowed).toBeLessThanOrEqual(150 + Math.ceil((150 * report.elapsedMs) / 1_000))
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  const counted = (outcome: string) =>
    Number(new RegExp(`^sluice_decisions_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`, 'm').exec(metrics)?.[1])
  // The service also counted the question before the load.
  expect(counted('allowed')).toBe(report.allowed + 1)
  expect(counted('denied')).toBe(report.denied)
  const { p50, p90, p99, p999, max } = report.latencyMs
  expect([p50, p90, p99, p999, max]).toEqual([p50, p90, p99, p999, max].sort((a, b) => a - b))
  expect(p50).toBeGreaterThan(0)
})

test('bench asks in batches', async () => {
  await using service = await ServeProcess.start([])
  const { code, report } = await bench([service.url, ...SHORT, '--batch', '50', '--connections', '2'])
  expect(code).toBe(0)
  expect(report.decisions).toBe(report.requests * 50)
})

test('at a rate, every request that was due is sent', async () => {
  const url = await answering((_, response) => response.end(VERDICT))
  const { code, report } = await bench([url, ...SHORT, '--rate', '500'])
  expect(code).toBe(0)
  expect(report.requests).toBe(200)
})

test('a pause of the service shows in the latency of every request that it delayed', async () => {
  let answers = 0
  let heldUntilMs = 0
  const url = await answering((_, response) => {
    answers++
    // All answers stop for 300 ms, once. The first request is the question before the load.
    if (answers === 10) heldUntilMs = performance.now() + 300
    setTimeout(() => response.end(VERDICT), Math.max(0, heldUntilMs - performance.now()))
  })
  const { code, report } = await bench([
    url,
    '--duration',
    '1s',
    '--warm-up',
    '0',
    '--rate',
    '100',
    '--connections',
    '1',
  ])
  expect(code).toBe(0)
  expect(report.requests).toBe(100)
  // About 30 of the 100 requests were due during the pause. A client that waits for each answer would see one slow request.
  expect(report.latencyMs.p90).toBeGreaterThan(100)
  expect(report.latencyMs.max).toBeGreaterThan(250)
})

test('a service that answers with errors is reported, and bench ends with 1', async () => {
  let answers = 0
  const url = await answering((_, response) => {
    if (++answers % 2 === 1) return response.end(VERDICT)
    const problem = { title: 'The store did not answer', status: 503, detail: 'Redis is "away"' }
    return response.writeHead(503, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(problem))
  })
  const { code, report } = await bench([url, ...SHORT, '--connections', '2'])
  expect(code).toBe(1)
  expect(Object.keys(report.failed)).toEqual(['status 503: Redis is "away"'])
  expect(report.requests).toBeGreaterThan(0)
})

test('connections that the service ends are opened again, and their requests count as failed', async () => {
  let answers = 0
  const url = await answering((request, response) => {
    if (++answers % 20 === 0) request.socket.destroy()
    else response.end(VERDICT)
  })
  const { code, report } = await bench([url, '--duration', '1s', '--warm-up', '0', '--connections', '2'])
  expect(code).toBe(1)
  expect(report.requests).toBeGreaterThan(40)
  expect(Object.values(report.failed).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1)
})

test('the text names rates, shares and percentiles', async () => {
  const url = await answering((_, response) => response.end(VERDICT))
  const { code, stdout } = await sluice(['bench', url, ...SHORT, '--rate', '100'])
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^\d+ decisions\/s: 40 decisions in 0\.\d s, 64 connections, at 100 decisions\/s, measured from/,
  )
  expect(stdout).toMatch(/\nallowed +40 +100\.0 %\ndenied +0 +0\.0 %\n/)
  expect(stdout).toMatch(
    /\nlatency {3}p50 [\d.]+ ms {3}p90 [\d.]+ ms {3}p99 [\d.]+ ms {3}p99\.9 [\d.]+ ms {3}longest [\d.]+ ms\n/,
  )
})

test.skipIf(!hasTerminal)(
  'on a terminal there is a progress line, and Ctrl-C ends with the result so far',
  async () => {
    const url = await answering((_, response) => response.end(VERDICT))
    const terminal = new Terminal(`"${process.execPath}" "${main}" bench ${url} --duration 1h --warm-up 0 --rate 200`)
    onTestFinished(() => terminal.kill())
    await terminal.shows(/\d of 3600 s {2}\d+ decisions\/s {2}p99 [\d.]+ ms/)
    terminal.type('\u0003')
    expect(await terminal.ended).toBe(0)
    expect(terminal.output).toMatch(/\nallowed +\d+ +100\.0 %/)
  },
)

test.each([
  [['http://127.0.0.1:9', 'more'], "bench takes one address, got 'more' as well"],
  [['ftp://a'], 'the argument of bench must be the address of a service'],
  [['--connections', '0'], "--connections must be a whole number from 1 to 10000, got '0'"],
  [['--rate', 'fast'], "--rate must be a whole number from 1 to 10000000, got 'fast'"],
  [['--duration', 'long'], "--duration must be a time such as 500ms, 10s or 2m, got 'long'"],
  [['--batch', '1001'], "--batch must be a whole number from 1 to 1000, got '1001'"],
  [['--request', '1'], '--request must be a JSON object'],
])('bench %j is an error that says what would be right', async (args, said) => {
  const { code, stdout, stderr } = await sluice(['bench', ...args])
  expect(stderr).toContain(said)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

test('bench names a service that is not there', async () => {
  const { code, stderr } = await sluice(['bench', 'http://127.0.0.1:9'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^sluice: .*127\.0\.0\.1:9/)
})
