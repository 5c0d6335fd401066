import { type AsyncStore, createLimiter, InvalidTypeError, leakyBucket, memoryStore, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const START_MS = Date.UTC(2026, 0, 1)

/** A third-party store that is broken for as long as it is told to be. */
function brokenStore(clock: ManualClock, broken: Partial<AsyncStore>) {
  const memory = memoryStore({ clock })
  const state = { isBroken: true }
  const pick = <Name extends keyof AsyncStore>(name: Name, well: AsyncStore[Name]): AsyncStore[Name] =>
    ((...given: never[]) =>
      Reflect.apply(
        state.isBroken && broken[name] ? (broken[name] as never) : (well as never),
        undefined,
        given,
      )) as never
  const store: AsyncStore = {
    clock,
    decide: pick('decide', async (demands) => memory.decide(demands)),
    refund: pick('refund', async (demand, taken) => memory.refund(demand, taken)),
    peek: async (demands) => memory.peek(demands),
    charge: async (demand) => memory.charge(demand),
    set: async (limited, remaining) => memory.set(limited, remaining),
    reset: async (name, key) => memory.reset(name, key),
    block: async (name, key, durationUs) => memory.block(name, key, durationUs),
  }
  return { store, state }
}

describe('acquire on a store that is broken for a moment', () => {
  it.each([
    ['nothing', async () => undefined],
    ['no decisions', async () => ({ allowed: true, decisions: [], takenUs: [] })],
    ['nothing, at once', () => undefined],
  ])('which answers %s: the waiter is rejected, and later callers are served', async (_what, decide) => {
    const clock = new ManualClock(START_MS)
    const { store, state } = brokenStore(clock, { decide: decide as never })
    const limiter = createLimiter({ name: 'a', limit: tokenBucket({ capacity: 10, refill: '1/s' }), store })
    await expect(limiter.acquire('k', { maxWaitMs: 1_000 })).rejects.toThrow(InvalidTypeError)
    state.isBroken = false
    await limiter.acquire('k', { maxWaitMs: 1_000 })
    await limiter.acquire('k')
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it.each(['a store that answers later', 'a store that answers at once'])(
    'which cannot take units back, on %s: later callers are served',
    async (kind) => {
      const clock = new ManualClock(START_MS)
      const throwing = () => {
        throw new Error('not connected')
      }
      const { store, state } = brokenStore(clock, { refund: throwing })
      const memory = memoryStore({ clock })
      const refund = memory.refund.bind(memory)
      if (kind === 'a store that answers at once')
        memory.refund = (...given) => (state.isBroken ? throwing() : refund(...given))
      const limit = leakyBucket({ capacity: 10, drain: '1/s' })
      const limiter = createLimiter({
        name: 'a',
        limit,
        store: (kind === 'a store that answers at once' ? memory : store) as AsyncStore,
      })
      await limiter.acquire('k')
      await expect(limiter.acquire('k', { maxWaitMs: 10 })).rejects.toMatchObject({ code: 'SLUICE_WAIT_TOO_LONG' })
      state.isBroken = false
      const later = Promise.all([limiter.acquire('k'), limiter.acquire('k', { maxWaitMs: 5_000 })])
      await clock.advanceAsync(10_000)
      await later
      expect(clock.nextAlarmMs).toBeUndefined()
    },
  )
})
