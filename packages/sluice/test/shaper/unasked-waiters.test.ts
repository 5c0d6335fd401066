import { expect, it } from 'vitest'
import type { StoreLine, StoreWaiter } from '../../src/shaper/store-line.js'
import { UnaskedWaiters } from '../../src/shaper/unasked-waiters.js'

const lines = ['one', 'other'] as unknown as StoreLine[]

function fill(count: number) {
  const unasked = new UnaskedWaiters()
  const waiters = Array.from({ length: count }, (_, i) => ({ owner: lines[i % 2] }) as StoreWaiter)
  for (const waiter of waiters) unasked.add(waiter)
  return { unasked, waiters }
}

it('waiters are taken as they came, without those that have left', () => {
  const { unasked, waiters } = fill(6)
  unasked.delete(waiters[0])
  unasked.delete(waiters[0])
  unasked.delete(waiters[3])
  expect([unasked.size, ...lines.map((line) => unasked.countIn(line))]).toEqual([4, 2, 2])
  expect(unasked.takeFirst()).toBe(waiters[1])
  unasked.add(waiters[0])
  for (const i of [2, 4, 5, 0]) expect(unasked.takeFirst()).toBe(waiters[i])
  expect([unasked.takeFirst(), unasked.size, unasked.countIn(lines[0])]).toEqual([undefined, 0, 0])
  unasked.add(waiters[1])
  unasked.delete(waiters[1])
  unasked.add(waiters[2])
  expect(unasked.takeFirst()).toBe(waiters[2])
})

it('a million waiters are taken one by one, in time that grows with their number only', () => {
  const timeOf = (count: number) => {
    const { unasked } = fill(count)
    const startMs = performance.now()
    for (let i = 0; i < count; i++) unasked.takeFirst()
    expect(unasked.size).toBe(0)
    return performance.now() - startMs
  }
  const fewMs = timeOf(10_000)
  // A hundred times as many. Quadratic time would be ten thousand times as long.
  expect(timeOf(1_000_000)).toBeLessThan(2_000 * Math.max(fewMs, 5))
})
