import { type DurationReading, durationQuantile, type RecorderReading, type SeriesReading } from 'sluice/metrics'
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

/** What a summary is made of, beside the reading itself. */
export interface SummaryFacts {
  readonly atMs: number
  readonly worstDelayMs: number
  readonly store: StoreHealth
}

/** Makes summaries from readings, and tells its listeners. */
export class LiveSummary {
  readonly #listeners = new Set<(summary: Summary) => void>()
  #before: ReadonlyMap<string, SeriesReading> = new Map()
  #beforeMs: number
  #latest: Summary | undefined

  constructor(nowMs: number) {
    this.#beforeMs = nowMs
  }

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
  next({ series }: RecorderReading, { atMs, worstDelayMs, store }: SummaryFacts): Summary {
    const policies = series.filter(({ kind }) => kind === 'policy')
    const changes = policies.map((each) => ({ now: each, before: this.#before.get(each.name) }))
    const sum = (count: 'allowed' | 'denied' | 'error' | 'degraded') =>
      changes.reduce((total, { now, before }) => total + now[count] - (before?.[count] ?? 0), 0)
    const elapsedMs = atMs - this.#beforeMs
    const [allowed, denied, errors] = [sum('allowed'), sum('denied'), sum('error')]
    const decisions = allowed + denied + errors
    const durations = addedDurations(changes)
    const summary = {
      atMs: Math.round(atMs),
      elapsedMs: Math.round(elapsedMs),
      decisions,
      allowed,
      denied,
      errors,
      degraded: sum('degraded'),
      decisionsPerSecond: elapsedMs > 0 ? Math.round((decisions * 1_000) / elapsedMs) : 0,
      p50Ms: roundedMs(durationQuantile(durations, 0.5)),
      p99Ms: roundedMs(durationQuantile(durations, 0.99)),
      worstDelayMs: roundedMs(worstDelayMs),
      levels: changes.flatMap(levelChanges),
      store,
    }
    this.#before = new Map(policies.map((each) => [each.name, each]))
    this.#beforeMs = atMs
    this.#latest = summary
    for (const listener of [...this.#listeners]) listener(summary)
    return summary
  }
}

interface Change {
  readonly now: SeriesReading
  readonly before: SeriesReading | undefined
}

function levelChanges({ now, before }: Change): readonly LevelSummary[] {
  return now.levels.map((level) => {
    const last = before?.levels.find(({ name }) => name === level.name)
    const since = (count: 'allowed' | 'denied' | 'shadowDenied' | 'error') => level[count] - (last?.[count] ?? 0)
    const [denied, shadowDenied] = [since('denied'), since('shadowDenied')]
    const decisions = since('allowed') + denied + shadowDenied + since('error')
    return { policy: now.name, level: level.name, decisions, denied, shadowDenied }
  })
}

/** To whole microseconds. */
function roundedMs(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}

/** The durations of all policies since the reading before. */
function addedDurations(changes: readonly Change[]): DurationReading {
  let [count, sumMs] = [0, 0]
  const buckets: number[] = []
  for (const { now, before } of changes) {
    count += now.durations.count - (before?.durations.count ?? 0)
    sumMs += now.durations.sumMs - (before?.durations.sumMs ?? 0)
    for (const [i, each] of now.durations.buckets.entries())
      buckets[i] = (buckets[i] ?? 0) + each - (before?.durations.buckets[i] ?? 0)
  }
  return { count, sumMs, buckets }
}
