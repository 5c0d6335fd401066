import { expect, test } from 'vitest'
import { PageSize } from '../../src/stores/redis/page-size.js'

/** The sizes of pages over a link where an answer takes `answerMs`, and `overrideMs` more for each override in it. */
function sizes(deadlineMs: number, answerMs: number, overrideMs: number): readonly number[] {
  const pages = new PageSize(deadlineMs)
  return Array.from({ length: 30 }, () => {
    const size = pages.current
    pages.read(answerMs + size * overrideMs, true)
    return size
  })
}

test('pages stay small on a slow link, so that a decision behind a page is in time', () => {
  // An override has 120 bytes. At 200 KB/s and at 1 MB/s no page takes more than half of the deadline.
  expect(Math.max(...sizes(50, 1, 0.6))).toBeLessThanOrEqual(40)
  expect(Math.max(...sizes(50, 1, 0.12))).toBeLessThanOrEqual(200)
})

test('pages grow to the largest size on a fast link, and on a fast link with a long delay', () => {
  expect(sizes(50, 0.2, 0.002).at(-1)).toBe(500)
  expect(sizes(50, 100, 0.002).at(-1)).toBe(500)
})

test('pages shrink when a link becomes slow, and a failure halves them', () => {
  const pages = new PageSize(50)
  for (let i = 0; i < 10; i++) pages.read(1, true)
  expect(pages.current).toBe(500)
  for (let i = 0; i < 10; i++) pages.read(1 + pages.current * 0.6, true)
  expect(pages.current).toBeLessThanOrEqual(40)
  const before = pages.current
  pages.failed()
  expect(pages.current).toBe(Math.floor(before / 2))
})
