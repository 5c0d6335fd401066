import { expect, test } from 'vitest'
import { PageSize } from '../../src/stores/redis/redis-overrides.js'

/** The sizes of pages over a link where an answer takes so long, and each override in it so much longer. */
function sizes(deadlineMs: number, answerMs: number, overrideMs: number): readonly number[] {
  const pages = new PageSize(deadlineMs)
  return Array.from({ length: 30 }, () => {
    const size = pages.current
    pages.read(answerMs + size * overrideMs, true)
    return size
  })
}

test('on a slow link pages stay small, so that a decision behind one is in time', () => {
  // 120 bytes each, at 200 KB/s and at 1 MB/s: no page takes more than half of the deadline.
  expect(Math.max(...sizes(50, 1, 0.6))).toBeLessThanOrEqual(40)
  expect(Math.max(...sizes(50, 1, 0.12))).toBeLessThanOrEqual(200)
})

test('on a quick link, and on one that is only far, pages grow to the most', () => {
  expect(sizes(50, 0.2, 0.002).at(-1)).toBe(500)
  expect(sizes(50, 100, 0.002).at(-1)).toBe(500)
})

test('a link that becomes slow makes pages small again, and a failure halves them', () => {
  const pages = new PageSize(50)
  for (let i = 0; i < 10; i++) pages.read(1, true)
  expect(pages.current).toBe(500)
  for (let i = 0; i < 10; i++) pages.read(1 + pages.current * 0.6, true)
  expect(pages.current).toBeLessThanOrEqual(40)
  const before = pages.current
  pages.failed()
  expect(pages.current).toBe(Math.floor(before / 2))
})
