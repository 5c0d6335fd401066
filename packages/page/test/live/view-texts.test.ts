import { describe, expect, it } from 'vitest'
import { rowText } from '../../src/live/chart-legend.js'
import { rowsOf } from '../../src/live/chart-table.js'
import { DECISIONS, decisionSummary } from '../../src/live/decisions-panel.js'
import { clockText } from '../../src/live/draw-chart.js'
import { latencySummary } from '../../src/live/latency-panel.js'
import { checkCommand } from '../../src/live/no-traffic.js'
import { storeFigureText } from '../../src/live/store-panel.js'

const series = {
  times: [10, 11, 12],
  columns: [
    [100, null, 300],
    [0, null, 100],
    [0, null, 0],
  ],
}

describe('the texts of the live view', () => {
  it('a chart of decisions has its means and its peak', () => {
    const [from, to] = [clockText(10_000), clockText(12_000)]
    expect(decisionSummary(series)).toBe(
      `From ${from} to ${to}: 200/s allowed and 50/s denied on average (20 %), at most 400/s at ${to}.`,
    )
    expect(decisionSummary({ times: [], columns: [[], [], []] })).toBe('No data yet.')
  })

  it('a chart of latencies has the last and the worst', () => {
    const latency = {
      times: [10, 11],
      columns: [
        [0.2, 0.1],
        [5, 1],
      ],
    }
    expect(latencySummary(latency)).toBe(
      `At ${clockText(11_000)}: p50 100 µs, p99 1 ms. The largest p99 was 5 ms at ${clockText(10_000)}.`,
    )
    expect(latencySummary({ times: [1], columns: [[null], [null]] })).toBe('No decisions yet.')
  })

  it('a row has its time and every line', () => {
    expect(rowText(DECISIONS, series, 2)).toBe(`${clockText(12_000)}: Allowed 300/s, Denied 100/s, Degraded 0/s`)
    expect(rowText(DECISIONS, series, 1)).toBe(`${clockText(11_000)}: Allowed –, Denied –, Degraded –`)
  })

  it('a table has the last row and no more than can be read', () => {
    expect(rowsOf(series)).toEqual([2, 1, 0])
    const rows = rowsOf({ times: Array.from({ length: 300 }, (_, at) => at), columns: [] })
    expect(rows[0]).toBe(299)
    expect(rows).toHaveLength(30)
  })

  it('a figure of the store has its unit', () => {
    const textOf = (value: number, unit: '' | 'bytes' | '/s' | 'units') => storeFigureText({ name: '', value, unit })
    expect([textOf(1.8e6, 'bytes'), textOf(340, '/s'), textOf(12, 'units'), textOf(12_840, '')]).toEqual([
      '1.8 MB',
      '340/s',
      '12 units',
      '12,840',
    ])
  })

  it('the command asks about every attribute of the policy', () => {
    expect(checkCommand('http://127.0.0.1:8080', ['merchant', 'method'])).toBe(
      `curl -s http://127.0.0.1:8080/v1/check -d '{"attributes":{"merchant":"merchant_1","method":"POST"}}'`,
    )
  })

  it('a name with a quote cannot end the command', () => {
    const command = checkCommand('http://x', ["a'; rm b; '"])
    const body = /-d '([^']*)'$/.exec(command)?.[1] ?? ''
    expect(JSON.parse(body)).toEqual({ attributes: { "a'; rm b; '": "a'; rm b; '_1" } })
  })
})
