import { describe, expect, test } from 'vitest'
import { defaultBounds } from '../../dist/http2/bounds.js'
import { Patience } from '../../dist/http2/patience.js'

const bounds = { ...defaultBounds, helloMs: 10, blockMs: 20, stalledMs: 30, idleMs: 100, lingerMs: 5 }
const still = { calls: 0, lastCallMs: 0, queuedBytes: 0, takenBytes: 0 }

function greeted(atMs = 1_000): Patience {
  const patience = new Patience(bounds, atMs)
  patience.greeted()
  return patience
}

describe('the patience with a connection', () => {
  test('ends if the client does not greet in time', () => {
    const patience = new Patience(bounds, 1_000)
    expect([1_009, 1_010].map((ms) => patience.due(ms, still))).toEqual([undefined, 'cut'])
  })

  test('ends if a frame or header block takes too long, whatever comes meanwhile', () => {
    const patience = greeted()
    patience.read(true, 1_010)
    patience.read(true, 1_020)
    expect([1_029, 1_030].map((ms) => patience.due(ms, still))).toEqual([undefined, 'slow-block'])
    patience.read(false, 1_031)
    patience.read(true, 1_032)
    expect([1_051, 1_052].map((ms) => patience.due(ms, still))).toEqual([undefined, 'slow-block'])
  })

  test('ends if the client takes nothing of what is queued for it', () => {
    const patience = greeted()
    const at = (ms: number, queuedBytes: number, takenBytes: number) =>
      patience.due(ms, { ...still, queuedBytes, takenBytes })
    expect(at(1_000, 500, 100)).toBeUndefined()
    // It has taken a byte.
    expect(at(1_020, 499, 101)).toBeUndefined()
    expect(at(1_040, 499, 101)).toBeUndefined()
    expect(at(1_069, 700, 101)).toBeUndefined()
    expect(at(1_070, 700, 101)).toBe('cut')
    expect(at(1_071, 0, 801)).toBeUndefined()
  })

  test('counts idle time from the last call', () => {
    const patience = greeted()
    expect(patience.due(1_099, still)).toBeUndefined()
    expect(patience.due(1_100, still)).toBe('leave')
    expect(patience.due(1_150, { ...still, lastCallMs: 1_120 })).toBeUndefined()
    expect(patience.due(1_300, { ...still, calls: 1 })).toBeUndefined()
    expect(patience.due(1_399, still)).toBeUndefined()
    expect(patience.due(1_400, still)).toBe('leave')
  })

  test('is short when the connection was ended', () => {
    const patience = greeted()
    patience.ended(1_050)
    expect([1_054, 1_055].map((ms) => patience.due(ms, still))).toEqual([undefined, 'cut'])
  })
})
