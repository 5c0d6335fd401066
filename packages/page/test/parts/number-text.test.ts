import { expect, test } from 'vitest'
import { bytesText, durationText, numberText, rateText, shareText } from '../../src/parts/number-text.js'

test('a rate has tenths only below ten, so that its width stays from second to second', () => {
  expect([0, 0.42, 9.94, 9.96, 23.4, 88.9, 1_234.5, 2_500_000].map(rateText)).toEqual([
    '0/s',
    '0.4/s',
    '9.9/s',
    '10/s',
    '23/s',
    '89/s',
    '1,235/s',
    '2.5 M/s',
  ])
})

test('every number has its unit', () => {
  expect([numberText(12.34), numberText(12_300), numberText(Infinity)]).toEqual(['12.3', '12,300', '∞'])
  expect([durationText(0.04), durationText(1.2), durationText(3_400)]).toEqual(['40 µs', '1.2 ms', '3.4 s'])
  expect([shareText(1, 250), shareText(37, 100), shareText(0, 0)]).toEqual(['0.4 %', '37 %', '–'])
  expect(bytesText(3_400_000)).toBe('3.4 MB')
})
