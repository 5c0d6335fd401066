import fc from 'fast-check'
import { expect, it } from 'vitest'
import { worstBurst } from './law.js'
import { worstBurstOfSpans } from './span-law.js'

const times = fc.array(fc.record({ sentUs: fc.nat(5_000), lastsUs: fc.constantFrom(0, 0, 1, 50, 700) }), {
  minLength: 1,
  maxLength: 60,
})

it('of spans, the worst burst is that of the interval which holds most of them, beyond its refill', () => {
  fc.assert(
    fc.property(times, fc.constantFrom(1, 1_000, 30_000), (given, perSecond) => {
      const spans = given.map(({ sentUs, lastsUs }) => ({ sentUs, answeredUs: sentUs + lastsUs }))
      const bursts = spans.flatMap(({ sentUs: fromUs }) =>
        spans.map(({ answeredUs: toUs }) => {
          const inside = spans.filter(({ sentUs, answeredUs }) => sentUs >= fromUs && answeredUs <= toUs)
          return inside.length - (perSecond * Math.max(0, toUs - fromUs)) / 1e6
        }),
      )
      expect(worstBurstOfSpans(spans, perSecond)).toBeCloseTo(Math.max(0, ...bursts), 6)
    }),
  )
})

it('of spans without a length, the worst burst is that of admissions', () => {
  fc.assert(
    fc.property(times, fc.constantFrom(1, 1_000, 30_000), (given, perSecond) => {
      const atUs = given.map(({ sentUs }) => sentUs).sort((one, other) => one - other)
      const burst = worstBurst(
        atUs.map((us) => ({ atMs: us / 1_000, units: 1 })),
        perSecond,
      )
      const spans = atUs.map((us) => ({ sentUs: us, answeredUs: us }))
      expect(worstBurstOfSpans(spans, perSecond)).toBeCloseTo(burst, 6)
    }),
  )
})
