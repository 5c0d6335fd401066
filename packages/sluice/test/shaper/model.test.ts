import fc from 'fast-check'
import { createShaper, QueueFullError, WaitTooLongError } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { advance, advanceToEnd, START_MS } from './moving-clocks.js'
import { type Outcome, QueueModel } from './queue-model.js'

const KEYS = ['a', 'b']
const UNITS_MS = { '10/s': 100, '1000/s': 1, '7/s': 1000 / 7, '3/7s': 7000 / 3 }

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('join', 'join', 'join', 'join', 'join', 'abort', 'pause'),
    gapUs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 700_123 })),
    key: fc.nat(1),
    cost: fc.integer({ min: 0, max: 4 }),
    priority: fc.constantFrom(0, 0, 0, 1, -1, 2, 9, -9),
    maxWaitMs: fc.oneof(
      fc.constant(Infinity),
      fc.integer({ min: 1, max: 3_000_000 }).map((us) => us / 1000),
    ),
    which: fc.nat(50),
  }),
  { minLength: 1, maxLength: 50, size: 'max' },
)

describe('a shaper, beside a plain model of it', () => {
  it('lets callers leave, give up, expire and be rejected as the model does, each key for itself', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...(Object.keys(UNITS_MS) as (keyof typeof UNITS_MS)[])),
        fc.integer({ min: 1, max: 12 }),
        steps,
        async (drain, capacity, given) => {
          const clock = new ManualClock(START_MS)
          const shaper = createShaper({ drain, capacity, clock })
          const models = KEYS.map(() => new QueueModel(UNITS_MS[drain], capacity))
          const outcomes = new Map<number, Outcome>()
          const joined: { name: number; key: number; controller: AbortController }[] = []
          for (const [name, { kind, gapUs, key, cost, priority, maxWaitMs, which }] of given.entries()) {
            const fromMs = clock.now() - START_MS
            await advance(clock, gapUs / 1000)
            const nowMs = clock.now() - START_MS
            for (const model of models) model.advance(fromMs, nowMs)
            if (kind === 'join') {
              const controller = new AbortController()
              joined.push({ name, key, controller })
              models[key].join(nowMs, { name, cost, priority, maxWaitMs })
              void shaper
                .wait({ key: KEYS[key], cost, priority, maxWaitMs, signal: controller.signal })
                .then(() => outcomes.set(name, { leftMs: clock.now() - START_MS }))
                .catch((error) => outcomes.set(name, outcomeOf(error)))
            } else if (kind === 'pause') {
              models[key].pause(nowMs + maxWaitMs / 10 < Infinity ? nowMs + maxWaitMs / 10 : nowMs)
              shaper.pause({ key: KEYS[key], durationMs: maxWaitMs < Infinity ? maxWaitMs / 10 : 0 })
            } else if (joined.length > 0) {
              const one = joined[which % joined.length]
              models[one.key].abort(one.name)
              one.controller.abort('aborted')
            }
          }
          await advanceToEnd(clock)
          for (const model of models) model.advance(0, Infinity)
          fc.pre(models.every(({ isUnclear }) => !isUnclear))
          compared++
          for (const model of models)
            for (const [name, expected] of model.outcomes) {
              const got = outcomes.get(name) as Outcome
              if (typeof expected === 'string') expect([name, got]).toEqual([name, expected])
              else
                expect([name, (got as { leftMs: number }).leftMs]).toEqual([name, expect.closeTo(expected.leftMs, 2)])
            }
          expect(outcomes.size).toBe(joined.length)
          expect([shaper.size, clock.nextAlarmMs]).toEqual([0, undefined])
        },
      ),
      { numRuns: 400, maxSkipsPerRun: 100 },
    )
    expect(compared).toBeGreaterThanOrEqual(400)
  })

  it.each([1, 3, 20])(
    'lets no waiter starve: with a capacity of %d, at most that many overtake it for each step',
    async (capacity) => {
      for (const steps of [1, 2, 18]) {
        const clock = new ManualClock(START_MS)
        const shaper = createShaper({ drain: '1000/s', capacity, clock })
        const left: string[] = []
        void shaper.wait()
        clock.advance(0.5)
        // All come at once with a cost of 0, so the queue accepts more of them than its capacity.
        const low = { priority: -9, cost: 0 }
        void shaper.wait(low).then(() => left.push('low'))
        for (let i = 0; i < steps * capacity + 50; i++)
          void shaper.wait({ priority: steps - 9, cost: 0 }).then(() => left.push('high'))
        await advanceToEnd(clock)
        expect(left.indexOf('low')).toBeLessThanOrEqual(steps * capacity)
        expect(left.indexOf('low')).toBeGreaterThan(steps * capacity - 2)
      }
    },
  )
})

function outcomeOf(error: unknown): Outcome {
  if (error instanceof QueueFullError) return 'full'
  if (error instanceof WaitTooLongError) return 'too long'
  return error as Outcome
}
