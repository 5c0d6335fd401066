import { describe, expect, it } from 'vitest'
import { PageHistory } from '../../src/live/page-history.js'
import { frameOf, helloOf, levelsOf } from './live-frames.js'

function historyOf(names: readonly string[]): PageHistory {
  return PageHistory.of(helloOf({ levels: levelsOf(names) }))
}

describe('PageHistory', () => {
  it('keeps five minutes by the second and an hour by ten seconds, however long it runs', () => {
    const history = historyOf(['a'])
    for (let second = 1; second <= 10_000; second++) history.add(frameOf(second * 1_000, { levels: [1, 0, 0, 0] }))
    expect(history.seconds.size).toBe(300)
    expect(history.tens.size).toBe(360)
    expect(history.retainedPoints).toBe(660)
    expect(history.seconds.total(0, 'atMs')).toBe(9_701_000)
    expect(history.seconds.total(299, 'atMs')).toBe(10_000_000)
    expect(history.tens.total(359, 'atMs')).toBe(10_000_000)
  })

  it('adds ten seconds up', () => {
    const history = historyOf(['a', 'b'])
    for (let second = 1; second <= 10; second++)
      history.add(
        frameOf(second * 1_000, {
          allowed: second,
          denied: 1,
          errors: 2,
          degraded: 3,
          p50Ms: second,
          p99Ms: 20 - second,
          worstDelayMs: second,
          levels: [second, 1, 2, 3, 4, 5, 6, 7],
        }),
      )
    const { tens } = history
    expect(tens.size).toBe(1)
    expect(tens.total(0, 'atMs')).toBe(10_000)
    expect(tens.total(0, 'elapsedMs')).toBe(10_000)
    expect(tens.total(0, 'allowed')).toBe(55)
    expect(tens.total(0, 'denied')).toBe(10)
    expect(tens.total(0, 'errors')).toBe(20)
    expect(tens.total(0, 'degraded')).toBe(30)
    // The mean by decisions: the sum of s·(s + 1) over the sum of (s + 1), for s from 1 to 10.
    expect(tens.total(0, 'p50Ms')).toBeCloseTo(440 / 65, 10)
    expect(tens.total(0, 'p99Ms')).toBe(19)
    expect(tens.total(0, 'worstDelayMs')).toBe(10)
    expect(tens.count(0, 0, 'admitted')).toBe(55)
    expect(tens.count(0, 1, 'degraded')).toBe(70)
  })

  it('does not count a second twice that is in the hour of the first event', () => {
    const tens = [
      frameOf(10_000, { elapsedMs: 10_000, allowed: 100 }),
      frameOf(20_000, { elapsedMs: 10_000, allowed: 100 }),
    ]
    const seconds = Array.from({ length: 25 }, (_, second) => frameOf((second + 1) * 1_000, { allowed: 10 }))
    const history = PageHistory.of(helloOf({ seconds, tens }))
    expect(history.seconds.size).toBe(25)
    expect(history.tens.size).toBe(2)
    for (let second = 26; second <= 30; second++) history.add(frameOf(second * 1_000, { allowed: 10 }))
    expect(history.tens.size).toBe(3)
    expect(history.tens.total(2, 'allowed')).toBe(100)
  })

  it('keeps the counts of a level whose name stays after a reload', () => {
    const history = historyOf(['a', 'b', 'c'])
    history.add(frameOf(1_000, { levels: [1, 0, 0, 0, 2, 0, 0, 0, 3, 4, 5, 6] }))
    history.useLevels(levelsOf(['c', 'new', 'a'], 2))
    history.add(frameOf(2_000, { version: 2, levels: [7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0] }))
    const admitted = (row: number) => [0, 1, 2].map((level) => history.seconds.count(row, level, 'admitted'))
    expect(admitted(0)).toEqual([3, 0, 1])
    expect(admitted(1)).toEqual([7, 8, 9])
    expect(history.seconds.count(0, 0, 'degraded')).toBe(6)
  })

  it('loses nothing of the ten seconds in which a reload comes', () => {
    const history = historyOf(['a', 'b'])
    for (let second = 1; second <= 6; second++)
      history.add(frameOf(second * 1_000, { allowed: 10, levels: [9, 1, 0, 0, 4, 0, 0, 0] }))
    history.useLevels(levelsOf(['b', 'new'], 2))
    for (let second = 7; second <= 10; second++)
      history.add(frameOf(second * 1_000, { version: 2, allowed: 10, levels: [4, 0, 0, 0, 7, 0, 0, 0] }))
    expect(history.tens.size).toBe(1)
    expect(history.tens.total(0, 'elapsedMs')).toBe(10_000)
    expect(history.tens.total(0, 'allowed')).toBe(100)
    expect(history.tens.count(0, 0, 'admitted')).toBe(40)
    expect(history.tens.count(0, 1, 'admitted')).toBe(28)
  })

  it('has ten seconds of every ten, also if the policy is loaded again each second', () => {
    const history = historyOf(['a'])
    for (let second = 1; second <= 20; second++) {
      history.useLevels(levelsOf(second % 2 === 0 ? ['new', 'a'] : ['a'], second))
      const levels = second % 2 === 0 ? [9, 9, 9, 9, 1, 0, 0, 0] : [1, 0, 0, 0]
      history.add(frameOf(second * 1_000, { version: second, allowed: 5, levels }))
    }
    expect(history.tens.size).toBe(2)
    for (const ten of [0, 1]) {
      expect(history.tens.total(ten, 'allowed')).toBe(50)
      expect(history.tens.count(ten, 1, 'admitted')).toBe(10)
    }
  })

  it('takes the totals, but not the counts, of a frame of other levels', () => {
    const history = historyOf(['a'])
    history.add(frameOf(1_000, { version: 9, allowed: 5, levels: [5, 0, 0, 0] }))
    history.add(frameOf(2_000, { allowed: 6, levels: [6, 0, 0, 0] }))
    expect(history.seconds.total(0, 'allowed')).toBe(5)
    expect(history.seconds.hasCounts(0)).toBe(false)
    expect(history.seconds.count(0, 0, 'admitted')).toBe(0)
    expect(history.seconds.hasCounts(1)).toBe(true)
  })

  it('a copy stays as it is', () => {
    const history = historyOf(['a'])
    history.add(frameOf(1_000, { levels: [1, 2, 3, 4] }))
    const copy = history.copy()
    history.add(frameOf(2_000))
    history.useLevels(levelsOf([], 2))
    expect(copy.retainedPoints).toBe(1)
    expect(copy.levels.version).toBe(1)
    expect(copy.seconds.count(0, 0, 'degraded')).toBe(4)
  })

  it('has no row before the first frame', () => {
    expect(historyOf([]).seconds.total(0, 'atMs')).toBeNaN()
  })
})
