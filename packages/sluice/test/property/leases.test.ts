import fc from 'fast-check'
import { concurrency, createLimiter, memoryStore } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { it } from 'vitest'
import { lives, playLives, TTL_MS } from '../limiter/lease-lives.js'
import { RUNS } from './arbitraries.js'

it('a concurrency limit never has more than max in flight, and admits every request that fits, however holders end', async () => {
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      const clock = new ManualClock(1_745_000_000_000)
      const limit = concurrency({ max: life.max, ttl: `${TTL_MS}ms` })
      await playLives([createLimiter({ name: 'jobs', limit, store: memoryStore({ clock }) })], clock, life)
    }),
    RUNS,
  )
})
