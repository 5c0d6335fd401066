import { createLimiter, type Limit, leakyBucket, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { LateStore } from './counted-store.js'
import { Outcomes, pass, settled } from './outcomes.js'

const START = 1_745_000_000_000

function lateRoom(limit: Limit = tokenBucket({ capacity: 10, refill: '1/s' })) {
  const clock = new ManualClock(START)
  const store = new LateStore(clock)
  const limiter = createLimiter({ name: 'late', limit, store })
  const remaining = () => store.memory.decideOne('late', limit, 'user', 0).remaining
  const answer = async (error?: Error) => {
    store.answer(error)
    await settled()
  }
  return { clock, store, limiter, outcomes: new Outcomes(clock), remaining, answer }
}

describe('acquire on a store that answers later', () => {
  it('asks for the first in line, and then for all waiters that there are enough units for', async () => {
    const { clock, store, limiter, outcomes, answer } = lateRoom()
    for (let i = 0; i < 15; i++) outcomes.watch(`${i}`, limiter.acquire('user'))
    expect(store.underway).toBe(1)
    await answer()
    expect(store.underway).toBe(9)
    await answer()
    expect(outcomes.admitted).toHaveLength(10)
    expect(store.underway).toBe(1)
    await answer()
    expect([store.underway, clock.nextAlarmMs]).toEqual([0, START + 1_000])
    clock.advance(1_000)
    expect(store.underway).toBe(1)
    await answer()
    expect(outcomes.admitted).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
  })

  it.each([0, 1, 2, 3, 4, 5])(
    'keeps a caller that comes when the waiter before it gives up, %d steps after the answer',
    async (steps) => {
      const { store, limiter, outcomes, answer } = lateRoom()
      store.memory.charge({ name: 'late', limit: limiter.limit, key: 'user', cost: 10 })
      const controller = new AbortController()
      outcomes.watch('before', limiter.acquire('user', { signal: controller.signal }))
      store.answer()
      for (let i = 0; i < steps; i++) await Promise.resolve()
      controller.abort()
      outcomes.watch('after', limiter.acquire('user'))
      await settled()
      await answer()
      expect(store.underway).toBe(0)
      const refunded = limiter.refund('user', { cost: 5 })
      await answer()
      await refunded
      await answer()
      expect(outcomes.admitted).toEqual(['after'])
    },
  )

  it('keeps the order when other processes take units that were believed to be there', async () => {
    const { store, limiter, outcomes, answer } = lateRoom()
    for (let i = 0; i < 6; i++) outcomes.watch(`${i}`, limiter.acquire('user', { cost: 2 }))
    outcomes.watch('small', limiter.acquire('user'))
    await answer()
    expect(store.underway).toBe(4)
    store.memory.charge({ name: 'late', limit: limiter.limit, key: 'user', cost: 5 })
    await answer()
    expect(outcomes.admitted).toEqual(['0', '1'])
    expect(store.underway).toBe(0)
  })

  it('gives back units that come for a waiter that has left', async () => {
    const { clock, limiter, outcomes, remaining, answer } = lateRoom()
    const controller = new AbortController()
    outcomes.watch('a', limiter.acquire('user', { cost: 4, signal: controller.signal }))
    controller.abort('gone')
    await settled()
    expect(outcomes.of('a')?.error).toBe('gone')
    await answer()
    expect(remaining()).toBe(10)
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('hands units that come for a waiter that has left to the next waiter of the same cost', async () => {
    const { store, limiter, outcomes, remaining, answer } = lateRoom()
    const controller = new AbortController()
    outcomes.watch('a', limiter.acquire('user', { cost: 4, signal: controller.signal }))
    outcomes.watch('b', limiter.acquire('user', { cost: 4 }))
    controller.abort()
    await answer()
    expect(outcomes.admitted).toEqual(['b'])
    expect([store.underway, remaining()]).toEqual([0, 6])
  })

  it('asks again if units come back while a denial is on its way', async () => {
    const { clock, store, limiter, outcomes, answer } = lateRoom()
    store.memory.charge({ name: 'late', limit: limiter.limit, key: 'user', cost: 10 })
    store.decidesEarly = true
    outcomes.watch('a', limiter.acquire('user'))
    // The denial is on its way.
    await limiter.refund('user')
    await answer()
    expect(store.underway).toBe(1)
    await answer()
    expect(outcomes.admitted).toEqual(['a'])
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('does not give units that come for a waiter that has left to one with a smaller cost', async () => {
    const { limiter, outcomes, remaining, answer } = lateRoom()
    const controller = new AbortController()
    outcomes.watch('large', limiter.acquire('user', { cost: 4, signal: controller.signal }))
    outcomes.watch('small', limiter.acquire('user'))
    controller.abort()
    await answer()
    expect(outcomes.admitted).toEqual([])
    await answer()
    expect(outcomes.admitted).toEqual(['small'])
    expect(remaining()).toBe(9)
  })

  it('asks again when the units of a waiter that has left are back', async () => {
    const { store, limiter, outcomes, answer } = lateRoom()
    let arrive = () => {}
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve
    })
    store.refund = async (demand, taken) => {
      await arrived
      return store.memory.refund(demand, taken)
    }
    const controller = new AbortController()
    outcomes.watch('large', limiter.acquire('user', { cost: 8, signal: controller.signal }))
    outcomes.watch('small', limiter.acquire('user', { cost: 4 }))
    controller.abort()
    await answer()
    await answer()
    expect([outcomes.admitted, store.underway]).toEqual([[], 0])
    arrive()
    await settled()
    await answer()
    expect(outcomes.admitted).toEqual(['small'])
  })

  it('rejects the waiter that the store failed for, and asks for the next', async () => {
    const { limiter, outcomes, answer } = lateRoom()
    outcomes.watch('a', limiter.acquire('user'))
    outcomes.watch('b', limiter.acquire('user'))
    const failure = new Error('no store')
    await answer(failure)
    expect(outcomes.of('a')?.error).toBe(failure)
    await answer()
    expect(outcomes.admitted).toEqual(['b'])
  })

  it('waits for an answer that is under way when maxWaitMs is over', async () => {
    const { clock, store, limiter, outcomes, answer } = lateRoom()
    for (const name of ['a', 'b', 'c']) outcomes.watch(name, limiter.acquire('user', { maxWaitMs: 0 }))
    outcomes.watch('large', limiter.acquire('user', { cost: 9, maxWaitMs: 0 }))
    clock.advance(5)
    await settled()
    await answer()
    expect(outcomes.admitted).toEqual(['a'])
    // Enough units were left for the next two, so the store is being asked for them, but not for the last one.
    expect(outcomes.of('large')?.error).toMatchObject({ code: 'SLUICE_WAIT_TOO_LONG' })
    expect(store.underway).toBe(2)
    await answer()
    expect(outcomes.admitted).toEqual(['a', 'b', 'c'])
    expect([store.underway, clock.nextAlarmMs]).toEqual([0, undefined])
  })

  it('rejects a waiter that is denied after its maxWaitMs', async () => {
    const { clock, store, limiter, outcomes, answer } = lateRoom()
    store.memory.charge({ name: 'late', limit: limiter.limit, key: 'user', cost: 10 })
    outcomes.watch('a', limiter.acquire('user', { maxWaitMs: 10 }))
    outcomes.watch('b', limiter.acquire('user', { maxWaitMs: 10 }))
    clock.advance(20)
    await answer()
    expect(outcomes.of('a')?.error).toMatchObject({ retryAfterMs: 980 })
    expect(outcomes.of('b')?.error).toMatchObject({ code: 'SLUICE_WAIT_TOO_LONG' })
    expect([store.underway, clock.nextAlarmMs]).toEqual([0, undefined])
  })

  it('waits for slots while the store is asked for the waiters behind', async () => {
    const { clock, store, limiter, outcomes, answer } = lateRoom(leakyBucket({ capacity: 4, drain: '10/s' }))
    const controller = new AbortController()
    outcomes.watch('a', limiter.acquire('user'))
    outcomes.watch('b', limiter.acquire('user'))
    outcomes.watch('c', limiter.acquire('user', { signal: controller.signal }))
    await answer()
    await answer()
    expect(store.underway).toBe(0)
    controller.abort()
    await settled()
    clock.advance(1_000)
    await settled()
    expect(outcomes.admitted).toEqual(['a', 'b'])
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('waits for a slot by the clock of the store, even if the answer is slow', async () => {
    const { clock, store, limiter, outcomes, answer } = lateRoom(leakyBucket({ capacity: 4, drain: '10/s' }))
    store.decidesEarly = true
    outcomes.watch('a', limiter.acquire('user'))
    await answer()
    outcomes.watch('b', limiter.acquire('user'))
    clock.advance(80)
    await answer()
    await pass(clock, 1_000)
    expect(outcomes.of('b')?.atMs).toBeCloseTo(START + 100, 0)
  })

  it('asks a store for its time if the first answer is slow, and then serves the waiter', async () => {
    const { clock, store, limiter, outcomes, answer } = lateRoom(leakyBucket({ capacity: 4, drain: '10/s' }))
    store.decidesEarly = true
    store.memory.charge({ name: 'late', limit: limiter.limit, key: 'user', cost: 1 })
    outcomes.watch('a', limiter.acquire('user'))
    clock.advance(70)
    await answer()
    expect([outcomes.admitted, store.underway]).toEqual([[], 1])
    await answer()
    await pass(clock, 1_000)
    expect(outcomes.of('a')?.atMs).toBeCloseTo(START + 100, 0)
  })

  it('lets no crowd leave if many answers of a leaky bucket are read late', async () => {
    const { clock, store, limiter, outcomes, answer } = lateRoom(leakyBucket({ capacity: 30, drain: '10/s' }))
    store.decidesEarly = true
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const name of names) outcomes.watch(name, limiter.acquire('user'))
    await answer()
    expect(store.underway).toBe(5)
    clock.advance(2_000)
    await answer()
    await pass(clock, 5_000)
    const times = names.map((name) => (outcomes.of(name)?.atMs ?? 0) - START)
    // The first slot that has passed counts as 20 ms old, and the others follow at the rate.
    expect(times).toEqual([0, 2_000, 2_080, 2_180, 2_280, 2_380])
  })
})
