import { expect, test } from 'vitest'
import { timeText, untilText } from '../../src/parts/time-text.js'

const now = new Date(2026, 10, 19, 14, 2, 33).getTime()

test('a time of today is a time, another has its day', () => {
  expect(timeText(now, now)).toBe('14:02:33')
  expect(timeText(new Date(2026, 10, 20, 0, 0, 5).getTime(), now)).toBe('20 Nov, 00:00:05')
  expect(timeText(new Date(2027, 0, 1, 9, 30, 0).getTime(), now)).toBe('1 Jan 2027, 09:30:00')
})

test('what has no end stays until it is removed', () => {
  expect(untilText(undefined)).toBe('until it is removed')
})
