import { createLimiter, createPolicy, fixedWindow, type Verdict } from 'sluice'
import { rateLimitOf } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import type { AppSpec, RunningApp } from './app.js'
import { laterStore } from './later-store.js'
import { warningsOf } from './warnings-of.js'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })

/** The tests of `rateLimitOf`, `onDecision` and `limiter` that every adapter passes. */
export function decisionTests(app: (spec: AppSpec) => Promise<RunningApp>): void {
  describe('the decision is visible', () => {
    /** The verdicts that handlers saw. */
    const seenBy = (limits: AppSpec['limits']) => {
      const seen: (Verdict | undefined)[] = []
      return { seen, spec: { limits, onHandled: (_path: string, request: object) => seen.push(rateLimitOf(request)) } }
    }

    it.each([
      ['in memory', undefined],
      ['on a store that answers later', laterStore()],
    ])('rateLimitOf gives the verdict of this request to its handler, %s', async (_where, store) => {
      const { seen, spec } = seenBy([{ limit: limit(5), name: 'five', ...(store && { store }) }])
      const { origin } = await app(spec)
      await fetch(`${origin}/ok`)
      await fetch(`${origin}/ok`)
      expect(seen).toMatchObject(
        [4, 3].map((remaining) => ({
          allowed: true,
          deniedBy: [],
          levels: [{ name: 'five', limit: limit(5), decision: { remaining } }],
        })),
      )
    })

    it('with several limits, rateLimitOf gives the levels of all of them in one verdict', async () => {
      const policy = createPolicy({
        levels: [
          { name: 'a', limit: limit(7) },
          { name: 'b', limit: limit(1), shadow: true },
        ],
      })
      const { seen, spec } = seenBy([{ limit: limit(5), name: 'five' }, { policy }])
      const { origin } = await app(spec)
      await fetch(`${origin}/ok`)
      await fetch(`${origin}/ok`)
      const told = seen.map((verdict) =>
        verdict?.levels.map(({ name, decision, shadow }) => [name, decision.remaining, shadow]),
      )
      expect(told.map((each) => each?.toSorted())).toEqual([
        [
          ['a', 6, undefined],
          ['b', 0, true],
          ['five', 4, undefined],
        ],
        [
          ['a', 5, undefined],
          ['b', 0, true],
          ['five', 3, undefined],
        ],
      ])
      expect(seen[1]).toMatchObject({ allowed: true, deniedBy: [], retryAfterMs: 0, delayMs: 0 })
    })

    it('rateLimitOf is undefined if no limit has decided', async () => {
      const { seen, spec } = seenBy([{ limit: limit(5), skipIn: 'x-skip' }])
      const { origin } = await app(spec)
      await fetch(`${origin}/ok`, { headers: { 'x-skip': 'yes' } })
      expect(seen).toEqual([undefined])
      expect(rateLimitOf({})).toBe(undefined)
    })

    it('onDecision is called for every decision, allowed, denied and shadow, with the request', async () => {
      const policy = createPolicy({
        levels: [
          { name: 'two', limit: limit(2) },
          { name: 'one', limit: limit(1), shadow: true },
        ],
      })
      const told: [Verdict, object][] = []
      const handled: object[] = []
      const { origin } = await app({
        limits: [{ policy, skipIn: 'x-skip', onDecision: (...given) => void told.push(given) }],
        onHandled: (_path, request) => handled.push(request),
      })
      for (let i = 0; i < 3; i++) await fetch(`${origin}/ok`)
      await fetch(`${origin}/ok`, { headers: { 'x-skip': 'yes' } })
      const levels = told.map(([verdict]) => verdict.levels.map(({ decision }) => decision.allowed))
      expect(levels).toEqual([
        [true, true],
        [true, false],
        [false, false],
      ])
      expect(told.map(([verdict]) => [verdict.allowed, verdict.deniedBy])).toEqual([
        [true, []],
        [true, []],
        [false, ['two']],
      ])
      expect(told.map(([verdict, request]) => rateLimitOf(request) === verdict)).toEqual([true, true, true])
      expect(told.slice(0, 2).map(([, request]) => request)).toEqual(handled.slice(0, 2))
    })

    it.each([
      [
        'throws',
        () => {
          throw new Error('no counter')
        },
      ],
      [
        'rejects',
        async () => {
          throw new Error('no counter')
        },
      ],
      [
        'returns another kind of promise, which rejects',
        () => ({
          // biome-ignore lint/suspicious/noThenProperty: the query builders of some databases are such
          then: (_told: unknown, fail: (error: Error) => void) => fail(new Error('no counter')),
        }),
      ],
    ])('an onDecision that %s is one warning, and the decision stands', async (_how, onDecision) => {
      const { origin } = await app({ limits: [{ limit: limit(2), onDecision: onDecision as () => void }] })
      const statuses: number[] = []
      const warnings = await warningsOf(async () => {
        for (let i = 0; i < 3; i++) statuses.push((await fetch(`${origin}/ok`)).status)
      })
      expect(statuses).toEqual([200, 200, 429])
      expect(warnings).toEqual([['SLUICE_ON_DECISION', expect.stringContaining('no counter')]])
    })

    it.each([
      ['in memory', createLimiter({ name: 'shared', limit: limit(3) })],
      ['on a store that answers later', createLimiter({ name: 'shared', limit: limit(3), store: laterStore() })],
    ])('takes a limiter that exists, %s', async (_where, limiter) => {
      const { origin } = await app({ limits: [{ limiter, keyIn: 'x-user' }] })
      const headers = { 'x-user': 'a' }
      expect((await fetch(`${origin}/ok`, { headers })).headers.get('ratelimit')).toMatch(/^"shared";r=2/)
      expect((await limiter.tryAcquire('a')).remaining).toBe(1)
      await limiter.charge('a')
      const denied = await fetch(`${origin}/ok`, { headers })
      expect([denied.status, await denied.json()]).toMatchObject([429, { 'violated-policies': ['shared'] }])
    })
  })
}
