import fc from 'fast-check'
import type { Verdict } from 'sluice'
import { expect, test } from 'vitest'
import { verdictText } from '../../src/doors/verdict-text.js'

const wait = fc.oneof(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), fc.constant(Infinity), fc.nat())
const units = fc.oneof(fc.maxSafeNat(), fc.constant(Infinity))
const number = fc.oneof(fc.maxSafeNat(), fc.double({ noNaN: true, noDefaultInfinity: true }))
const degraded = fc.constantFrom('open', 'closed', 'local')
const decision = fc.record(
  {
    allowed: fc.boolean(),
    quota: units,
    remaining: units,
    retryAfterMs: wait,
    nextUnitAfterMs: wait,
    resetAfterMs: wait,
    delayMs: number,
    degraded,
  },
  { requiredKeys: ['allowed', 'quota', 'remaining', 'retryAfterMs', 'nextUnitAfterMs', 'resetAfterMs', 'delayMs'] },
)
const level = fc.record(
  { name: fc.string({ unit: 'binary' }), limit: fc.constant({}), decision, shadow: fc.constant(true) },
  { requiredKeys: ['name', 'limit', 'decision'] },
)
const verdict = fc.record(
  {
    allowed: fc.boolean(),
    deniedBy: fc.array(fc.string({ unit: 'binary' })),
    levels: fc.array(level, { maxLength: 5 }),
    retryAfterMs: wait,
    delayMs: number,
    degraded,
  },
  { requiredKeys: ['allowed', 'deniedBy', 'levels', 'retryAfterMs', 'delayMs'] },
)

test('the text of a verdict is the JSON of its members, with each decision beside the name of its level', () => {
  fc.assert(
    fc.property(verdict, (given) => {
      const { levels, ...members } = given
      const flat = levels.map(({ name, decision: own, shadow }) => ({ name, ...own, ...(shadow && { shadow }) }))
      const expected = JSON.parse(JSON.stringify({ ...members, levels: flat }))
      expect(JSON.parse(verdictText(given as unknown as Verdict))).toEqual(expected)
    }),
  )
})
