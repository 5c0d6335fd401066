import type { DurationReading } from 'sluice/metrics'
import type { DecisionChange } from '../recorder/decision-changes.js'
import { quantilesOf, roundedMs } from '../recorder/live-summary.js'
import { COUNTS_OF_A_LEVEL, type LiveFrame, type LiveLevels } from './live-events.js'

const NO_DURATIONS: DurationReading = { count: 0, sumMs: 0, buckets: [] }

/** Adds up what workers decided, until it is made into a frame. */
export class FrameSum {
  #levels: LiveLevels
  #places: ReadonlyMap<string, number>
  #counts: number[]
  #totals = { allowed: 0, denied: 0, errors: 0, degraded: 0 }
  #durations = NO_DURATIONS
  #worstDelayMs = 0
  #workers = new Set<number>()
  #beginMs: number

  constructor(levels: LiveLevels, nowMs: number) {
    this.#levels = levels
    this.#places = placesOf(levels)
    this.#counts = blankCounts(levels)
    this.#beginMs = nowMs
  }

  /** Goes on with other levels. Counts of levels that both lists have stay; totals stay whole. */
  use(levels: LiveLevels): void {
    const before = this.#counts
    const places = this.#places
    this.#levels = levels
    this.#places = placesOf(levels)
    this.#counts = blankCounts(levels)
    for (const [name, place] of this.#places) {
      const last = places.get(name)
      if (last === undefined) continue
      for (let i = 0; i < COUNTS_OF_A_LEVEL; i++) this.#counts[place + i] = before[last + i]
    }
  }

  /** Adds what a worker decided. */
  add(worker: number, change: DecisionChange, worstDelayMs: number): void {
    const { allowed, denied, errors, degraded, durations } = change
    const totals = this.#totals
    this.#totals = {
      allowed: totals.allowed + allowed,
      denied: totals.denied + denied,
      errors: totals.errors + errors,
      degraded: totals.degraded + degraded,
    }
    if (durations.count > 0) this.#durations = addedDurations(this.#durations, durations)
    this.#worstDelayMs = Math.max(this.#worstDelayMs, worstDelayMs)
    this.#workers.add(worker)
    for (const each of change.levels) {
      const place = each.policy === this.#levels.policy ? this.#places.get(each.level) : undefined
      if (place === undefined) continue
      this.#counts[place] += each.allowed
      this.#counts[place + 1] += each.denied
      this.#counts[place + 2] += each.shadowDenied
      this.#counts[place + 3] += each.degraded
    }
  }

  /** The frame of everything since the last one. */
  take(nowMs: number): LiveFrame {
    const frame = {
      atMs: Math.round(nowMs),
      elapsedMs: Math.round(nowMs - this.#beginMs),
      ...this.#totals,
      ...quantilesOf(this.#durations),
      worstDelayMs: roundedMs(this.#worstDelayMs),
      workers: this.#workers.size,
      version: this.#levels.version,
      levels: this.#counts,
    }
    this.#beginMs = nowMs
    this.#totals = { allowed: 0, denied: 0, errors: 0, degraded: 0 }
    this.#durations = NO_DURATIONS
    this.#worstDelayMs = 0
    this.#workers = new Set()
    this.#counts = blankCounts(this.#levels)
    return frame
  }
}

/** Where the counts of each level begin. */
function placesOf({ levels }: LiveLevels): ReadonlyMap<string, number> {
  return new Map(levels.map(({ name }, i) => [name, i * COUNTS_OF_A_LEVEL]))
}

function blankCounts({ levels }: LiveLevels): number[] {
  return new Array<number>(levels.length * COUNTS_OF_A_LEVEL).fill(0)
}

function addedDurations(one: DurationReading, other: DurationReading): DurationReading {
  return {
    count: one.count + other.count,
    sumMs: one.sumMs + other.sumMs,
    buckets: other.buckets.map((each, i) => each + (one.buckets[i] ?? 0)),
  }
}
