import fc, { type Arbitrary } from 'fast-check'
import type { Rate } from 'sluice'
import { createShaper, QueueFullError, type Shaper } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { advance, START_MS } from './moving-clocks.js'

const drains: Arbitrary<Rate> = fc.oneof(
  fc.constantFrom('1/s', '10/s', '7/s', '3/7s', '1000/s', '20000/s', '30000/s'),
  fc.integer({ min: 1, max: 40_000 }).map((units): Rate => `${units}/s`),
)

describe('a full queue', () => {
  it('has accepted exactly its capacity of a burst', async () => {
    await fc.assert(
      fc.asyncProperty(drains, fc.integer({ min: 1, max: 300 }), async (drain, capacity) => {
        const shaper = createShaper({ drain, capacity, clock: new ManualClock(START_MS + 0.125) })
        let taken = 0
        for (let i = 0; i < capacity + 20; i++) if ((await refusal(shaper, 1)) === undefined) taken++
        expect(taken).toBe(capacity)
      }),
      { numRuns: 100 },
    )
  })

  it('says honestly when there is room, even in a pause', async () => {
    await fc.assert(
      fc.asyncProperty(
        drains,
        fc.integer({ min: 1, max: 40 }),
        fc.array(
          fc.record({ cost: fc.integer({ min: 1, max: 12 }), gapUs: fc.constantFrom(0, 0, 0, 1, 777, 1_000, 123_456) }),
          { minLength: 30, maxLength: 60, size: 'max' },
        ),
        fc.constantFrom(0, 0, 100, 1_500),
        async (drain, capacity, calls, pauseMs) => {
          const build = () => {
            const clock = new ManualClock(START_MS)
            return { clock, shaper: createShaper({ drain, capacity, clock }) }
          }
          const replay = async (count: number) => {
            const { clock, shaper } = build()
            for (const [i, { cost, gapUs }] of calls.slice(0, count).entries()) {
              if (i === 3 && pauseMs > 0) shaper.pause({ durationMs: pauseMs })
              await advance(clock, gapUs / 1000)
              await refusal(shaper, cost)
            }
            return { clock, shaper }
          }
          const { clock, shaper } = build()
          for (const [i, { cost, gapUs }] of calls.entries()) {
            if (i === 3 && pauseMs > 0) shaper.pause({ durationMs: pauseMs })
            await advance(clock, gapUs / 1000)
            const refused = await refusal(shaper, cost)
            if (cost > capacity) expect(refused).toBe(Infinity)
            if (refused === undefined || refused === Infinity) continue
            const after = await replay(i + 1)
            await advance(after.clock, refused)
            expect(await refusal(after.shaper, cost)).toBeUndefined()
            if (refused === 1) return
            const before = await replay(i + 1)
            await advance(before.clock, refused - 1)
            expect(await refusal(before.shaper, cost)).toBeDefined()
            return
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('says so to the millisecond, even if thirds of a millisecond add up to a whole one', async () => {
    const shaper = createShaper({ drain: '3/7s', capacity: 10, clock: new ManualClock(START_MS) })
    for (const cost of [2, 1, 1, 1, 4]) expect(await refusal(shaper, cost)).toBeUndefined()
    expect(await refusal(shaper, 4)).toBe(7_000)
  })

  it('has room for a caller that comes before a late alarm rings', async () => {
    const clock = new ManualClock(START_MS)
    const rings: (() => void)[] = []
    const keep = (_: number, ring: () => void) => {
      rings.push(ring)
      return () => {}
    }
    const late = { now: () => clock.now(), alarm: keep }
    const shaper = createShaper({ drain: '10/s', capacity: 2, clock: late })
    for (let i = 0; i < 2; i++) expect(await refusal(shaper, 1)).toBeUndefined()
    expect(await refusal(shaper, 1)).toBe(100)
    clock.advance(100)
    expect(await refusal(shaper, 1)).toBeUndefined()
    for (const ring of rings.splice(0)) ring()
    expect(shaper.size).toBe(1)
  })
})

/** After how long a rejected caller is told to come back; `undefined` if it is not rejected. */
async function refusal(shaper: Shaper, cost: number): Promise<number | undefined> {
  const turn = shaper.wait({ cost })
  const refused = await Promise.race([turn, settled()]).catch((error: unknown) => error)
  turn.catch(() => {})
  return refused instanceof QueueFullError ? refused.retryAfterMs : undefined
}

async function settled(): Promise<void> {
  for (let i = 0; i < 6; i++) await undefined
}
