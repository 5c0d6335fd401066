import { tokenBucket } from 'sluice'
import { SyncedStore } from 'sluice/synced'
import { ManualClock } from 'sluice/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { SharedMemory } from './shared-memory.js'

const KEYS = 10_000
const MOST_UNDERWAY = 250
const TRAVEL_MS = 1
/** At least half of the calls that are under way are answered in the time of a trip, and then replaced. */
const SENDING_MS = (2 * TRAVEL_MS * KEYS) / (MOST_UNDERWAY / 2)

const limit = tokenBucket({ capacity: 100, refill: '1/s' })

describe('a process with 10,000 keys in use', () => {
  let clock: ManualClock
  let shared: SharedMemory
  let store: SyncedStore

  beforeEach(() => {
    clock = new ManualClock(1_745_000_000_000)
    shared = new SharedMemory(clock)
    shared.travelMs = () => TRAVEL_MS
    store = new SyncedStore(shared, {}, () => 1)
  })

  /** Asks once for every key. */
  const askAll = () =>
    Array.from({ length: KEYS }, (_, i) => store.decideNow({ name: 'api', limit, key: `client-${i}`, cost: 1 }))

  it('has at most 250 calls under way, and syncs every key once before it syncs one again', async () => {
    askAll()
    await clock.advanceAsync(100 + SENDING_MS)
    expect(shared.mostUnderway).toBe(MOST_UNDERWAY)
    expect(store.stats()).toMatchObject({ syncs: 1, calls: KEYS, unreported: 0, failures: 0 })
    expect(shared.memory.size).toBe(KEYS)
    expect(askAll().every((decision) => decision?.asOfMs !== 0)).toBe(true)
  })

  it('says how long the gap of a key becomes: the interval, and the time that all calls take', async () => {
    for (let i = 0; i < 3; i++) {
      askAll()
      await clock.advanceAsync(100 + SENDING_MS)
    }
    const { longestGapMs, overshoot } = store.stats()
    // A key syncs between the calls of others, so the gap is longer than the interval.
    expect(longestGapMs).toBeGreaterThan(100 + 2 * TRAVEL_MS)
    expect(longestGapMs).toBeLessThanOrEqual(100 + 2 * SENDING_MS)
    expect(overshoot).toBe(Math.ceil(100 + (2 * longestGapMs) / 1_000))
    expect(shared.mostUnderway).toBe(MOST_UNDERWAY)
  })

  it('goes on with the other keys if the store fails, and has no timer once all are idle and reported', async () => {
    shared.fate = () => 'lost'
    askAll()
    await clock.advanceAsync(100 + SENDING_MS)
    expect(store.stats().failures).toBeGreaterThanOrEqual(KEYS)
    expect(store.stats().unreported).toBe(KEYS)
    shared.fate = () => 'answered'
    // A look, a report, and an end.
    await clock.advanceAsync(4 * (100 + SENDING_MS))
    expect(store.stats()).toMatchObject({ unreported: 0, oldestViewMs: 0 })
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('reports all keys when it is closed, also between the calls of an interval, with as few under way', async () => {
    askAll()
    await clock.advanceAsync(100 + SENDING_MS / 4)
    expect(shared.calls.length).toBeLessThan(KEYS)
    const closed = store.close()
    await clock.advanceAsync(2 * SENDING_MS)
    await closed
    expect(shared.memory.size).toBe(KEYS)
    expect(store.stats().unreported).toBe(0)
    expect(shared.calls).toHaveLength(KEYS)
    expect(shared.mostUnderway).toBe(MOST_UNDERWAY)
    expect(clock.nextAlarmMs).toBeUndefined()
  })
})
