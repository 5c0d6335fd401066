import { mock } from 'node:test'
import { createLimiter, fixedWindow } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { afterEach, expect, test, vi } from 'vitest'

const HOUR_MS = 3_600_000
const limit = fixedWindow({ quota: 1, window: '1m', align: 'first' })

afterEach(() => {
  vi.useRealTimers()
  mock.timers.reset()
})

test.each([
  ['node:test', () => mock.timers.enable({ apis: ['Date', 'setTimeout'] }), () => mock.timers.tick(HOUR_MS)],
  ['vitest, jest and sinon', () => void vi.useFakeTimers(), () => void vi.advanceTimersByTime(HOUR_MS)],
])('docs/testing.md: fake timers of %s do not move a limiter, and a ManualClock does', (_of, enable, tick) => {
  enable()
  const clock = new ManualClock(0)
  const [real, moved] = [createLimiter({ limit }), createLimiter({ limit, clock })]
  for (const each of [real, moved]) expect(each.tryAcquire('ann').allowed).toBe(true)
  tick()
  clock.advance(HOUR_MS)
  expect([real.tryAcquire('ann').allowed, moved.tryAcquire('ann').allowed]).toEqual([false, true])
})
