import { once } from 'node:events'
import { connect } from 'node:net'
import express, { type Express, type Response } from 'express'
import { rateLimit as before, MemoryStore } from 'express-rate-limit'
import { fixedWindow } from 'sluice'
import { rateLimit as after } from 'sluice/express'
import { parseRateLimit } from 'sluice/http'
import { describe, expect, test, vi } from 'vitest'
import { runExamples, type Seen, sendAll, serving, statuses, times } from './page-examples.js'

const PAGE = 'moving/express-rate-limit.md'
const fields = ({ headers }: Seen) => [...headers.keys()].filter((name) => /ratelimit|retry-after/.test(name))

const within =
  (most: number, middle = 0) =>
  (value: unknown) =>
    Math.abs(Number(value) - middle) <= most

async function bothSides(section: string, use: (origin: string) => Promise<Seen[]>): Promise<[Seen[], Seen[]]> {
  const apps = await runExamples<{ app: Express }>(PAGE, section)
  expect(apps).toHaveLength(2)
  const [first, second] = await Promise.all(apps.map(({ app }) => serving(app, use)))
  return [first, second]
}

describe('docs/moving/express-rate-limit.md', () => {
  test('the same requests are admitted, and the same fields say the same numbers', async () => {
    const [before, after] = await bothSides('One limit for every client', (origin) => sendAll(origin, times(7)))
    expect(statuses(before)).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(statuses(after)).toEqual(statuses(before))
    expect(after.map(fields)).toEqual(before.map(fields))
    for (const [i, { headers }] of after.entries()) {
      const [ours, theirs] = [parseRateLimit(headers), parseRateLimit(before[i].headers)]
      const { quota, remaining, windowSeconds, resetAfterMs } = theirs.quotas[0]
      expect(ours.quotas[0]).toMatchObject({ quota, remaining, windowSeconds })
      expect(ours.quotas[0].resetAfterMs).toSatisfy(within(10_000, resetAfterMs))
      expect(ours.retryAfterMs ?? 0).toSatisfy(within(10_000, theirs.retryAfterMs ?? 0))
    }
  })

  test('a denial is a problem in JSON instead of a sentence, and there is no partition key', async () => {
    const [before, after] = await bothSides('One limit for every client', (origin) => sendAll(origin, times(6)))
    expect(before[5].body).toBe('Too many requests, please try again later.')
    expect(before[5].headers.get('ratelimit-policy')).toMatch(/^"5-in-1min".*pk=/)
    expect(after[5].headers.get('content-type')).toBe('application/problem+json')
    expect(JSON.parse(after[5].body)).toMatchObject({ status: 429, 'violated-policies': ['default'] })
    expect(after[5].headers.get('ratelimit-policy')).toBe('"default";q=5;w=60')
  })

  test('keys, exceptions, the status and the body are the same', async () => {
    const inits = [...times(3), ...times(3, { headers: { 'x-account': 'acct_1' } })]
    const [before, after] = await bothSides('Keys, exceptions and your own answer', async (origin) => [
      ...(await sendAll(origin, inits)),
      ...(await sendAll(`${origin}/health`, times(3))),
    ])
    expect(statuses(before)).toEqual([200, 200, 503, 200, 200, 503, 200, 200, 200])
    expect(after.map(({ status, body }) => [status, body])).toEqual(before.map(({ status, body }) => [status, body]))
    expect(after.map(fields)).toEqual(before.map(fields))
    expect(fields(after[0])).toEqual(['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    expect(after[2].headers.get('x-ratelimit-remaining')).toBe(before[2].headers.get('x-ratelimit-remaining'))
  })

  test('only failures are counted', async () => {
    const right = times(5, { method: 'POST', headers: { 'x-password': 'right' } })
    const [before, after] = await bothSides('Count only failures', (origin) =>
      sendAll(`${origin}/login`, [...right, ...times(4, { method: 'POST' }), right[0]]),
    )
    expect(statuses(before)).toEqual([200, 200, 200, 200, 200, 401, 401, 401, 429, 429])
    expect(statuses(after)).toEqual(statuses(before))
  })

  test('a limit by plan, and what is left in the handler; a change of the plan keeps what was taken', async () => {
    const by = (plan: string) => ({ headers: { 'x-user': 'ann', 'x-plan': plan } })
    const [theirs, ours] = await bothSides('A limit by plan, and the decision in the handler', (origin) =>
      sendAll(origin, [...times(2, by('free')), ...times(3, by('pro'))]),
    )
    expect(statuses(theirs)).toEqual([200, 200, 200, 200, 429])
    expect(statuses(ours)).toEqual(statuses(theirs))
    const bodies = ours.slice(0, 4).map(({ body }) => JSON.parse(body))
    expect(bodies).toEqual([1, 0, 1, 0].map((remaining) => ({ remaining })))
    expect(theirs.slice(0, 4).map(({ body }) => JSON.parse(body))).toEqual(bodies)
  })

  test('ten requests in one packet under a limit of five: all denied before, five admitted after', async () => {
    const apps = await runExamples<{ app: Express }>(PAGE, 'One limit for every client')
    const [before, after] = await Promise.all(apps.map(({ app }) => serving(app, (origin) => inOnePacket(origin, 10))))
    expect(before).toEqual(times(10).map(() => 429))
    expect(after).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429, 429])
  })

  test('a window of 30 days: everything is admitted before, the quota after', async () => {
    const store = new MemoryStore()
    const theirs = express().use(before({ windowMs: 30 * 86_400_000, limit: 1, store }), hello)
    const admitsAll = async (origin: string) => expect(statuses(await sendAll(origin, times(2)))).toEqual([200, 200])
    await serving(theirs, (origin) => vi.waitFor(() => admitsAll(origin), { timeout: 10_000 }))
    store.shutdown()
    const ours = express().use(after({ limit: fixedWindow({ quota: 1, window: '30d' }) }), hello)
    expect(statuses(await serving(ours, (origin) => sendAll(origin, times(2))))).toEqual([200, 429])
  })
})

const hello = (_: unknown, res: Response) => void res.send('hello')

/** The statuses of requests that arrive together on one connection. */
async function inOnePacket(origin: string, count: number): Promise<number[]> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  const request = (more: string) => `GET / HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
  socket.write(request('').repeat(count - 1) + request('Connection: close\r\n'))
  let answers = ''
  socket.on('data', (chunk) => {
    answers += chunk
  })
  await once(socket, 'close')
  return [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
}
