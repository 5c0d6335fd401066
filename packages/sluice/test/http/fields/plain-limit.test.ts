/** What the usual case tells without making anything is, to the letter, what `describe` says of the same decision. */
import fc from 'fast-check'
import { createLimiter, fixedWindow, type Limit, type Limiter, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { describe } from 'sluice/http'
import { expect, it, describe as suite } from 'vitest'
import { PlainLimit } from '../../../src/http/plain-limit.js'

const limits: Limit[] = [
  tokenBucket({ capacity: 3, refill: '1/m' }),
  tokenBucket({ capacity: 100_000, refill: '7/h' }),
  fixedWindow({ quota: 1_000, window: '1d' }),
  slidingWindow({ quota: 600, window: '90s' }),
  slidingLog({ quota: 5, window: '1h' }),
]
const plainLimit = (limiter: Limiter, cost?: number) =>
  new PlainLimit<string>({ limiter, keyOf: (key) => key, verdictOf: () => expect.unreachable() }, cost)
const whole = (max: number) => fc.nat({ max })

suite('a plain limit', () => {
  it('tells the quota as describe does, whatever it has told before', () => {
    // So many and so close that texts are asked for again and put each other out of their places.
    const numbers = fc.tuple(whole(600), fc.oneof(whole(5_000), whole(400_000), fc.constant(Infinity)))
    fc.assert(
      fc.property(fc.constantFrom(...limits), fc.array(numbers, { minLength: 50, maxLength: 300 }), (limit, traces) => {
        const limiter = createLimiter({ name: 'api', limit })
        const plain = plainLimit(limiter)
        for (const [remaining, nextUnitAfterMs] of traces) {
          const decision = { ...limiter.peek('anybody'), remaining, nextUnitAfterMs }
          const { headers } = describe({ name: 'api', limit, decision })
          expect(plain.quotaField(decision)).toBe(headers.RateLimit)
          expect(plain.policyField).toBe(headers['RateLimit-Policy'])
        }
      }),
    )
  })

  it('takes the cost that it was told', () => {
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 10, refill: '1/h' }) })
    const plain = plainLimit(limiter, 4)
    expect([1, 2, 3].map(() => plain.decide('a').allowed)).toEqual([true, true, false])
  })
})
