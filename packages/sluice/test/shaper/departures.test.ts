import fc, { type Arbitrary } from 'fast-check'
import type { Rate } from 'sluice'
import { createShaper } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { AlarmedClock, advanceToEnd, onTicks, START_MS } from './moving-clocks.js'

/** A slot may be wrong by this much: a microsecond, and the rounding of epoch milliseconds in a float64. */
const NEAR_MS = 0.0015

interface Departure {
  readonly name: number
  readonly cost: number
  readonly atMs: number
  readonly leftMs: number
}

interface Burst {
  readonly gapUs: number
  readonly costs: readonly number[]
}

const drains: Arbitrary<Rate> = fc.oneof(
  fc.constantFrom('1/s', '10/s', '1000/s', '20000/s', '7/s', '30000/s', '3/7s', '999/s', '1/ms', '5/m'),
  fc.integer({ min: 1, max: 40_000 }).map((units): Rate => `${units}/s`),
  fc.record({ units: fc.integer({ min: 1, max: 50 }), ms: fc.integer({ min: 1, max: 9_000 }) }).map(rateText),
)

describe('departures', () => {
  it('are at the slots of a queue of this rate, to a microsecond, in the order of arrival', async () => {
    const bursts = fc.array(
      fc.record({
        gapUs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 5_000_000 })),
        costs: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 40 }),
      }),
      { minLength: 1, maxLength: 8 },
    )
    await fc.assert(
      fc.asyncProperty(drains, bursts, async (drain, given) => {
        const { departures, arrivedMs } = await departuresOf(drain, given)
        const expected = slotsOf(drain, given, arrivedMs)
        expect(departures.map(({ name }) => name)).toEqual(expected.map((_, name) => name))
        for (const [i, { atMs, leftMs, cost }] of departures.entries()) {
          expect(Math.abs(atMs - START_MS - expected[i])).toBeLessThan(NEAR_MS)
          expect(leftMs).toBeGreaterThan(atMs - NEAR_MS)
          expect(leftMs).toBeLessThan(atMs + 2 * NEAR_MS)
          const next = departures[i + 1]
          if (next !== undefined) expect(next.atMs - atMs).toBeGreaterThan(cost * unitMs(drain) - NEAR_MS)
        }
      }),
      { numRuns: 150 },
    )
  })

  it.each([
    ['1/s', 300],
    ['10/s', 3_000],
    ['1000/s', 12_000],
    ['20000/s', 20_000],
    ['7/s', 2_000],
    ['393/s', 2_000],
    ['30000/s', 20_000],
    ['3/7s', 500],
    ['12345/s', 12_345],
  ] as const)('do not drift at %s', async (drain, count) => {
    const { departures } = await departuresOf(drain, [{ gapUs: 0, costs: new Array(count).fill(1) }])
    expect(departures.length).toBe(count)
    for (const [n, { atMs }] of departures.entries())
      expect(Math.abs(atMs - START_MS - n * unitMs(drain))).toBeLessThan(NEAR_MS)
  })

  it.each([
    ['1000/s', 1],
    ['20000/s', 1],
    ['30000/s', 1],
    ['7777/s', 1],
    ['7/s', 1],
    ['20000/s', 4],
    ['1000/s', 15],
  ] as const)(
    'keep the rate of %s if alarms ring on ticks of %d ms, and no more leave together than a tick is worth',
    async (drain, tickMs) => {
      const clock = new AlarmedClock(onTicks(tickMs))
      const shaper = createShaper({ drain, capacity: 100_000, clock })
      const ratePerMs = 1 / unitMs(drain)
      const count = Math.min(20_000, Math.ceil(20_000 * ratePerMs))
      const left: number[] = []
      const slots: number[] = []
      for (let i = 0; i < count; i++)
        void shaper.wait().then(({ atMs }) => {
          left.push(clock.now())
          slots.push(atMs)
        })
      await advanceToEnd(clock.manual)
      expect(left.length).toBe(count)
      for (const [n, atMs] of slots.entries())
        expect(Math.abs(atMs - START_MS - n * unitMs(drain))).toBeLessThan(NEAR_MS)
      const together = new Map<number, number>()
      for (const leftMs of left) together.set(leftMs, (together.get(leftMs) ?? 0) + 1)
      expect(Math.max(...together.values())).toBeLessThanOrEqual(ratePerMs * tickMs + 1)
    },
  )

  it('keep the rate with many keys on ticks: a key that the store has forgotten is not early', async () => {
    const clock = new AlarmedClock(onTicks(1))
    const shaper = createShaper({ drain: '20000/s', capacity: 100_000, clock })
    const slots = new Map<string, number[]>()
    for (const key of ['a', 'b', 'c']) {
      slots.set(key, [])
      for (let i = 0; i < 20_000; i++) void shaper.wait({ key }).then(({ atMs }) => slots.get(key)?.push(atMs))
    }
    await advanceToEnd(clock.manual)
    for (const atMs of slots.values()) {
      expect(atMs.length).toBe(20_000)
      for (let n = 1; n < atMs.length; n++) expect(atMs[n] - atMs[n - 1]).toBeGreaterThan(0.05 - NEAR_MS)
      expect(Math.abs(atMs[19_999] - START_MS - 19_999 * 0.05)).toBeLessThan(NEAR_MS)
    }
  })

  it('make up for alarms that are late by up to 20 ms', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('1000/s', '20000/s', '333/s'),
        fc.array(fc.integer({ min: 0, max: 19 }), { minLength: 1 }),
        async (drain, lates) => {
          let rings = 0
          const clock = new AlarmedClock((atMs) => atMs + lates[rings++ % lates.length])
          const shaper = createShaper({ drain, capacity: 10_000, clock })
          const slots: number[] = []
          for (let i = 0; i < 2_000; i++) void shaper.wait().then(({ atMs }) => slots.push(atMs))
          await advanceToEnd(clock.manual)
          for (const [n, atMs] of slots.entries())
            expect(Math.abs(atMs - START_MS - n * unitMs(drain))).toBeLessThan(NEAR_MS)
          expect(slots.length).toBe(2_000)
        },
      ),
      { numRuns: 20 },
    )
  })

  it.each([
    ['5/s', 6],
    ['4.8/s', 5],
    ['50/s', 52],
  ] as const)(
    'are at most 1.02 times the rate, plus one, in any second, if alarms are late: %s, %i',
    async (drain, most) => {
      const lateness = fc.oneof(fc.integer({ min: 0, max: 25 }), fc.constantFrom(0, 20, 400))
      await fc.assert(
        fc.asyncProperty(fc.array(lateness, { minLength: 1, maxLength: 50 }), async (lates) => {
          let rings = 0
          const clock = new AlarmedClock((atMs) => atMs + lates[rings++ % lates.length])
          const shaper = createShaper({ drain, capacity: 1_000, clock })
          const left: number[] = []
          for (let i = 0; i < 200; i++) void shaper.wait().then(() => left.push(clock.now()))
          await advanceToEnd(clock.manual)
          expect(left).toHaveLength(200)
          const inASecond = left.map((from) => left.filter((each) => each >= from && each < from + 1_000).length)
          expect(Math.max(...inASecond)).toBeLessThanOrEqual(most)
        }),
        { numRuns: 30 },
      )
    },
  )

  it.each(['10/s', '1000/s', '20000/s'] as const)(
    'of a process that stalled do not come as a crowd: %s',
    async (drain) => {
      let stallMs = 0
      const clock = new AlarmedClock((atMs) => {
        const lateMs = stallMs
        stallMs = 0
        return atMs + lateMs
      })
      const shaper = createShaper({ drain, capacity: 100_000, clock })
      const left: number[] = []
      const slots: number[] = []
      const count = Math.ceil(3_000 / unitMs(drain))
      for (let i = 0; i < count; i++)
        void shaper.wait().then(({ atMs }) => {
          if (left.length === Math.floor(count / 3)) stallMs = 1_000
          left.push(clock.now())
          slots.push(atMs)
        })
      await advanceToEnd(clock.manual)
      expect(left.length).toBe(count)
      const together = new Map<number, number>()
      for (const leftMs of left) together.set(leftMs, (together.get(leftMs) ?? 0) + 1)
      expect(Math.max(...together.values())).toBeLessThanOrEqual(20 / unitMs(drain) + 1)
      for (let n = 1; n < count; n++) expect(slots[n] - slots[n - 1]).toBeGreaterThan(unitMs(drain) - NEAR_MS)
      const lostMs = slots[count - 1] - START_MS - (count - 1) * unitMs(drain)
      expect(lostMs).toBeGreaterThan(950)
      expect(lostMs).toBeLessThan(1_001)
    },
  )
})

