import { expect } from 'vitest'
import type { OnFailure } from '../../src/stores/index.js'
import { CAPACITY, INSTANCES, type Load, REFILL_PER_MS, type Tally } from './faults-load.js'

/** How late an answer may be, beyond its deadline and what the event loop was late. */
const SLACK_MS = 20

/** What holds for any fault, once the callers have stopped. */
export function expectPromptAnswers({ worstExcessMs, errors }: Load): void {
  expect(errors).toEqual([])
  expect(worstExcessMs).toBeLessThanOrEqual(SLACK_MS)
}

/**
 * What may be admitted around a fault. By Redis: `capacity + refill · time`, and `capacity` more each time that its state
 * was lost. Without Redis: nothing if closed, one share of the limit if local, and if open everything.
 */
export function expectBoundedAdmissions(tallies: Readonly<Record<OnFailure, Tally>>, timesLost: number): void {
  const { closed, local, open } = tallies
  for (const tally of [closed, local, open]) {
    expect(tally.admitted).toBeLessThanOrEqual((1 + timesLost) * CAPACITY + REFILL_PER_MS * tally.spanMs)
  }
  expect(closed.degradedAdmitted).toBe(0)
  const outageMs = Math.max(0, local.lastDegradedMs - local.firstDegradedMs)
  // Times are read when answers arrive, hence a few milliseconds more.
  const share = CAPACITY / INSTANCES + (REFILL_PER_MS / INSTANCES) * (outageMs + 100)
  expect(local.degradedAdmitted).toBeLessThanOrEqual(share)
  expect(open.degradedAdmitted).toBe(open.degraded)
  for (const way of ['closed', 'local', 'open'] as const) {
    for (const each of tallies[way].ways) expect(each).toBe(way)
  }
}

/** No call ran twice, and what Redis said it did is done, unless its state was lost. */
export function expectNothingTwice(charged: ReadonlyMap<number, number>, confirmed: ReadonlySet<number>): void {
  expect([...charged].filter(([, times]) => times !== 1)).toEqual([])
  expect([...confirmed].filter((id) => !charged.has(id))).toEqual([])
}
