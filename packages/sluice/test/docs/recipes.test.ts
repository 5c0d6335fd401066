import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Express } from 'express'
import type { FastifyInstance } from 'fastify'
import type { Policy } from 'sluice'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { runExamples, sendAll, serving, statuses, times } from './page-examples.js'

const PAGE = 'recipes.md'
const withKey = (key: string, more: Record<string, string> = {}) => ({ headers: { 'x-api-key': key, ...more } })
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

describe('docs/recipes.md', () => {
  afterEach(() => void vi.unstubAllEnvs())

  test('API keys, and addresses for the rest: invented keys share the limit of their address', async () => {
    const [{ app }] = await runExamples<{ app: Express }>(PAGE, 'API keys, and addresses for the rest')
    const seen = await serving(app, (origin) =>
      sendAll(origin, [
        ...times(4, withKey('sk_1')),
        ...['a', 'b', 'c', 'd'].map((key) => withKey(key)),
        from('192.0.2.7'),
        withKey('sk_1', { 'x-forwarded-for': '192.0.2.7' }),
      ]),
    )
    expect(statuses(seen)).toEqual([200, 200, 200, 429, 200, 200, 200, 429, 200, 429])
  })

  test('Plans in a file: each plan has its limit, and clients without a key theirs', async () => {
    const markdown = await readFile(new URL('../../../../docs/recipes.md', import.meta.url), 'utf8')
    const [, yaml] = /```yaml\n([^`]+)```/.exec(markdown) ?? []
    const folder = await mkdtemp(join(tmpdir(), 'recipes-'))
    try {
      await writeFile(join(folder, 'policy.yaml'), String(yaml))
      vi.stubEnv('POLICY_FILE', join(folder, 'policy.yaml'))
      const [{ app }] = await runExamples<{ app: Express }>(PAGE, 'Plans in a file')
      const seen = await serving(app, (origin) =>
        sendAll(origin, [
          ...times(3, withKey('sk_free')),
          ...times(5, withKey('sk_pro')),
          ...times(2),
          ...times(6, withKey('sk_partner')),
          withKey('sk_suspended'),
        ]),
      )
      expect(statuses(seen).slice(0, 10)).toEqual([200, 200, 429, 200, 200, 200, 200, 429, 200, 429])
      expect(statuses(seen).slice(10)).toEqual([200, 200, 200, 200, 200, 200, 429])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  describe('Limits from a database', () => {
    type Cached = <Value>(
      query: (key: string) => Promise<Value>,
      options?: { ttlMs?: number; most?: number },
    ) => (key: string) => Promise<Value>
    const load = async () => (await runExamples<{ app: Express; cached: Cached }>(PAGE, 'Limits from a database'))[0]
    /** A query that counts its calls for each key. */
    const counted = () => {
      const calls: string[] = []
      return { calls, query: async (key: string) => `${key} ${calls.push(key)}` }
    }

    const as = (user: string) => ({ headers: { 'x-user': user } })
    const limitOf = (user: string) => ({ algorithm: 'fixed-window', quota: user === 'ann' ? 3 : 1, window: '1h' })
    afterEach(() => void vi.unstubAllGlobals())

    test('each user has the limit of the database, and requests without a user that of their address', async () => {
      vi.stubGlobal('query', async (user: string) => JSON.stringify(limitOf(user)))
      const { app } = await load()
      const requests = [...times(4, as('ann')), ...times(2, as('bob')), ...times(2)]
      const seen = await serving(app, (origin) => sendAll(origin, requests))
      expect(statuses(seen)).toEqual([200, 200, 200, 429, 200, 429, 200, 429])
    })

    test('while the database is down, users get the fallback', async () => {
      vi.stubGlobal('query', () => Promise.reject(new Error('the database is away')))
      const { app } = await load()
      const seen = await serving(app, (origin) => sendAll(origin, [...times(3, as('ann')), ...times(2)]))
      expect(statuses(seen)).toEqual([200, 200, 429, 200, 429])
    })

    test('while the database is down, an answer stays, and the database is asked again after its time', async () => {
      const { cached } = await load()
      const { calls, query } = counted()
      let isDown = false
      const find = cached(
        (key) => (isDown ? Promise.reject(new Error(`away for ${calls.push('failed')}`)) : query(key)),
        {
          ttlMs: 1_000,
        },
      )
      const now = vi.spyOn(performance, 'now').mockReturnValue(0)
      try {
        expect(await find('a')).toBe('a 1')
        isDown = true
        for (const nowMs of [1_000, 1_999, 2_000]) {
          now.mockReturnValue(nowMs)
          expect(await find('a')).toBe('a 1')
        }
        isDown = false
        now.mockReturnValue(3_000)
        expect(await find('a')).toBe('a 4')
        expect(calls).toEqual(['a', 'failed', 'failed', 'a'])
      } finally {
        now.mockRestore()
      }
    })

    test('callers at the same time share a query, and an answer is asked for again after its time', async () => {
      const { cached } = await load()
      const { calls, query } = counted()
      const now = vi.spyOn(performance, 'now').mockReturnValue(0)
      try {
        const find = cached(query, { ttlMs: 1_000 })
        expect(await Promise.all([find('a'), find('a'), find('b')])).toEqual(['a 1', 'a 1', 'b 2'])
        now.mockReturnValue(999)
        expect(await find('a')).toBe('a 1')
        now.mockReturnValue(1_000)
        expect(await find('a')).toBe('a 3')
        expect(calls).toEqual(['a', 'b', 'a'])
      } finally {
        now.mockRestore()
      }
    })

    test('it keeps so many answers, and forgets the oldest', async () => {
      const { cached } = await load()
      const { calls, query } = counted()
      const find = cached(query, { most: 2 })
      for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) await find(key)
      expect(calls).toEqual(['a', 'b', 'c', 'a'])
    })

    test('a failure is told to its callers, and is forgotten', async () => {
      const { cached } = await load()
      let isDown = true
      const find = cached(async () => {
        if (isDown) throw new Error('the database is away')
        return 'found'
      })
      await expect(Promise.all([find('a'), find('a')])).rejects.toThrow('the database is away')
      isDown = false
      expect(await find('a')).toBe('found')
    })
  })

  describe('Tokens over HTTP', () => {
    afterEach(() => void vi.unstubAllGlobals())
    const ask = (user: string): RequestInit => ({
      method: 'POST',
      headers: { 'x-user': user, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'why?' }),
    })

    test('the estimate is taken before the model is called, and what was used afterwards', async () => {
      let isDown = false
      vi.stubGlobal('callModel', async (prompt: string) => {
        if (isDown) throw new Error('busy')
        return { text: `because ${prompt}`, tokens: 300 }
      })
      const [{ app, budget }] = await runExamples<{ app: Express; budget: Policy<'user' | 'tokens'> }>(
        PAGE,
        'Tokens over HTTP',
      )
      const left = () => budget.peek({ user: 'ann', tokens: 0 }).levels[1].decision.remaining
      await serving(app, async (origin) => {
        // Before each answer the estimate of 1,001 is taken. It is settled when the response is over.
        for (const [fails, status, during, after] of [
          [false, 200, 8_999, 9_700],
          [true, 500, 8_699, 9_700],
          [false, 200, 8_699, 9_400],
        ] as const) {
          isDown = fails
          const [answer] = await sendAll(`${origin}/ask`, [ask('ann')])
          expect(answer.status).toBe(status)
          expect(answer.headers.get('ratelimit')).toContain(`"tokens";r=${during}`)
          await expect.poll(left).toBe(after)
        }
        expect(statuses(await sendAll(`${origin}/ask`, [{ ...ask('ann'), headers: {} }]))).toEqual([401])
      })
    })
  })

  describe('Tokens of a language model', () => {
    interface Side {
      budget: Policy<'user' | 'tokens', 'requests' | 'tokens'>
      ask(
        user: string,
        prompt: string,
        model: (prompt: string) => Promise<{ text: string; tokens: number }>,
      ): Promise<string>
    }
    const load = async () => (await runExamples<Side>(PAGE, 'Tokens of a language model'))[0]
    const left = ({ budget }: Side) =>
      budget.peek({ user: 'u', tokens: 0 }).levels.find(({ name }) => name === 'tokens')?.decision.remaining

    test('what was used is taken, and the rest of the estimate comes back', async () => {
      const side = await load()
      expect(await side.ask('u', 'why?', async () => ({ text: 'because', tokens: 300 }))).toBe('because')
      expect(left(side)).toBe(9_700)
    })

    test('a prompt above the whole budget is told so, and no wait', async () => {
      const answer = (await load()).ask('u', 'x'.repeat(40_000), () => expect.fail())
      expect(await answer).toBe('the prompt is longer than the budget of a day')
    })

    test('if the model fails, nothing was used', async () => {
      const side = await load()
      await expect(side.ask('u', 'why?', () => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
      expect(left(side)).toBe(10_000)
    })

    test('parallel requests cannot overdraw the budget', async () => {
      const side = await load()
      let calls = 0
      const model = async () => {
        calls++
        await new Promise(setImmediate)
        return { text: 'because', tokens: 1_001 }
      }
      const answers = await Promise.all(times(40).map(() => side.ask('u', 'why?', model)))
      expect(calls).toBe(9) // 1,001 each, of 10,000
      expect(answers.filter((answer) => answer.startsWith('come back in'))).toHaveLength(31)
      expect(left(side)).toBe(10_000 - 9 * 1_001)
    })
  })

  test('An allow-list: monitors by address and partners by key are not limited', async () => {
    const [{ app }] = await runExamples<{ app: FastifyInstance }>(PAGE, 'An allow-list')
    try {
      const origin = await app.listen({ port: 0, host: '127.0.0.1' })
      const seen = await sendAll(origin, [
        ...times(4, from('192.0.2.7')),
        ...times(4, from('2001:db8:7::1')),
        ...times(4, withKey('sk_partner')),
        ...times(3, from('198.51.100.7')),
      ])
      expect(statuses(seen)).toEqual([...times(12).map(() => 200), 200, 200, 429])
    } finally {
      await app.close()
    }
  })

  describe('A batch of mails', () => {
    interface Side {
      stop(): Promise<void>
      sendAll(
        mails: readonly string[],
        send: (mail: string) => Promise<void>,
      ): Promise<{ waiting: string[]; failed: string[] }>
    }
    const load = async () => {
      const [side] = await runExamples<Side>(PAGE, 'A batch of mails')
      process.off('SIGTERM', side.stop)
      return side
    }
    const batch = (count: number) => Array.from({ length: count }, (_, i) => `mail ${i}`)

    test('each is sent once, at most five at the same time, and a failure does not end the batch', async () => {
      const { sendAll, stop } = await load()
      const sent: string[] = []
      let [running, most] = [0, 0]
      const result = await sendAll(batch(40), async (mail) => {
        most = Math.max(most, ++running)
        await new Promise(setImmediate)
        running--
        if (mail === 'mail 7') throw new Error('no such address')
        sent.push(mail)
      })
      expect(result).toEqual({ waiting: [], failed: ['mail 7'] })
      expect(sent).toEqual(batch(40).filter((mail) => mail !== 'mail 7'))
      expect(most).toBeLessThanOrEqual(5)
      await stop()
    })

    test('a stop finishes what is being sent, and names the rest; so does a full queue', async () => {
      const { sendAll, stop } = await load()
      let finish = () => {}
      const begun: string[] = []
      const sending = sendAll(batch(510), (mail) => {
        begun.push(mail)
        return new Promise((resolve) => {
          const before = finish
          finish = () => {
            before()
            resolve()
          }
        })
      })
      await vi.waitFor(() => expect(begun).toHaveLength(5))
      const stopped = stop()
      finish()
      const { waiting, failed } = await sending
      await stopped
      expect(failed).toEqual([])
      expect([...begun, ...waiting].sort()).toEqual(batch(510).sort())
      expect(begun).toEqual(batch(5))
    })
  })

  test('A test of a handler: it passes', async () => {
    await runExamples(PAGE, 'A test of a handler')
  })
})
