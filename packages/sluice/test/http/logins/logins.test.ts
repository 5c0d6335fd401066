import { readFile } from 'node:fs/promises'
import express from 'express'
import { type BlockFor, createPolicy, memoryStore, type SyncStore, slidingLog } from 'sluice'
import { rateLimit } from 'sluice/express'
import { ManualClock } from 'sluice/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startInjected } from '../../redis/injected-store.js'
import type { RunningApp } from '../adapters/app.js'
import { serve } from '../adapters/servers.js'
import { loginApp, loginPolicy } from './login-app.js'

const MINUTES_15 = 15 * 60_000

interface Guess {
  readonly account?: string
  readonly password?: string
  readonly address?: string
}

let redis: Awaited<ReturnType<typeof startInjected>>
beforeAll(async () => {
  redis = await startInjected()
})
afterAll(() => redis?.stop())

const STORES: Readonly<Record<string, (clock: ManualClock) => SyncStore>> = {
  'in memory': (clock) => memoryStore({ clock }),
  'on Redis': (clock) => redis.create(clock) as unknown as SyncStore,
}

describe.each(Object.entries(STORES))('the recipe for logins, %s', (where, create) => {
  const started: RunningApp[] = []
  afterEach(async () => {
    await Promise.all(started.splice(0).map((app) => app.close()))
  })

  /** Servers that share a store. The right password of every account is `right`. */
  const setUp = async ({ servers = 1, blockFor }: { servers?: number; blockFor?: BlockFor } = {}) => {
    const clock = new ManualClock(1_745_000_000_000)
    const store = create(clock)
    const checked: string[] = []
    const isRight = async (account: string, password: string) => {
      checked.push(account)
      await new Promise((resolve) => setImmediate(resolve))
      return password === 'right'
    }
    const apps = await Promise.all(
      Array.from({ length: servers }, () => serve(loginApp(loginPolicy(store, blockFor), isRight))),
    )
    started.push(...apps)
    let requests = 0
    const guess = async ({ account = 'ada', password = 'wrong', address = '192.0.2.1' }: Guess = {}) => {
      const { origin } = apps[requests++ % apps.length]
      const response = await fetch(`${origin}/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ account, password }),
      })
      const text = await response.text()
      return { status: response.status, retryAfter: response.headers.get('retry-after'), text }
    }
    const statusOf = async (given?: Guess) => (await guess(given)).status
    return { clock, checked, guess, statusOf }
  }

  it('the sixth guess never reaches the password check, even with the right password', async () => {
    const { checked, guess, statusOf } = await setUp()
    for (let i = 0; i < 5; i++) expect(await statusOf({ address: `192.0.2.${i}` })).toBe(401)
    const sixth = await guess({ password: 'right', address: '192.0.2.9' })
    expect([sixth.status, sixth.retryAfter, checked.length]).toEqual([429, '900', 5])
    expect(JSON.parse(sixth.text)).toMatchObject({ 'violated-policies': ['account'] })
    expect(await statusOf({ account: 'grace', password: 'right', address: '192.0.2.9' })).toBe(200)
  })

  it('of 40 guesses at the same time at one account, from 40 addresses, five are checked', async () => {
    const { checked, guess } = await setUp()
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => guess({ address: `192.0.2.${i}` })))
    expect(checked).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
    expect(answers.filter(({ status, retryAfter }) => status === 429 && retryAfter === '900')).toHaveLength(35)
  })

  it('of 40 guesses at the same time from one address, at 40 accounts, five are checked', async () => {
    const { checked, statusOf } = await setUp()
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, i) => statusOf({ account: `user-${i}` })))
    expect([checked.length, statuses.filter((status) => status === 429).length]).toEqual([5, 35])
  })

  it('two servers check five of 40 guesses together', async () => {
    const { checked, statusOf } = await setUp({ servers: 2 })
    await Promise.all(Array.from({ length: 40 }, () => statusOf()))
    expect(checked).toHaveLength(5)
  })

  it('only failures count: a hundred right passwords in a row pass', async () => {
    const { statusOf } = await setUp()
    for (let i = 0; i < 4; i++) expect(await statusOf()).toBe(401)
    for (let i = 0; i < 100; i++) expect(await statusOf({ password: 'right' })).toBe(200)
    expect(await statusOf()).toBe(401)
    expect(await statusOf({ password: 'right' })).toBe(429)
  })

  it('a success does not reset the address: one account of your own buys no guesses at others', async () => {
    const { checked, guess, statusOf } = await setUp()
    for (let i = 0; i < 4; i++) expect(await statusOf({ account: `user-${i}` })).toBe(401)
    expect(await statusOf({ account: 'mallory', password: 'right' })).toBe(200)
    expect(await statusOf({ account: 'user-5' })).toBe(401)
    const denied = await guess({ account: 'user-6' })
    expect([denied.status, checked.length]).toEqual([429, 6])
    expect(JSON.parse(denied.text)).toMatchObject({ 'violated-policies': ['address'] })
  })

  it('spellings of an account are one account, and an IPv6 network is one address', async () => {
    const { checked, statusOf } = await setUp()
    const spellings = ['Ada', ' ada', 'ADA ', 'ada', 'aDa', 'adA']
    for (const [i, account] of spellings.entries()) await statusOf({ account, address: `192.0.2.${i}` })
    expect(checked).toHaveLength(5)
    for (let i = 0; i < 6; i++) await statusOf({ account: `user-${i}`, address: `2001:db8::${i}` })
    expect(checked).toHaveLength(10)
  })

  it('a guess is checked again when the oldest wrong one is fifteen minutes old', async () => {
    const { clock, checked, guess, statusOf } = await setUp()
    await statusOf()
    clock.advance(MINUTES_15 - 2_000)
    for (let i = 0; i < 5; i++) await statusOf()
    clock.advance(1_000)
    expect(await guess({ password: 'right' })).toMatchObject({ status: 429, retryAfter: '1' })
    clock.advance(1_000)
    expect(await statusOf({ password: 'right' })).toBe(200)
    expect(checked).toHaveLength(6)
  })

  it('ten right logins at the same time: five pass, and the account is free at once', async () => {
    const { checked, statusOf } = await setUp()
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf({ password: 'right' })))
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(5)
    for (let i = 0; i < 5; i++) expect(await statusOf({ password: 'right' })).toBe(200)
    expect(await statusOf()).toBe(401)
    expect(checked.length).toBeGreaterThanOrEqual(11)
  })

  it('with blockFor, the block begins with the sixth guess, and guesses during it do not make it longer', async () => {
    const { clock, checked, guess, statusOf } = await setUp({ blockFor: '15m' })
    for (let i = 0; i < 5; i++) await statusOf()
    clock.advance(MINUTES_15 - 1_000)
    expect(await guess()).toMatchObject({ status: 429, retryAfter: '900' })
    clock.advance(MINUTES_15 - 1_000)
    expect(await guess({ password: 'right' })).toMatchObject({ status: 429, retryAfter: '1' })
    clock.advance(1_000)
    expect(await statusOf({ password: 'right' })).toBe(200)
    expect(checked).toHaveLength(6)
  })

  it('an account that does not exist is answered like any other', async () => {
    const { guess, statusOf } = await setUp()
    const known = [await guess({ account: 'ada', address: '192.0.2.1' })]
    const unknown = [await guess({ account: 'eve', address: '192.0.2.2' })]
    for (let i = 0; i < 4; i++) await Promise.all([statusOf(), statusOf({ account: 'eve', address: '192.0.2.2' })])
    known.push(await guess({ account: 'ada', address: '192.0.2.3' }))
    unknown.push(await guess({ account: 'eve', address: '192.0.2.4' }))
    expect(unknown).toEqual(known)
  })

  it('the same with rateLimit: five of 40 guesses at the same time are checked, and only failures count', async () => {
    const clock = new ManualClock(1_745_000_000_000)
    const checked: string[] = []
    const app = express()
    const five = slidingLog({ quota: 5, window: '15m' })
    const policy = createPolicy({
      name: 'logins',
      store: create(clock),
      levels: [
        { name: 'account', key: 'account', limit: five },
        { name: 'address', key: 'ip', limit: five },
      ],
    })
    const guesses = rateLimit({
      policy,
      trustedProxies: ['127.0.0.1'],
      attributes: (request) => ({ account: String(request.query.account) }),
      settle: ({ status, completed }) => (completed && status === 200 ? 0 : 1),
    })
    app.post('/login', guesses, (request, response) => {
      checked.push(String(request.query.account))
      response.status(request.query.password === 'right' ? 200 : 401).end()
    })
    const running = await serve(app)
    started.push(running)
    const guess = (account: string, password: string, address: string) =>
      fetch(`${running.origin}/login?account=${account}&password=${password}`, {
        method: 'POST',
        headers: { 'x-forwarded-for': address },
      })
    for (let i = 0; i < 20; i++) {
      expect((await guess('ada', 'right', '192.0.2.1')).status).toBe(200)
      // The units come back when the response is over, which the client may see a little sooner.
      await expect
        .poll(async () => (await policy.peek({ account: 'ada', ip: '192.0.2.1' })).levels[0].decision.remaining)
        .toBe(5)
    }
    checked.length = 0
    const byAccount = await Promise.all(Array.from({ length: 40 }, (_, i) => guess('ada', 'wrong', `192.0.2.${i}`)))
    expect([checked.length, byAccount.filter(({ status }) => status === 429).length]).toEqual([5, 35])
    const byAddress = await Promise.all(
      Array.from({ length: 40 }, (_, i) => guess(`user-${i}`, 'wrong', '203.0.113.1')),
    )
    expect([checked.length, byAddress.filter(({ status }) => status === 429).length]).toEqual([10, 35])
    clock.advance(MINUTES_15)
    expect((await guess('ada', 'right', '203.0.113.1')).status).toBe(200)
  })

  it('the code of the docs is the code of this test', async () => {
    const page = await readFile(new URL('../../../../../docs/logins.md', import.meta.url), 'utf8')
    const source = await readFile(new URL('./login-app.ts', import.meta.url), 'utf8')
    const recipe = source.slice(source.indexOf('  // recipe\n') + 12, source.indexOf('  // end of the recipe'))
    expect(recipe.length, where).toBeGreaterThan(500)
    expect(page).toContain(recipe.replaceAll(/^ {2}/gm, ''))
  })
})
