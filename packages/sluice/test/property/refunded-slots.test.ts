import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createLimiter, leakyBucket, type Reservation } from 'sluice'
import { describe, expect, it } from 'vitest'
import { larger, leakyBuckets, RUNS, series } from './arbitraries.js'
import { ExactClock } from './asking.js'
import { KEY } from './lives.js'

/** A departure time of the queue. Times are in microseconds · units, so that a unit takes `perUs` and all numbers are whole. */
interface Slot {
  readonly departs: bigint
  readonly ends: bigint
  readonly cost: number
  readonly reservation: Reservation
}

describe('law 6: a leaky bucket refunds only the last slot, and only before it departs', () => {
  const settlements = fc.array(
    fc.option(fc.record({ slot: fc.integer({ min: 0, max: 6 }), share: fc.integer({ min: 0, max: 1_000 }) })),
    { minLength: 40, maxLength: 40 },
  )

  for (const back of [false, true]) {
    it(`a settled or cancelled reservation shortens the queue then, and at no other time${back ? ', on a clock that steps back' : ''}`, () => {
      fc.assert(
        fc.property(series(leakyBuckets, { back }), settlements, ({ given, asks }, settlements) => {
          const { units, perUs } = given.rate
          const clock = new ExactClock(0n)
          const limiter = createLimiter({ limit: given.limit, clock })
          let slots: Slot[] = []
          let latestUs = 0n
          let end = 0n
          const queueAt = (us: bigint) => larger(end - us * units, 0n)
          for (const [i, { us, cost }] of asks.entries()) {
            clock.us = us
            // A store may have forgotten a whole state, which shows if the clock steps back. So forget it always.
            if (end <= us * units) {
              limiter.reset(KEY)
              slots = []
              latestUs = 0n
              end = 0n
            }
            const reservation = limiter.reserve(KEY, { cost })
            if (reservation.decision.allowed && cost > 0) {
              latestUs = larger(us, latestUs)
              const departs = latestUs * units + queueAt(latestUs)
              end = departs + BigInt(cost) * perUs
              slots.unshift({ departs, ends: end, cost, reservation })
            }
            const settlement = settlements[i]
            const slot = settlement === null ? undefined : slots[settlement.slot]
            if (settlement !== null && slot !== undefined) {
              const actual = Math.floor((slot.cost * settlement.share) / 1000)
              slot.reservation.settle(actual)
              slots.splice(slots.indexOf(slot), 1)
              const later = larger(us, latestUs)
              if (slot.ends === end && slot.departs > later * units && actual < slot.cost) {
                latestUs = later
                end = slot.departs + BigInt(actual) * perUs
              }
            }
            const waiting = queueAt(larger(us, latestUs))
            assert.equal(BigInt(limiter.peek(KEY).remaining), (given.quota * perUs - waiting) / perUs)
          }
        }),
        RUNS,
      )
    })
  }

  it('a refund frees at most the last slot, while the slot waits', () => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const limiter = createLimiter({ limit: leakyBucket({ capacity: 10, drain: '10/s' }), clock })
    limiter.tryAcquire(KEY, { cost: 4 })
    limiter.tryAcquire(KEY, { cost: 3 })
    expect(limiter.refund(KEY, { cost: 2 }).remaining).toBe(5)
    expect(limiter.refund(KEY, { cost: 9 }).remaining).toBe(6)
    expect(limiter.refund(KEY, { cost: 9 }).remaining).toBe(6)
    expect(limiter.tryAcquire(KEY)).toMatchObject({ allowed: true, delayMs: 400 })
  })

  it('a request keeps its departure time when an earlier one is cancelled', () => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const limiter = createLimiter({ limit: leakyBucket({ capacity: 10, drain: '10/s' }), clock })
    const reservations = [1, 2, 3].map((cost) => limiter.reserve(KEY, { cost }))
    expect(reservations.map(({ decision }) => decision.delayMs)).toEqual([0, 100, 300])
    reservations[1].cancel()
    expect(limiter.peek(KEY).remaining).toBe(4)
    reservations[2].cancel()
    expect(limiter.peek(KEY).remaining).toBe(7)
    reservations[0].cancel()
    expect(limiter.tryAcquire(KEY).delayMs).toBe(300)
  })
})
