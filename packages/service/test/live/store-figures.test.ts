/** How a store and its leases are told to a person. */
import { expect, it } from 'vitest'
import type { LiveStore } from '../../src/live/live-events.js'
import { mergeStores, StoreFigures } from '../../src/live/store-figures.js'
import type { StoreHealth } from '../../src/recorder/store-health.js'

type RedisHealth = Extract<StoreHealth, { kind: 'redis' }>

const redis = (more: Partial<RedisHealth> = {}): StoreHealth =>
  ({
    kind: 'redis',
    calls: 100,
    batches: 10,
    degraded: { deadline: 0 },
    late: 0,
    scriptsSent: 1,
    pending: 2,
    batchesInFlight: 1,
    reconnects: 0,
    breaker: 'closed',
    ...more,
  }) as RedisHealth

const numberOf = ({ figures, leases = [] }: LiveStore, name: string) =>
  [...figures, ...leases].find((each) => each.name === name)?.value

it('tells rates since the last call, and nothing strange at first', () => {
  const store = new StoreFigures(0)
  expect(numberOf(store.next(redis(), 1_000), 'calls')).toBe(0)
  const next = store.next(redis({ calls: 500, batches: 30 }), 3_000)
  expect([numberOf(next, 'calls'), numberOf(next, 'batches'), numberOf(next, 'calls under way')]).toEqual([200, 10, 2])
  expect(next).toMatchObject({ kind: 'redis', state: 'well', text: 'Redis answers.' })
})

it('is degraded while the breaker is open, and while calls are answered without Redis', () => {
  const store = new StoreFigures(0)
  store.next(redis(), 1_000)
  const degraded = { deadline: 3 } as RedisHealth['degraded']
  expect(store.next(redis({ degraded }), 2_000).state).toBe('degraded')
  expect(store.next(redis({ degraded }), 3_000).state).toBe('well')
  expect(store.next(redis({ degraded, breaker: 'open' }), 4_000).state).toBe('degraded')
})

it('tells leases, and when memory is used up', () => {
  const store = new StoreFigures(0)
  const leases = { keys: 3, held: 40, granted: 100, spent: 60, returned: 0, expired: 0, exchanges: 5, direct: 7 }
  store.next({ ...redis(), leases }, 1_000)
  const next = store.next({ ...redis(), leases: { ...leases, spent: 90 } }, 2_000)
  expect([numberOf(next, 'leased keys'), numberOf(next, 'units in hand'), numberOf(next, 'units spent')]).toEqual([
    3, 40, 30,
  ])
  const memory = { kind: 'memory', keys: 9, maxKeys: 10, bytes: 999, dropped: 0, shared: 0, refused: 0 } as const
  const own = new StoreFigures(0)
  expect(own.next(memory, 1_000).text).toBe('Counts are kept in the memory of this service.')
  expect(own.next({ ...memory, refused: 1 }, 2_000).text).toMatch(/^The memory for keys is used up/)
})

it('adds up the figures of several workers, whose table in memory is one', () => {
  const [one, two, away] = [{}, {}, { breaker: 'open' } as const].map((more) =>
    new StoreFigures(0).next(redis(more), 1_000),
  )
  expect(numberOf(mergeStores([one, two]), 'calls under way')).toBe(4)
  expect(mergeStores([one, two])).toMatchObject({ state: 'well', text: 'Redis answers.' })
  expect(mergeStores([one, away, two])).toMatchObject({
    state: 'degraded',
    text: '1 of 3 workers: Redis does not answer: decisions are made by the rule for that time.',
  })
  const memory = { kind: 'memory', state: 'well', text: '', figures: [{ name: 'keys', value: 9, unit: '' }] } as const
  expect(mergeStores([memory, memory])).toEqual(memory)
})