function rateText({ units, ms }: { units: number; ms: number }): Rate {
  return `${units}/${ms}ms`
}

/** How many milliseconds one unit takes. */
function unitMs(drain: string): number {
  const [, units, count, unit] = /^(\d+)\/(\d*)(ms|s|m)$/.exec(drain) as RegExpExecArray
  return (Number(count || 1) * { ms: 1, s: 1000, m: 60_000 }[unit as 'ms' | 's' | 'm']) / Number(units)
}

async function departuresOf(drain: Rate, bursts: readonly Burst[]) {
  const clock = new ManualClock(START_MS)
  const shaper = createShaper({ drain, capacity: 1_000_000, clock })
  const departures: Departure[] = []
  const arrivedMs: number[] = []
  for (const { gapUs, costs } of bursts) {
    await rung(clock, clock.now() + gapUs / 1000)
    for (const cost of costs) {
      const name = arrivedMs.push(clock.now() - START_MS) - 1
      void shaper.wait({ cost }).then(({ atMs }) => departures.push({ name, cost, atMs, leftMs: clock.now() }))
    }
  }
  await rung(clock, Infinity)
  expect(shaper.size).toBe(0)
  return { departures, arrivedMs }
}

/** Like `advance`, but without a turn of the event loop for each alarm. */
async function rung(clock: ManualClock, endMs: number): Promise<void> {
  const settle = async () => {
    for (let i = 0; i < 6; i++) await undefined
  }
  await settle()
  for (let atMs = clock.nextAlarmMs; atMs !== undefined && atMs <= endMs; atMs = clock.nextAlarmMs) {
    clock.advance(atMs - clock.now())
    await settle()
  }
  if (endMs < Infinity) clock.advance(endMs - clock.now())
}

/** When each caller leaves, in milliseconds since the start. */
function slotsOf(drain: string, bursts: readonly Burst[], arrivedMs: readonly number[]): number[] {
  let freeMs = 0
  return bursts
    .flatMap(({ costs }) => costs)
    .map((cost, i) => {
      const atMs = Math.max(freeMs, arrivedMs[i])
      freeMs = atMs + cost * unitMs(drain)
      return atMs
    })
}
