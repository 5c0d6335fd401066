import fc from 'fast-check'
import { tokenBucket } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import { cursorWords } from '../../src/lab/charts/cursor-words.js'
import { markTime } from '../../src/lab/charts/mark-time.js'
import { SLIDER_STEPS, sliderStep, sliderValue, splitDuration, splitRate } from '../../src/lab/controls/slider-scale.js'
import { simulate } from '../../src/lab/engine/simulate.js'

describe('a slider', () => {
  const scale = { least: 1, most: 10_000, isWhole: true }

  it('goes from its least to its most value, in ratios', () => {
    expect([0, 50, 100, SLIDER_STEPS].map((step) => sliderValue(step, scale))).toEqual([1, 10, 100, 10_000])
    expect([1, 10, 100, 10_000].map((value) => sliderStep(value, scale))).toEqual([0, 50, 100, 200])
  })

  it('stays at its ends for values beyond them, and for none', () => {
    expect([0, -5, NaN, 1e9].map((value) => sliderStep(value, scale))).toEqual([0, 0, 0, SLIDER_STEPS])
  })

  it('gives fractions where they are right', () => {
    expect(sliderValue(0, { least: 0.01, most: 100, isWhole: false })).toBe(0.01)
  })
})

describe('a number and its unit', () => {
  it('are parts of what was typed, whatever it was', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const { amount, unit } of [splitRate(text), splitDuration(text)]) expect(amount + unit).toBe(text)
      }),
    )
    expect(splitRate('5/250ms')).toEqual({ amount: '5', unit: '/250ms' })
    expect(splitDuration('1.5m')).toEqual({ amount: '1.5', unit: 'm' })
    expect(splitDuration('250ms')).toEqual({ amount: '250', unit: 'ms' })
  })
})

describe('times', () => {
  it.each([
    [0.0502, 0.2, '50.2 ms'],
    [59.9, 60, '59.9 s'],
    [59.9, 120, '0:59.9'],
    [90, 120, '1:30'],
    [5_400, 9_000, '1:30 h'],
  ])('%d s of %d s is %s', (seconds, span, text) => {
    expect(markTime(seconds, span)).toBe(text)
  })
})

describe('the cursor', () => {
  const limit = tokenBucket({ capacity: 20, refill: '10/s' })
  const atUs = Float64Array.of(...new Array<number>(21).fill(0), 2_000_000)
  const traffic = { originUs: 0, atUs, lengthUs: 3_000_000 }
  const run = simulate(limit, traffic, 1, 1_000_000)

  it('tells what is at its time', () => {
    expect(cursorWords(run, 3_000_000, 0)).toEqual({
      time: '0 s',
      requests: '20 allowed, 1 denied',
      level: '0 of 20 left',
    })
    expect(cursorWords(run, 3_000_000, 1.25).level).toBe('12.5 of 20 left')
    expect(cursorWords(run, 3_000_000, 99).requests).toBe('0 allowed, 0 denied')
  })
})
