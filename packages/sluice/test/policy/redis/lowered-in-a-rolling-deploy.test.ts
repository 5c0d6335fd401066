import { expect, it } from 'vitest'
import { createPolicy, fixedWindow, type Limit, slidingLog, slidingWindow, tokenBucket } from '../../../src/index.js'
import { redisStore } from '../../../src/stores/redis/index.js'
import { onBothStores } from './both-stores.js'
import { startProcesses } from './processes.js'

const CASES: readonly { title: string; old: Limit; new: Limit }[] = [
  {
    title: 'a bucket whose capacity is lowered, at the same rate',
    old: tokenBucket({ capacity: 1_000, refill: '10/s' }),
    new: tokenBucket({ capacity: 10, refill: '10/s' }),
  },
  {
    title: 'a fixed window that becomes shorter',
    old: fixedWindow({ quota: 1_000, window: '1h' }),
    new: fixedWindow({ quota: 10, window: '1s' }),
  },
  {
    title: 'a sliding window that becomes shorter',
    old: slidingWindow({ quota: 1_000, window: '1h' }),
    new: slidingWindow({ quota: 10, window: '1s' }),
  },
  {
    title: 'a log that becomes shorter',
    old: slidingLog({ quota: 1_000, window: '1h' }),
    new: slidingLog({ quota: 10, window: '1s' }),
  },
]

// In Redis with an injected time, keys linger for an hour, which hides it for the bucket: see the last test.
onBothStores((own) => {
  it.each(CASES)('$title: two versions side by side give no more than both would alone', async (given) => {
    const versions = [given.old, given.new].map((limit) =>
      createPolicy({ name: 'api', levels: [{ name: 'm', key: 'm', limit }], store: own.store }),
    )
    let units = 0
    for (let i = 0; i < 30; i++) {
      for (const policy of versions) {
        const left = (await policy.peek({ m: 'x' })).levels[0].decision.remaining
        if (left > 0 && (await policy.check({ m: 'x' }, { cost: left })).allowed) units += left
        own.clock.advance(1_100)
      }
    }
    // 66 seconds: 1,000 by the old one, and 10 a second and a burst by each.
    expect(units).toBeLessThanOrEqual(1_000 + 10 * 66 + 10 * 67)
  })
})

it('in Redis, a version with a smaller bucket does not shorten the life of what was taken from a larger one', async () => {
  const processes = await startProcesses()
  try {
    const store = redisStore(processes.client, { prefix: 'test:', deadlineMs: 5_000, onFailure: 'closed' })
    const [before, after] = [CASES[0].old, CASES[0].new].map((limit) =>
      createPolicy({ name: 'api', levels: [{ name: 'm', key: 'm', limit }], store }),
    )
    await before.check({ m: 'x' }, { cost: 1_000 })
    expect(await processes.client.pttl('test:t:{x}api/m')).toBeGreaterThan(99_000)
    await expect.poll(async () => (await after.check({ m: 'x' })).allowed, { interval: 5 }).toBe(true)
    // Got about 1,000: a second later the old version finds no state, and a whole bucket of 1,000.
    expect(await processes.client.pttl('test:t:{x}api/m')).toBeGreaterThan(90_000)
  } finally {
    await processes.stop()
  }
})
