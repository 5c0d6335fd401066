import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { slidingLog } from '../../src/limits/index.js'
import { ManualClock } from '../../src/testing/manual-clock.js'
import { ReferenceStore } from '../../src/testing/reference-store.js'
import { startInjected } from './injected-store.js'

let injected: Awaited<ReturnType<typeof startInjected>>

beforeAll(async () => {
  injected = await startInjected()
})

afterAll(() => injected?.stop())

// The script reads and writes a log of more than 64 entries in pieces: these are long enough for that, and go on for
// long enough that its front is cut off several times.
const step = fc.record({
  advanceMs: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(0.001, 1, 2, 5) },
    { weight: 2, arbitrary: fc.constantFrom(0, 300, 700) },
    { weight: 1, arbitrary: fc.constantFrom(-3, -400, 1_500) },
  ),
  call: fc.oneof(
    { weight: 20, arbitrary: fc.constant('decide' as const) },
    { weight: 1, arbitrary: fc.constantFrom('charge', 'refund', 'refundTaken', 'block') },
  ),
  cost: fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, fc.constantFrom(0, 2, 30)),
  isRemembered: fc.boolean(),
})

test('a long log is the log that the reference keeps, to the last digit', async () => {
  let longest = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 300, maxLength: 400 }), async (steps) => {
      const limit = slidingLog({ quota: 250, window: '1s' })
      const clock = new ManualClock(1_745_000_100_000)
      const [store, reference] = [injected.create(clock), new ReferenceStore(clock)]
      // As a limiter does: a block reaches the states of limits that the store knows.
      store.prepare({ name: 'long', limit })
      let taken: { atUs: number; cost: number; delayMs: number } | undefined
      for (const { advanceMs, call, cost, isRemembered } of steps) {
        if (advanceMs < 0) {
          for (const { name, key } of reference.forgettable()) {
            await store.reset(name, key)
            reference.reset(name, key)
          }
        }
        clock.advance(advanceMs)
        const demand = { name: 'long', limit, key: 'key', cost }
        if (call === 'decide') {
          const expected = reference.decide([demand])
          expect(await store.decide([demand])).toEqual(expected)
          if (expected.allowed && isRemembered) taken = { atUs: expected.takenUs[0], cost, delayMs: 0 }
          longest = Math.max(longest, 250 - expected.decisions[0].remaining)
        } else if (call === 'charge') {
          expect(await store.charge(demand)).toEqual(reference.charge(demand))
        } else if (call === 'block') {
          expect(await store.block('long', 'key', 2_000)).toEqual(reference.block('long', 'key', 2_000))
        } else {
          const which = call === 'refund' ? undefined : taken
          expect(await store.refund(demand, which)).toEqual(reference.refund(demand, which))
        }
      }
    }),
    { numRuns: 25 },
  )
  expect(longest).toBeGreaterThan(150)
}, 120_000)

test('a log of many thousand units is read and written in pieces', async () => {
  const limit = slidingLog({ quota: 5_000, window: '1h' })
  const clock = new ManualClock(1_745_000_100_000)
  const store = injected.create(clock)
  const take = () => store.decide([{ name: 'huge', limit, key: 'key', cost: 1 }])
  for (let round = 0; round < 5; round++) {
    const answers = []
    for (let i = 0; i < 1_000; i++) {
      clock.advance(0.5)
      answers.push(take())
      // Each asks with a time of its own.
      await answers.at(-1)
    }
    expect((await answers.at(-1))?.decisions[0].remaining).toBe(5_000 - (round + 1) * 1_000)
  }
  const [denied] = (await take()).decisions
  expect(denied).toMatchObject({ allowed: false, retryAfterMs: 3_600_000 - 2_500 + 1 })
  await injected.client.config('RESETSTAT')
  await take()
  const read = /cmdstat_getrange:calls=(\d+)/.exec(await injected.client.info('commandstats'))
  expect(Number(read?.[1])).toBeLessThan(100)
}, 120_000)
