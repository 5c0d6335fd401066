import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createPolicy } from '../../src/index.js'
import { Dice, randomLevels, randomRequest } from './redis/random-policies.js'

beforeAll(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterAll(() => {
  vi.restoreAllMocks()
})

it.each([61, 62, 63])(
  'who waits as long as a verdict says is served then, and not a millisecond before (seed %i)',
  (seed) => {
    const dice = new Dice(seed)
    let waited = 0
    for (let i = 0; i < 150; i++) {
      const clock = new ManualClock(Date.UTC(2026, 0, 1) + dice.from(0, 100_000))
      const { levels } = randomLevels(dice)
      const policy = createPolicy({ levels, clock })
      for (let j = 0; j < 40; j++) {
        clock.advance(dice.of([0, 0, 1, 17.123, 100]))
        const request = randomRequest(dice)
        const cost = dice.of([1, 1, 1, 2, 3, 13])
        const { allowed, retryAfterMs } = policy.check(request, { cost })
        if (allowed || retryAfterMs === Infinity) continue
        waited++
        const context = `${JSON.stringify({ levels, request, cost })}, told to wait for ${retryAfterMs} ms`
        if (retryAfterMs > 1) {
          clock.advance(retryAfterMs - 1)
          expect(policy.check(request, { cost }).allowed, context).toBe(false)
          clock.advance(1)
        } else clock.advance(retryAfterMs)
        expect(policy.check(request, { cost }).allowed, context).toBe(true)
      }
    }
    expect(waited).toBeGreaterThan(500)
  },
)
