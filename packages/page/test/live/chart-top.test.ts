import { expect, it } from 'vitest'
import { chartTop } from '../../src/live/chart-top.js'

/** A p50 of 1 ms, and these values of p99, one a second. */
function seriesOf(p99: readonly (number | null)[]) {
  return { times: p99.map((_, row) => row), columns: [p99.map((each) => each && 1), p99] }
}

const HOUR = { fromMs: 0, toMs: 3_600_000 }
const usual = (count: number) => Array.from({ length: count }, (_, row) => 2 + (row % 3) / 2)

it('one slow second does not flatten an hour, and is told', () => {
  expect(chartTop(seriesOf([120, ...usual(359)]), HOUR)).toEqual({ value: 4.5, largest: 120, atS: 0 })
})

it('a chart has room for a few more than usual, and for what is slow for longer', () => {
  expect(chartTop(seriesOf([9, ...usual(59)]), HOUR)).toBeUndefined()
  expect(chartTop(seriesOf([...usual(50), ...Array(10).fill(120)]), HOUR)).toBeUndefined()
})

it('only the values of the shown time count', () => {
  const series = seriesOf([120, ...usual(59)])
  expect(chartTop(series, { fromMs: 1_000, toMs: 60_000 })).toBeUndefined()
  expect(chartTop(series, { fromMs: 0, toMs: 10_000 })).toMatchObject({ largest: 120 })
})

it('a chart of nothing, of gaps or of one value is whole', () => {
  for (const p99 of [[], [null, null], [120], [null, 120, null]]) expect(chartTop(seriesOf(p99), HOUR)).toBeUndefined()
})
