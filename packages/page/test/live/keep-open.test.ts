import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { keepOpen } from '../../src/live/keep-open.js'

const HALF_A_MINUTE = 30_000

/** A tab that a test shows and hides. */
class Tab extends EventTarget {
  hidden = false

  turn(hidden: boolean): void {
    this.hidden = hidden
    this.dispatchEvent(new Event('visibilitychange'))
  }
}

let tab: Tab
let calls: string[]
const link = { start: () => void calls.push('start'), close: () => void calls.push('close') }

beforeEach(() => {
  vi.useFakeTimers()
  tab = new Tab()
  calls = []
  vi.stubGlobal('document', tab)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('a stream ends half a minute after its tab was hidden, and begins again when the tab is seen', () => {
  const leave = keepOpen(link)
  tab.turn(true)
  vi.advanceTimersByTime(HALF_A_MINUTE - 1)
  expect(calls).toEqual(['start'])
  vi.advanceTimersByTime(1)
  expect(calls).toEqual(['start', 'close'])
  tab.turn(false)
  expect(calls).toEqual(['start', 'close', 'start'])
  leave()
})

it('a moment in another tab ends nothing', () => {
  const leave = keepOpen(link)
  for (let turn = 0; turn < 5; turn++) {
    tab.turn(true)
    vi.advanceTimersByTime(HALF_A_MINUTE - 1)
    tab.turn(false)
    vi.advanceTimersByTime(HALF_A_MINUTE)
  }
  expect(calls).toEqual(['start'])
  leave()
})

it('a tab that opens behind another one waits until it is seen', () => {
  tab.hidden = true
  const leave = keepOpen(link)
  expect(calls).toEqual([])
  tab.turn(false)
  expect(calls).toEqual(['start'])
  leave()
})

it('a view that is left hears of its tab no more', () => {
  const leave = keepOpen(link)
  tab.turn(true)
  leave()
  vi.advanceTimersByTime(HALF_A_MINUTE)
  tab.turn(false)
  expect(calls).toEqual(['start', 'close'])
})
