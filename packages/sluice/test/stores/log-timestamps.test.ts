import { createLimiter, memoryStore, slidingLog } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

describe('maxLogTimestamps of a memory store', () => {
  it('is the most timestamps that sliding logs hold together', () => {
    const store = memoryStore({ maxLogTimestamps: 100, clock: new ManualClock(1_745_000_100_000) })
    const limiter = createLimiter({ name: 'test', limit: slidingLog({ quota: 1_000, window: '1h' }), store })
    let held = 0
    while (held <= 1_000 && limiter.tryAcquire('key').allowed) held++
    expect(held).toBeLessThanOrEqual(100)
  })
})
