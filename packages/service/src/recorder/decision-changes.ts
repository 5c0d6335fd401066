import type { DurationReading, OutcomeCounts, RecorderReading, SeriesReading } from 'sluice/metrics'

/** The decisions of one level between two readings. */
export interface LevelChange extends OutcomeCounts {
  readonly policy: string
  readonly level: string
  readonly shadowDenied: number
}

/** What policies decided between two readings. Plain data without any key. */
export interface DecisionChange extends Omit<OutcomeCounts, 'error'> {
  readonly atMs: number
  readonly elapsedMs: number
  readonly errors: number
  readonly durations: DurationReading
  /** Every level that has ever decided, in the order in which they were first seen. */
  readonly levels: readonly LevelChange[]
}

const NONE = { allowed: 0, denied: 0, error: 0, degraded: 0, shadowDenied: 0 }

/** Finds out what was decided between one reading and the next. */
export class DecisionChanges {
  #before: ReadonlyMap<string, SeriesReading> = new Map()
  #beforeMs: number

  constructor(nowMs: number) {
    this.#beforeMs = nowMs
  }

  next({ series }: RecorderReading, atMs: number): DecisionChange {
    const policies = series.filter(({ kind }) => kind === 'policy')
    const changes = policies.map((now) => ({ now, before: this.#before.get(now.name) }))
    const sum = (count: keyof OutcomeCounts) =>
      changes.reduce((total, { now, before }) => total + now[count] - (before?.[count] ?? 0), 0)
    const elapsedMs = atMs - this.#beforeMs
    this.#before = new Map(policies.map((each) => [each.name, each]))
    this.#beforeMs = atMs
    return {
      atMs,
      elapsedMs,
      allowed: sum('allowed'),
      denied: sum('denied'),
      errors: sum('error'),
      degraded: sum('degraded'),
      durations: changes.reduce(withDurations, { count: 0, sumMs: 0, buckets: [] }),
      levels: changes.flatMap(levelChanges),
    }
  }
}

interface Change {
  readonly now: SeriesReading
  readonly before: SeriesReading | undefined
}

function levelChanges({ now, before }: Change): readonly LevelChange[] {
  return now.levels.map((level, i) => {
    // A level keeps its place, because levels are in the order in which they were first seen.
    const last = before?.levels[i] ?? NONE
    return {
      policy: now.name,
      level: level.name,
      allowed: level.allowed - last.allowed,
      denied: level.denied - last.denied,
      error: level.error - last.error,
      degraded: level.degraded - last.degraded,
      shadowDenied: level.shadowDenied - last.shadowDenied,
    }
  })
}

function withDurations(sum: DurationReading, { now, before }: Change): DurationReading {
  const last = before?.durations
  return {
    count: sum.count + now.durations.count - (last?.count ?? 0),
    sumMs: sum.sumMs + now.durations.sumMs - (last?.sumMs ?? 0),
    buckets: now.durations.buckets.map((each, i) => (sum.buckets[i] ?? 0) + each - (last?.buckets[i] ?? 0)),
  }
}
