import { expect, test } from 'vitest'
import { periodAt } from '../../src/envoy-rules/calendar.js'
import { rulesHere, UNITS } from './rules-here.js'

const DAY = 86_400_000

test.each([
  ['week', '2026-11-19T12:00Z', 'week-2026-11-16', '2026-11-23'],
  ['week', '2026-11-16T00:00Z', 'week-2026-11-16', '2026-11-23'],
  ['week', '2026-11-15T23:59:59.999Z', 'week-2026-11-09', '2026-11-16'],
  ['week', '2027-01-01T00:00Z', 'week-2026-12-28', '2027-01-04'],
  ['month', '2028-02-29T12:00Z', '2028-02', '2028-03-01'],
  ['month', '2026-12-31T23:59:59.999Z', '2026-12', '2027-01-01'],
  ['year', '2026-12-31T23:59:59.999Z', '2026', '2027-01-01'],
] as const)('the %s of %s is %s', (unit, now, name, end) => {
  const period = periodAt(unit, Date.parse(now))
  expect(period).toMatchObject({ name, endMs: Date.parse(end) })
  expect(periodAt(unit, period.startMs)).toEqual(period)
  expect(periodAt(unit, period.endMs - 1)).toEqual(period)
  expect(periodAt(unit, period.endMs).startMs).toBe(period.endMs)
})

test.each([
  ['week', UNITS.week, Date.UTC(2026, 10, 23)],
  ['month', UNITS.month, Date.UTC(2026, 11, 1)],
  ['year', UNITS.year, Date.UTC(2027, 0, 1)],
] as const)('a limit per %s counts until the calendar says so', (unit, number, end) => {
  const yaml = `domain: test\ndescriptors: [{ key: a, rate_limit: { unit: ${unit}, requests_per_unit: 1 } }]`
  const { ask, clock } = rulesHere(yaml)
  const untilResetMs = end - clock.now()
  expect(ask('a=x').statuses[0]).toMatchObject({
    currentLimit: { requestsPerUnit: 1, unit: number },
    limitRemaining: 0,
    untilResetMs,
  })
  clock.advance(untilResetMs - 1)
  expect(ask('a=x').statuses[0]).toMatchObject({ code: 2, untilResetMs: 1 })
  clock.advance(1)
  expect(ask('a=x').codes).toEqual(['OK 0'])
  clock.advance(DAY)
  expect(ask('a=x').overall).toBe('OVER_LIMIT')
})
