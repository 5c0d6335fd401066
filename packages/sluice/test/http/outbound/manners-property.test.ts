import fc from 'fast-check'
import { type Clock, memoryStore } from 'sluice'
import { shapedFetch } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import { OtherSide, type Reply } from './other-side.js'

const LONGEST_MS = 5_000
const SPACING_MS = 100
const BUDGET = { ratio: 0.2, least: 3 }

const seconds = fc.integer({ min: 0, max: 9 })
/** A reply, and for how long it asks to be left alone. */
const reply: fc.Arbitrary<{ reply: Reply; askedMs: number }> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ reply: {}, askedMs: 0 }) },
  fc.constantFrom<Reply>({ status: 429 }, { status: 500 }, { status: 503 }, 'unreachable').map((each) => ({
    reply: each,
    askedMs: 0,
  })),
  fc.tuple(fc.constantFrom(429, 503), seconds).map(([status, s]) => ({
    reply: { status, headers: { 'Retry-After': `${s}` } },
    askedMs: s * 1_000,
  })),
  seconds.map((s) => ({ reply: { headers: { RateLimit: `"a";r=0;t=${s}` } }, askedMs: s * 1_000 })),
)
const call = fc.record({
  atMs: fc.nat(20_000),
  host: fc.constantFrom('a.example', 'b.example'),
  method: fc.constantFrom('GET', 'POST', 'PUT'),
})

describe('whatever is called and whatever is answered', () => {
  it.each([
    ['in this process', (clock: Clock) => ({ clock })],
    ['on a store', (clock: Clock) => ({ name: 'calls', store: memoryStore({ clock }) })],
  ])('turns are kept, pauses too, retries are paid for, and nothing is left over, %s', async (_where, place) => {
    const calls = fc.array(call, { minLength: 1, maxLength: 40 })
    const replies = fc.array(reply, { maxLength: 60 })
    const jitter = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(calls, replies, jitter, async (made, answers, numbers) => {
        const side = new OtherSide()
        side.replies = answers.map((each) => each.reply)
        let asked = 0
        const politely = shapedFetch({
          drain: '10/s',
          capacity: 1_000,
          retries: 5,
          budget: BUDGET,
          longestRetryAfterMs: LONGEST_MS,
          fetch: side.fetch,
          ...place(side.clock),
          random: () => numbers[asked++ % numbers.length],
        })
        const outcomes = made.map(
          ({ atMs, host, method }) =>
            new Promise((resolve) => {
              const begin = () => politely(`https://${host}`, { method }).then(resolve, resolve)
              side.clock.alarm(side.clock.now() + atMs, begin)
            }),
        )
        for (const outcome of await side.during(Promise.all(outcomes)))
          expect(outcome instanceof Response || (outcome as Error).message === 'fetch failed').toBe(true)

        for (const host of ['a.example', 'b.example']) {
          const seen = side.seen.map((each, i) => ({ ...each, askedMs: answers[i]?.askedMs ?? 0 }))
          const ofHost = seen.filter(({ url }) => url.host === host)
          for (const [i, { atMs }] of ofHost.slice(1).entries()) {
            const before = ofHost[i]
            // Times are to the millisecond.
            const least = Math.max(SPACING_MS, Math.min(before.askedMs, LONGEST_MS)) - 1
            expect(atMs - before.atMs).toBeGreaterThanOrEqual(least)
          }
          const count = made.filter((each) => each.host === host).length
          expect(ofHost.length).toBeLessThanOrEqual(count * (1 + BUDGET.ratio) + BUDGET.least)
        }
        expect([politely.size, side.clock.nextAlarmMs]).toEqual([0, undefined])
        await politely.close()
      }),
      { numRuns: 200 },
    )
  })
})
