import { describe, expect, it } from 'vitest'
import { PageHistory } from '../../src/live/page-history.js'
import { decisionSeries, latencySeries, levelSeries, ringFor, sumOf } from '../../src/live/time-series.js'
import { frameOf, helloOf, levelsOf } from './live-frames.js'

const ALL = { fromMs: 0, toMs: 300_000 }

describe('series over time', () => {
  it('are rates by the real length of each frame', () => {
    const history = PageHistory.of(
      helloOf({ seconds: [frameOf(2_000, { elapsedMs: 2_000, allowed: 10, denied: 4, degraded: 1 })] }),
    )
    expect(decisionSeries(history, ALL)).toEqual({ times: [2], columns: [[5], [2], [0.5]] })
  })

  it('have a gap where frames are missing, and nowhere else', () => {
    const seconds = [1_000, 2_010, 3_000, 9_000].map((atMs) => frameOf(atMs, { allowed: 1 }))
    const { times, columns } = decisionSeries(PageHistory.of(helloOf({ seconds })), ALL)
    expect(times).toEqual([1, 2.01, 3, 8, 9])
    expect(columns[0]).toEqual([1, 1, 1, null, 1])
  })

  it('begin one row before the range and end one after it', () => {
    const seconds = Array.from({ length: 20 }, (_, second) => frameOf((second + 1) * 1_000))
    const history = PageHistory.of(helloOf({ seconds }))
    expect(decisionSeries(history, { fromMs: 5_500, toMs: 8_500 }).times).toEqual([5, 6, 7, 8, 9])
  })

  it('of latency have none without decisions', () => {
    const seconds = [frameOf(1_000, { denied: 1, p50Ms: 0.2, p99Ms: 3 }), frameOf(2_000)]
    expect(latencySeries(PageHistory.of(helloOf({ seconds })), ALL).columns).toEqual([
      [0.2, null],
      [3, null],
    ])
  })

  it('of a level are its own; in shadow, denials are those that it would make', () => {
    const seconds = [frameOf(1_000, { levels: [1, 2, 3, 4, 5, 0, 7, 8] }), frameOf(2_000, { version: 9 })]
    const history = PageHistory.of(helloOf({ levels: levelsOf(['a', 'b?']), seconds }))
    expect(levelSeries(history, ALL, 0).columns).toEqual([
      [1, null],
      [2, null],
      [4, null],
    ])
    expect(levelSeries(history, ALL, 1).columns).toEqual([
      [5, null],
      [7, null],
      [8, null],
    ])
  })
})

describe('ringFor', () => {
  const seconds = Array.from({ length: 300 }, (_, second) => frameOf(3_300_000 + (second + 1) * 1_000))
  const tens = Array.from({ length: 360 }, (_, ten) => frameOf((ten + 1) * 10_000, { elapsedMs: 10_000 }))
  const full = PageHistory.of(helloOf({ seconds, tens }))

  it.each([
    { what: 'a minute', range: { fromMs: 3_540_000, toMs: 3_600_000 }, by: 'seconds' },
    { what: 'five minutes', range: { fromMs: 3_300_000, toMs: 3_600_000 }, by: 'seconds' },
    { what: 'fifteen minutes', range: { fromMs: 2_700_000, toMs: 3_600_000 }, by: 'tens' },
    { what: 'a minute of long ago', range: { fromMs: 600_000, toMs: 660_000 }, by: 'tens' },
  ] as const)('$what is by $by', ({ range, by }) => {
    expect(ringFor(full, range)).toBe(full[by])
  })

  it('a young service is drawn by seconds', () => {
    const young = PageHistory.of(helloOf({ seconds: seconds.slice(0, 30) }))
    expect(ringFor(young, { fromMs: 3_000_000, toMs: 3_300_000 })).toBe(young.seconds)
  })
})

describe('sumOf', () => {
  it('adds rows, and leaves gaps', () => {
    expect(
      sumOf([
        [1, null, 3],
        [10, null, 30],
      ]),
    ).toEqual([11, null, 33])
  })
})
