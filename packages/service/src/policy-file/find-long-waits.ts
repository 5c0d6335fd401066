import {
  type Limit,
  type PolicyProblem,
  type ReadLevel,
  type SlidingWindow,
  type SlidingWindowOptions,
  slidingLog,
  slidingWindow,
} from 'sluice'
import { durationText, durationUs } from 'sluice/limits'

/** A wait of up to a tenth more than the window gets no warning. */
const TOLERATED = 10

/**
 * Finds sliding windows in which a denied request may have to wait much longer than the window. The window counts its units
 * in slices, and the units of a slice leave it one by one while the slice after the window passes. If the whole quota is taken
 * when a slice begins, the first units for a request of `cost` are back after
 *
 *     window · (1 + cost / (quota · slices))
 *
 * and no request has to wait longer. Example: with a quota of 2 in a window of 1h, a client may wait 90 minutes. A level whose
 * cost is an attribute counts as one of cost 1. A shadow level makes no request wait.
 */
export function findLongWaits(levels: readonly ReadLevel[]): readonly PolicyProblem[] {
  return levels.flatMap((level, i) => {
    const { name, limits, overrides, cost, shadow } = level
    const units = typeof cost === 'number' ? cost : 1
    if (shadow || units === 0) return []
    const lists = [{ at: ['levels', i, 'limit'], limits: limits }].concat(
      overrides.map((override, j) => ({ at: ['levels', i, 'overrides', j, 'limit'], limits: override.limits })),
    )
    return lists.flatMap(({ at, limits }) =>
      limits.flatMap((limit, k) =>
        waitsLong(limit, units) ? [{ path: [...at, k], message: messageFor(name, limit, units) }] : [],
      ),
    )
  })
}

/** A cost above the quota never passes: that is another mistake. */
function waitsLong(limit: Limit, cost: number): limit is SlidingWindow {
  if (limit.algorithm !== 'sliding-window' || cost > limit.quota) return false
  return TOLERATED * cost > limit.quota * (limit.slices ?? 1)
}

function messageFor(name: string, limit: SlidingWindow, cost: number): string {
  const { quota, window } = limit
  // So many slices make the wait at most a tenth longer than the window. A cost is at most the quota, so ten are enough.
  const slices = Math.ceil((TOLERATED * cost) / quota)
  const remedies = [
    isMade(() => slidingWindow({ ...numbersOf(limit), slices }))
      ? [`slices: ${slices} makes that ${longestWait({ ...limit, slices }, cost)}`]
      : [],
    isMade(() => slidingLog({ quota, window })) ? [`a sliding-log never waits longer than ${window}`] : [],
  ].flat()
  const advice = remedies.length === 0 ? '' : `; ${remedies.join(', and ')}`
  const wait = longestWait(limit, cost)
  return `'${name}' may make a client wait ${wait} in a sliding window of ${window}, because its quota is small${advice}`
}

function numbersOf({ algorithm: _, ...numbers }: SlidingWindow): SlidingWindowOptions {
  return numbers
}

/** A very long window cannot have many slices, and a log keeps no large quota. */
function isMade(make: () => Limit): boolean {
  try {
    make()
    return true
  } catch {
    return false
  }
}

/** The longest wait of a denied request, in whole milliseconds rounded up. */
function longestWait({ quota, window, slices = 1 }: SlidingWindow, cost: number): string {
  const windowUs = durationUs('window', window)
  const us = windowUs + (windowUs * cost) / (quota * slices)
  return durationText(Math.ceil(us / 1_000) * 1_000)
}
