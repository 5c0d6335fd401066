import { DURATION_BOUNDS_MS, type DurationReading, durationQuantile } from 'sluice/metrics'
import type { DecisionChange } from './decision-changes.js'
import type { StoreHealth } from './store-health.js'

/** One level in a summary: its decisions since the summary before. */
export interface LevelSummary {
  readonly policy: string
  readonly level: string
  readonly decisions: number
  readonly denied: number
  readonly shadowDenied: number
}

/**
 * What policies decided since the summary before: about one second. Plain data without any key, made once a second for
 * live views.
 */
export interface Summary {
  /** When it was made, in epoch milliseconds. */
  readonly atMs: number
  /** How long it covers. */
  readonly elapsedMs: number
  readonly decisions: number
  readonly allowed: number
  readonly denied: number
  readonly errors: number
  /** How many of the allowed and denied were decided without the store. */
  readonly degraded: number
  readonly decisionsPerSecond: number
  /** How long the store took: half of the decisions took at most `p50Ms`. 0 without decisions. At most 19 % too long. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** The longest delay of the event loop. */
  readonly worstDelayMs: number
  readonly levels: readonly LevelSummary[]
  readonly store: StoreHealth
}

/** What a summary is made of, beside the decisions. */
export interface SummaryFacts {
  readonly worstDelayMs: number
  readonly store: StoreHealth
}

/** Makes summaries, and tells its listeners. */
export class LiveSummary {
  readonly #listeners = new Set<(summary: Summary) => void>()
  #latest: Summary | undefined

  /** The last summary; `undefined` in the first second. */
  get latest(): Summary | undefined {
    return this.#latest
  }

  /** Calls `listener` with each summary from now on. Returns a function that stops it. */
  subscribe(listener: (summary: Summary) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Makes the next summary. */
  next(change: DecisionChange, { worstDelayMs, store }: SummaryFacts): Summary {
    const { atMs, elapsedMs, allowed, denied, errors, degraded } = change
    const decisions = allowed + denied + errors
    const summary = {
      atMs: Math.round(atMs),
      elapsedMs: Math.round(elapsedMs),
      decisions,
      allowed,
      denied,
      errors,
      degraded,
      decisionsPerSecond: elapsedMs > 0 ? Math.round((decisions * 1_000) / elapsedMs) : 0,
      ...quantilesOf(change.durations),
      worstDelayMs: roundedMs(worstDelayMs),
      levels: change.levels.map(({ policy, level, allowed: admitted, denied: refused, shadowDenied, error }) => ({
        policy,
        level,
        decisions: admitted + refused + shadowDenied + error,
        denied: refused,
        shadowDenied,
      })),
      store,
    }
    this.#latest = summary
    for (const listener of [...this.#listeners]) listener(summary)
    return summary
  }
}

const LONGEST_MS = DURATION_BOUNDS_MS[DURATION_BOUNDS_MS.length - 1]

/** The median and the 99th percentile. JSON has no `Infinity`: a longer time than about 17 s is told as that. */
export function quantilesOf(durations: DurationReading): { readonly p50Ms: number; readonly p99Ms: number } {
  const quantile = (share: number) => roundedMs(Math.min(durationQuantile(durations, share), LONGEST_MS))
  return { p50Ms: quantile(0.5), p99Ms: quantile(0.99) }
}

/** To whole microseconds. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
