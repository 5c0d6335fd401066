import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { runExamples, type Seen, sendAll, statuses, times } from './page-examples.js'

const PAGE = 'moving/fastify-rate-limit.md'

async function bothSides(section: string, use: (origin: string) => Promise<Seen[]>): Promise<Seen[][]> {
  const apps = await runExamples<{ app: FastifyInstance }>(PAGE, section)
  expect(apps).toHaveLength(2)
  return Promise.all(apps.map(({ app }) => listening(app, use)))
}

async function listening<T>(app: FastifyInstance, use: (origin: string) => Promise<T>): Promise<T> {
  try {
    return await use(await app.listen({ port: 0, host: '127.0.0.1' }))
  } finally {
    await app.close()
  }
}

describe('docs/moving/fastify-rate-limit.md', () => {
  test('the same requests are admitted, and the same fields say the same numbers', async () => {
    const [theirs, ours] = await bothSides('One limit for every client', (origin) => sendAll(origin, times(7)))
    expect(statuses(theirs)).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(statuses(ours)).toEqual(statuses(theirs))
    for (const [i, { headers }] of ours.entries()) {
      for (const name of ['ratelimit-limit', 'ratelimit-remaining'])
        expect(headers.get(name)).toBe(theirs[i].headers.get(name))
      for (const name of ['ratelimit-reset', 'retry-after'])
        expect(Math.abs(Number(headers.get(name)) - Number(theirs[i].headers.get(name)))).toBeLessThanOrEqual(10)
      expect(headers.get('ratelimit-policy')).toBe('5;w=60')
    }
    expect(ours[5].headers.get('content-type')).toMatch('application/problem+json')
  })

  test('keys, the allow-list and the body are the same', async () => {
    const by = (account: string) => times(3, { headers: { 'x-account': account } })
    const [theirs, ours] = await bothSides('Keys, an allow-list and your own answer', (origin) =>
      sendAll(origin, [...times(3), ...by('acct_1'), ...by('acct_friend')]),
    )
    expect(statuses(theirs)).toEqual([200, 200, 429, 200, 200, 429, 200, 200, 200])
    expect(ours.map(({ status, body }) => [status, body])).toEqual(theirs.map(({ status, body }) => [status, body]))
  })

  test("a route's limit replaces that for all", async () => {
    const [theirs, ours] = await bothSides('Routes', async (origin) => [
      ...(await sendAll(`${origin}/search`, times(4))),
      ...(await sendAll(origin, times(6))),
    ])
    expect(statuses(theirs)).toEqual([200, 200, 429, 429, 200, 200, 200, 200, 200, 429])
    expect(statuses(ours)).toEqual(statuses(theirs))
  })

  test('requests without a route are free there, and count here', async () => {
    const [theirs, ours] = await bothSides('One limit for every client', (origin) =>
      sendAll(`${origin}/nothing`, times(6)),
    )
    expect(statuses(theirs)).toEqual([404, 404, 404, 404, 404, 404])
    expect(statuses(ours)).toEqual([404, 404, 404, 404, 404, 429])
  })

  test('more clients than memory holds make it forget a client there, and not here', async () => {
    const clients = ['bad', 'bad', 'a', 'b', 'c', 'bad']
    const [theirs, ours] = await bothSides('Memory', (origin) =>
      sendAll(
        origin,
        clients.map((account) => ({ headers: { 'x-account': account } })),
      ),
    )
    expect(statuses(theirs)).toEqual([200, 429, 200, 200, 200, 200])
    expect(statuses(ours).slice(0, 2)).toEqual([200, 429])
    expect(statuses(ours)[5]).toBe(429)
  })
})
