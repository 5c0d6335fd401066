import { concurrency, createLimiter, memoryStore, tokenBucket, WaitTooLongError } from 'sluice'
import { expect, it } from 'vitest'
import { HeldUpClock } from '../../held-up-clock.js'

const START_MS = Date.UTC(2026, 0, 1)

it('a waiter whose time was over while the process was held up is rejected when units come back', async () => {
  const clock = new HeldUpClock(START_MS)
  const limiter = createLimiter({ name: 'a', limit: concurrency({ max: 1, ttl: '5s' }), store: memoryStore({ clock }) })
  const lease = limiter.lease('k')
  const first = limiter.acquireLease('k')
  const second = limiter.acquireLease('k').catch(() => {})
  const impatient = limiter.acquireLease('k', { maxWaitMs: 50 })
  clock.pass(100)
  lease.release()
  expect((await first).allowed).toBe(true)
  await expect(impatient).rejects.toBeInstanceOf(WaitTooLongError)
  clock.pass(10_000)
  await clock.ring()
  await second
})

it('a waiter for tokens is given none after its time, even if the process was held up', async () => {
  const clock = new HeldUpClock(START_MS)
  const limit = tokenBucket({ capacity: 1, refill: '1/h' })
  const limiter = createLimiter({ name: 'a', limit, store: memoryStore({ clock }) })
  limiter.tryAcquire('k')
  const first = limiter.acquire('k')
  limiter.acquire('k').catch(() => {})
  const impatient = limiter.acquire('k', { maxWaitMs: 3_600_000 * 2.5 })
  clock.pass(3_600_000 * 3)
  limiter.refund('k')
  await first
  await expect(impatient).rejects.toBeInstanceOf(WaitTooLongError)
})
