import type { Express } from 'express'
import type { Policy } from 'sluice'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runExamples, serving, times } from './page-examples.js'

describe.each(['The recipe', 'The same with rateLimit'])('docs/logins.md, %s', (section) => {
  let checked: string[]

  beforeEach(() => {
    checked = []
    vi.stubGlobal('isRight', async (account: string, password: string) => {
      checked.push(account)
      await new Promise(setImmediate)
      return password === 'right'
    })
  })
  afterEach(() => void vi.unstubAllGlobals())

  /** Runs the page's own code, and sends guesses to it. */
  async function withLogin<T>(use: (guess: (account: string, password: string) => Promise<Response>) => Promise<T>) {
    const [{ app }] = await runExamples<{ app: Express }>('logins.md', section)
    return serving(app, (origin) =>
      use(async (account, password) => {
        const body = JSON.stringify({ account, password })
        const headers = { 'content-type': 'application/json' }
        const response = await fetch(`${origin}/login`, { method: 'POST', headers, body })
        await response.clone().arrayBuffer()
        return response
      }),
    )
  }

  test.each([
    ['at one account', () => 'ada'],
    ['from one address at 40 accounts', (i: number) => `user-${i}`],
  ])('of 40 guesses at the same time %s, five are checked', async (_what, accountOf) => {
    const answers = await withLogin((guess) => Promise.all(times(40).map((_, i) => guess(accountOf(i), 'wrong'))))
    expect(checked).toHaveLength(5)
    const sorted = answers.map(({ status }) => status).sort()
    expect(sorted).toEqual([...times(5).map(() => 401), ...times(35).map(() => 429)])
  })

  test('of ten right logins at the same time five pass or more, and then the account is free at once', async () => {
    await withLogin(async (guess) => {
      const answers = await Promise.all(times(10).map(() => guess('ada', 'right')))
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5)
      for (let i = 0; i < 10; i++) expect((await guess('ada', 'right')).status).toBe(200)
    })
  })

  test('only wrong passwords count, and then the right one is denied too', async () => {
    await withLogin(async (guess) => {
      for (let i = 0; i < 20; i++) expect((await guess('ada', 'right')).status).toBe(200)
      for (let i = 0; i < 5; i++) expect((await guess(' Ada', 'wrong')).status).toBe(401)
      const denied = await guess('ada', 'right')
      expect(denied.status).toBe(429)
      const retryAfter = Number(denied.headers.get('retry-after'))
      expect(retryAfter).toBeGreaterThan(800) // the first wrong guess was a moment ago
      expect(retryAfter).toBeLessThanOrEqual(900)
    })
    expect(checked).toHaveLength(25)
  })
})

test('docs/logins.md, the optional step: six guesses under way block the account, also if all of them are right', async () => {
  const [{ guesses }] = await runExamples<{ guesses: Policy<'account' | 'address'> }>(
    'logins.md',
    'Longer, after a sixth guess',
  )
  const request = (i: number) => ({ account: 'ada', address: `192.0.2.${i}` })
  const underWay = times(6).map((_, i) => guesses.reserve(request(i)))
  expect(underWay.map(({ verdict }) => verdict.allowed)).toEqual([true, true, true, true, true, false])
  for (const guess of underWay) guess.cancel()
  const { allowed, retryAfterMs } = guesses.check(request(7))
  expect(allowed).toBe(false)
  expect(retryAfterMs).toBeGreaterThan(890_000)
})
