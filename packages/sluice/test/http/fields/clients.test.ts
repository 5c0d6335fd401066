/** The clients that people use, as they are, against a server on this machine: each comes back when it was told to. */
import { Octokit } from '@octokit/core'
import { throttling } from '@octokit/plugin-throttling'
import axios from 'axios'
import axiosRetry from 'axios-retry'
import got from 'got'
import ky from 'ky'
import { fixedWindow } from 'sluice'
import type { Dialect } from 'sluice/http'
import { Agent, RetryAgent, request } from 'undici'
import { describe, expect, it } from 'vitest'
import { type Seen, startLimited } from './limited-server.js'

/** Gets a URL with retries as the client does them by default, and gives the body. */
type Get = (url: string) => Promise<string>

const CLIENTS: readonly (readonly [string, Get])[] = [
  ['got', (url) => got(url).text()],
  ['ky', (url) => ky.get(url).text()],
  [
    "undici's RetryAgent",
    async (url) => {
      const agent = new Agent()
      const dispatcher = new RetryAgent(agent)
      try {
        const { body } = await request(url, { dispatcher })
        return await body.text()
      } finally {
        await agent.close()
      }
    },
  ],
  [
    'axios with axios-retry',
    async (url) => {
      const client = axios.create({ proxy: false })
      axiosRetry(client)
      return (await client.get(url)).data
    },
  ],
]

/** A timer of Node may be early by a millisecond, as it counts in whole ones. */
const EARLY_MS = 2

function gapMs([first, second]: readonly Seen[]): number {
  return second.atMs - first.atMs
}

describe.concurrent('Retry-After', () => {
  const cases = CLIENTS.flatMap(([name, get]) => ([429, 503] as const).map((status) => ({ name, get, status })))

  // Two seconds, because no client would wait that long by default.
  it.each(cases)('$name waits as it is told by a $status, and then succeeds', async ({ get, status }) => {
    const limit = fixedWindow({ quota: 1, window: '1900ms', align: 'first' })
    await using server = await startLimited({ limit, status })
    await server.exhaust()
    expect(await get(`${server.origin}/ok`)).toBe('ok')
    expect(server.seen.map((each) => each.status)).toEqual([status, 200])
    expect(server.seen[0].headers['retry-after']).toBe('2')
    expect(gapMs(server.seen)).toBeGreaterThanOrEqual(2_000 - EARLY_MS)
  })

  it.each<[string, Get, readonly Dialect[]]>(
    CLIENTS.map(([name, get]) => [name, get, ['draft', 'draft-6', 'legacy'] as const]),
  )('%s is not led astray by the fields of all dialects', async (_name, get, dialect) => {
    const limit = fixedWindow({ quota: 1, window: '1900ms', align: 'first' })
    await using server = await startLimited({ limit, dialect })
    await server.exhaust()
    expect(await get(`${server.origin}/ok`)).toBe('ok')
    expect(server.seen.map((each) => each.status)).toEqual([429, 200])
    expect(gapMs(server.seen)).toBeGreaterThanOrEqual(2_000 - EARLY_MS)
  })
})

describe.concurrent('the legacy dialect', () => {
  it('@octokit/plugin-throttling waits until X-RateLimit-Reset, and then succeeds', async () => {
    const limit = fixedWindow({ quota: 1, window: '900ms', align: 'first' })
    await using server = await startLimited({ limit, dialect: 'legacy' })
    await server.exhaust()
    const told: number[] = []
    const secondary: number[] = []
    const octokit = new (Octokit.plugin(throttling))({
      baseUrl: server.origin,
      throttle: {
        onRateLimit: (seconds) => told.push(seconds) > 0,
        onSecondaryRateLimit: (seconds) => secondary.push(seconds) < 0,
      },
      log: { debug() {}, info() {}, warn() {}, error() {} },
    })
    const { status, data } = await octokit.request('GET /ok')
    expect([status, data]).toEqual([200, 'ok'])
    expect(secondary).toEqual([])
    expect(told).toHaveLength(1)
    expect(server.seen.map((each) => each.status)).toEqual([429, 200])
    const [{ headers, epochMs }, second] = server.seen
    expect(headers['x-ratelimit-remaining']).toBe('0')
    const resetMs = Number(headers['x-ratelimit-reset']) * 1_000
    expect(resetMs).toBeGreaterThanOrEqual(epochMs + 900)
    expect(resetMs).toBeLessThan(epochMs + 10_000)
    expect(second.epochMs).toBeGreaterThanOrEqual(resetMs - EARLY_MS)
  })
})
