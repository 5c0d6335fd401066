/** Random limits, and random guests that come, wait and leave, all on whole milliseconds. */

import fc, { type Arbitrary } from 'fast-check'
import type { Duration, Rate } from 'sluice'
import { concurrency, fixedWindow, type Limit, leakyBucket, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { quotaOf } from 'sluice/limits'

export const START = 1_745_000_000_000
export const KEYS = ['one', 'other']

/** A caller that comes at `atMs`, and may leave at `leavesAtMs`. */
export interface Guest {
  readonly name: string
  readonly key: string
  readonly cost: number
  readonly atMs: number
  readonly leavesAtMs: number | undefined
  readonly maxWaitMs: number | undefined
}

export interface Scene {
  readonly limit: Limit
  readonly guests: readonly Guest[]
}

const quota = fc.integer({ min: 1, max: 8 })
const rate = fc
  .record({ units: fc.integer({ min: 1, max: 9 }), perMs: fc.integer({ min: 1, max: 40 }) })
  .map(({ units, perMs }): Rate => `${units}/${perMs}ms`)
const windows = fc.integer({ min: 1, max: 60 }).map((ms): Duration => `${ms}ms`)

/** Limits whose units are back within a few hundred milliseconds. */
export const limits: { readonly [algorithm in Limit['algorithm']]?: Arbitrary<Limit> } = {
  'token-bucket': fc.record({ capacity: quota, refill: rate }).map(tokenBucket),
  'leaky-bucket': fc.record({ capacity: quota, drain: rate }).map(leakyBucket),
  'fixed-window': fc.record({ quota, window: windows }).map(fixedWindow),
  'sliding-window': fc.record({ quota, window: windows, slices: fc.integer({ min: 1, max: 5 }) }).map(slidingWindow),
  'sliding-log': fc.record({ quota, window: windows }).map(slidingLog),
  concurrency: fc.record({ max: quota, ttl: windows }).map(concurrency),
}

export function scenes(limit: Arbitrary<Limit>, maxWaitMs: Arbitrary<number | undefined>): Arbitrary<Scene> {
  const guest = fc.record({
    key: fc.constantFrom(...KEYS),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 30 })),
    leavesAfterMs: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.integer({ min: 1, max: 120 })),
    maxWaitMs,
  })
  return fc.record({ limit, guests: fc.array(guest, { minLength: 1, maxLength: 20 }) }).map((scene) => {
    let atMs = 0
    const guests = scene.guests.map(({ key, part, afterMs, leavesAfterMs, ...patience }, i): Guest => {
      atMs += afterMs
      const cost = Math.round(part * quotaOf(scene.limit))
      const leavesAtMs = leavesAfterMs === undefined ? undefined : atMs + leavesAfterMs
      return { name: `guest ${i}`, key, cost, atMs, leavesAtMs, ...patience }
    })
    return { limit: scene.limit, guests }
  })
}

/** All arrivals and departures, in order of time. */
export function eventsOf(guests: readonly Guest[]): { atMs: number; guest: Guest; leaves: boolean }[] {
  const events = guests.flatMap((guest) => [
    { atMs: guest.atMs, guest, leaves: false },
    ...(guest.leavesAtMs === undefined ? [] : [{ atMs: guest.leavesAtMs, guest, leaves: true }]),
  ])
  return events.sort((one, other) => one.atMs - other.atMs)
}
