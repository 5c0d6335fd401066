/** A store whose reservations another store keeps, as the threads of the service ask the first of them. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  createPolicy,
  type DecisionEvent,
  type MemoryStore,
  memoryStore,
  type Reservations,
  reservationsOf,
  StoreUnavailableError,
  tokenBucket,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, test } from 'vitest'

const levels = [{ name: 'all', key: ['user'], limit: tokenBucket({ capacity: 10, refill: '1/d' }) }] as const

/** A synchronous store whose reservations answer later. Both stores decide on the same states. */
function inFrontOf(kept: MemoryStore, reservations: Reservations) {
  const store: MemoryStore & { readonly reservations: Reservations } = Object.assign(Object.create(kept), {
    reservations,
    ...Object.fromEntries(
      (
        ['decide', 'decideOne', 'peek', 'peekOne', 'charge', 'refund', 'set', 'reset', 'block', 'overrides'] as const
      ).map((name) => [name, (kept[name] as (...args: never[]) => unknown).bind(kept)]),
    ),
    prepare: () => {},
  })
  return createPolicy({ name: 'p', levels, store })
}

function later(kept: Reservations): Reservations {
  return {
    tellsFailures: true,
    open: async (...asked) => kept.open(...asked),
    find: async (id) => kept.find(id),
    close: async (...asked) => kept.close(...asked),
  }
}

test('what one store opens, another settles once, and it ends at its ttl', async () => {
  const clock = new ManualClock(1_000_000)
  const kept = memoryStore({ clock })
  const reservations = reservationsOf(kept)
  const [one, other] = [inFrontOf(kept, later(reservations)), inFrontOf(kept, later(reservations))]
  const { id } = await one.reserve({ user: 'u' }, { cost: 6, ttl: '1m' })
  expect(other.peek({ user: 'u' }).levels[0].decision.remaining).toBe(4)
  const settled = await Promise.all([one, other, one].map((each) => each.settle(id, 2)))
  expect(settled.filter((each) => each)).toHaveLength(1)
  expect(one.peek({ user: 'u' }).levels[0].decision.remaining).toBe(8)
  await other.reserve({ user: 'u' }, { cost: 3, ttl: '1m', id: 'mine' })
  expect((await one.reserve({ user: 'u' }, { cost: 3, ttl: '1m', id: 'mine' })).id).toBe('mine')
  expect(one.peek({ user: 'u' }).levels[0].decision.remaining).toBe(5)
  await clock.advanceAsync(60_001)
  expect(one.peek({ user: 'u' }).levels[0].decision.remaining).toBe(8)
})

test('a subscriber hears of a decision that the reservations of a synchronous store make later', async () => {
  const kept = memoryStore()
  const policy = inFrontOf(kept, later(reservationsOf(kept)))
  const heard: unknown[] = []
  const hear = (event: unknown) => {
    const { method, allowed } = event as DecisionEvent
    heard.push({ method, allowed })
  }
  subscribe('sluice:decision', hear)
  try {
    expect((await policy.reserve({ user: 'u' }, { ttl: '1m' })).verdict.allowed).toBe(true)
    expect((await policy.reserve({ user: 'u' }, { cost: 11, ttl: '1m' })).verdict.allowed).toBe(false)
  } finally {
    unsubscribe('sluice:decision', hear)
  }
  expect(heard).toEqual([
    { method: 'reserve', allowed: true },
    { method: 'reserve', allowed: false },
  ])
})

test('a failure is told if the reservations say so; otherwise this process keeps the reservation', async () => {
  const fails = async () => {
    throw new StoreUnavailableError('away')
  }
  const kept = memoryStore()
  const away: Reservations = { open: fails, find: fails, close: fails }
  const telling = inFrontOf(kept, { ...away, tellsFailures: true })
  await expect(Promise.resolve(telling.reserve({ user: 'u' }, { ttl: '1m' }))).rejects.toThrow('away')
  expect(telling.peek({ user: 'u' }).levels[0].decision.remaining).toBe(10)
  const { verdict } = await inFrontOf(kept, away).reserve({ user: 'u' }, { ttl: '1m' })
  expect(verdict.allowed).toBe(true)
  expect(telling.peek({ user: 'u' }).levels[0].decision.remaining).toBe(9)
})
