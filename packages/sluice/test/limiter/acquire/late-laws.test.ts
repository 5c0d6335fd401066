import fc from 'fast-check'
import { createLimiter, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, it } from 'vitest'
import { LateStore } from './counted-store.js'
import { Outcomes, pass, settled } from './outcomes.js'

const CAPACITY = 10
const START = 1_745_000_000_000

const step = fc.oneof(
  fc.record({
    what: fc.constant('come' as const),
    cost: fc.integer({ min: 0, max: 4 }),
    maxWaitMs: fc.constantFrom(undefined, undefined, 0, 5, 200),
  }),
  fc.record({ what: fc.constant('leave' as const), nth: fc.nat(30) }),
  fc.record({ what: fc.constant('answer' as const) }),
  fc.record({ what: fc.constant('fail' as const) }),
  fc.record({ what: fc.constant('refund' as const), cost: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ what: fc.constant('other takes' as const), cost: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ what: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 100 }) }),
)

it('whatever happens while the store is being asked, no waiter overtakes another and no unit is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = new ManualClock(START)
      const limit = tokenBucket({ capacity: CAPACITY, refill: '1/30d' })
      const store = new LateStore(clock)
      const limiter = createLimiter({ name: 'late', limit, store })
      const outcomes = new Outcomes(clock)
      const guests: { name: string; cost: number; controller: AbortController }[] = []
      let taken = 0
      let wakes = 0
      for (const each of steps) {
        if (each.what === 'come') {
          const guest = { name: `${guests.length}`, cost: each.cost, controller: new AbortController() }
          guests.push(guest)
          const { signal } = guest.controller
          const { cost, maxWaitMs } = each
          outcomes.watch(guest.name, limiter.acquire('key', { cost, signal, maxWaitMs }))
        } else if (each.what === 'leave') guests[each.nth]?.controller.abort('left')
        else if (each.what === 'answer') store.answer()
        else if (each.what === 'fail') store.answer(new Error('no store'))
        else if (each.what === 'pass') await pass(clock, each.ms)
        else {
          const { remaining } = store.memory.decideOne('late', limit, 'key', 0)
          const most = each.what === 'refund' ? CAPACITY - remaining : remaining
          const cost = Math.min(each.cost, most)
          taken += each.what === 'refund' ? -cost : cost
          wakes++
          if (each.what === 'refund') await limiter.refund('key', { cost })
          else store.memory.decideOne('late', limit, 'key', cost)
        }
        await settled()
      }
      for (const { controller } of guests) controller.abort('over')
      await settled()
      for (let i = 0; i < 100 && store.underway > 0; i++) {
        store.answer()
        await settled()
      }
      const admitted = outcomes.admitted.map(Number)
      expect(admitted).toEqual(admitted.toSorted((one, other) => one - other))
      for (const { name } of guests) expect(outcomes.of(name)).toBeDefined()
      for (const name of admitted) taken += guests[name].cost
      expect(store.memory.decideOne('late', limit, 'key', 0).remaining).toBe(CAPACITY - taken)
      expect([store.underway, clock.nextAlarmMs]).toEqual([0, undefined])
      const asked = store.batches.reduce((sum, count) => sum + count, 0)
      expect(asked).toBeLessThanOrEqual(3 * guests.length + wakes)
    }),
    { numRuns: 2_000 },
  )
})
