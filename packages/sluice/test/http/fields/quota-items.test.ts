import fc from 'fast-check'
import { fixedWindow, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { Guard, type Passage } from 'sluice/http'
import { expect, it, describe as suite } from 'vitest'
import { QuotaItems } from '../../../src/http/quota-items.js'

const limits = [
  tokenBucket({ capacity: 3, refill: '1/m' }),
  tokenBucket({ capacity: 100_000, refill: '7/h' }),
  fixedWindow({ quota: 1_000, window: '1d' }),
  slidingWindow({ quota: 600, window: '90s' }),
  slidingLog({ quota: 5, window: '1h' }),
]
const whole = (max: number) => fc.nat({ max })
const reader = {
  method: () => 'GET',
  url: () => '/',
  remoteAddress: () => '192.0.2.1',
  field: () => undefined,
}

suite('the items of a limit', () => {
  it('say the remaining units and the seconds until the next one', () => {
    const numbers = fc.tuple(whole(600), fc.oneof(whole(5_000), whole(400_000), fc.constant(Infinity)))
    fc.assert(
      fc.property(fc.constantFrom(...limits), fc.array(numbers, { minLength: 50, maxLength: 300 }), (limit, traces) => {
        const items = [new QuotaItems(limit, 'api'), new QuotaItems(limit, 'other')]
        for (const [remaining, nextUnitAfterMs] of traces) {
          const decision = { remaining, nextUnitAfterMs } as Parameters<QuotaItems['remaining']>[0]
          const tellsWhen = nextUnitAfterMs > 0 && nextUnitAfterMs < Infinity
          const time = tellsWhen ? `;t=${Math.ceil(nextUnitAfterMs / 1_000)}` : ''
          for (const each of items) expect(each.remaining(decision)).toBe(`"${each.label}";r=${remaining}${time}`)
        }
      }),
    )
  })

  it('are the same in the fields of a plain passage and in all fields of the passage', () => {
    for (const limit of limits) {
      const guard = new Guard({ limit, cost: 2 }, reader)
      for (let i = 0; i < 2; i++) {
        const passage = guard.enter({}) as Passage
        expect(passage.isPlain).toBe(passage.allowed)
        if (!passage.allowed) continue
        expect(passage.headers).toEqual({ 'RateLimit-Policy': passage.policyField, RateLimit: passage.quotaField })
      }
    }
  })
})
