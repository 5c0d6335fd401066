import type { Limit } from 'sluice'
import { expect } from 'vitest'
import { durationUs } from '../../../src/limits/duration.js'

interface Admitted {
  readonly atMs: number
  readonly cost: number
}

/** The first law of each algorithm, over the admitted callers in order. */
export function keepsTheLaw(limit: Limit, admitted: readonly Admitted[]): void {
  switch (limit.algorithm) {
    case 'token-bucket': {
      const perMs = unitsAMs(limit.refill)
      each(admitted, (units, ms) => expect(units).toBeLessThanOrEqual(limit.capacity + perMs * ms + 1e-6))
      return
    }
    case 'leaky-bucket': {
      const perMs = unitsAMs(limit.drain)
      for (const [i, { atMs }] of admitted.slice(1).entries()) {
        expect(atMs - admitted[i].atMs).toBeGreaterThanOrEqual(admitted[i].cost / perMs - 0.002)
      }
      return
    }
    case 'fixed-window': {
      const windowMs = durationUs('window', limit.window) / 1000
      const counts = new Map<number, number>()
      for (const { atMs, cost } of admitted) {
        const window = Math.floor(atMs / windowMs)
        counts.set(window, (counts.get(window) ?? 0) + cost)
      }
      for (const count of counts.values()) expect(count).toBeLessThanOrEqual(limit.quota)
      return
    }
    case 'sliding-log': {
      const windowMs = durationUs('window', limit.window) / 1000
      each(admitted, (units, ms) => ms < windowMs && expect(units).toBeLessThanOrEqual(limit.quota))
      return
    }
    case 'concurrency': {
      const ttlMs = durationUs('ttl', limit.ttl) / 1000
      each(admitted, (units, ms) => ms < ttlMs && expect(units).toBeLessThanOrEqual(limit.max))
      return
    }
    case 'unlimited':
      return
    default: {
      const windowMs = durationUs('window', limit.window) / 1000
      each(admitted, (units, ms) => ms < windowMs && expect(units).toBeLessThanOrEqual(2 * limit.quota))
      return
    }
  }
}

/** The units of every run of admissions, and how long it took. */
function each(admitted: readonly Admitted[], check: (units: number, ms: number) => unknown): void {
  for (const [i, from] of admitted.entries()) {
    let units = 0
    for (const to of admitted.slice(i)) {
      units += to.cost
      check(units, to.atMs - from.atMs)
    }
  }
}

function unitsAMs(text: string): number {
  const [units, period] = text.split('/')
  return (Number(units) * 1000) / durationUs('period', /^\d/.test(period) ? period : `1${period}`)
}
