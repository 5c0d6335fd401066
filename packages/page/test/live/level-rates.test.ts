import { describe, expect, it } from 'vitest'
import { lastMinute, levelRates, orderedLevels } from '../../src/live/level-rates.js'
import { PageHistory } from '../../src/live/page-history.js'
import { frameOf, helloOf, levelsOf } from './live-frames.js'

const NAMES = ['quiet', 'busy', 'strict', 'tried?', 'level-10', 'level-9']
const COUNTS = [0, 0, 0, 0, 900, 0, 0, 0, 10, 5, 0, 1, 20, 0, 8, 0, 1, 0, 0, 0, 1, 0, 0, 0]

function historyOf(counts: readonly (readonly number[])[]): PageHistory {
  const seconds = counts.map((levels, second) => frameOf((second + 1) * 1_000, { levels }))
  return PageHistory.of(helloOf({ levels: levelsOf(NAMES), seconds }))
}

function namesBy(order: 'denials' | 'load' | 'name', text = ''): string[] {
  return orderedLevels(levelRates(historyOf([COUNTS])), order, text).map(({ level }) => level.name)
}

describe('the table of levels', () => {
  it('has means of the last ten seconds', () => {
    const old = COUNTS.map(() => 1_000)
    const rates = levelRates(historyOf([old, ...Array.from({ length: 10 }, () => COUNTS)]))
    expect(rates[1]).toMatchObject({ admitted: 900, denied: 0 })
    expect(rates[2]).toMatchObject({ admitted: 10, denied: 5, degraded: 1 })
    expect(rates[3]).toMatchObject({ admitted: 20, denied: 8 })
  })

  it('has zeros before the first frame', () => {
    expect(levelRates(historyOf([]))[1]).toMatchObject({ admitted: 0, denied: 0, degraded: 0 })
  })

  it('by denials: what is denied, then what a level in shadow would deny, then load', () => {
    expect(namesBy('denials').slice(0, 3)).toEqual(['strict', 'tried', 'busy'])
  })

  it('by load, and equal levels in the order of the policy', () => {
    expect(namesBy('load')).toEqual(['busy', 'tried', 'strict', 'level-10', 'level-9', 'quiet'])
  })

  it('by name, with numbers as numbers', () => {
    expect(namesBy('name')).toEqual(['busy', 'level-9', 'level-10', 'quiet', 'strict', 'tried'])
  })

  it('is filtered by name and by limits, in any case', () => {
    expect(namesBy('name', ' LEVEL-1')).toEqual(['level-10'])
    expect(namesBy('name', 'Bucket')).toHaveLength(NAMES.length)
    expect(namesBy('name', 'window')).toEqual([])
  })

  it('draws the last minute of a level', () => {
    const { admitted, denied } = lastMinute(historyOf(Array.from({ length: 70 }, () => COUNTS)), 3)
    expect(admitted).toEqual(Array(60).fill(20))
    expect(denied).toEqual(Array(60).fill(8))
  })
})
