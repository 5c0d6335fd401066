import type { Express } from 'express'
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

  test('only wrong passwords count, and then the right one is denied too', async () => {
    await withLogin(async (guess) => {
      for (let i = 0; i < 20; i++) expect((await guess('ada', 'right')).status).toBe(200)
      for (let i = 0; i < 5; i++) expect((await guess(' Ada', 'wrong')).status).toBe(401)
      const denied = await guess('ada', 'right')
      expect([denied.status, denied.headers.get('retry-after')]).toEqual([429, '900'])
    })
    expect(checked).toHaveLength(25)
  })
})
