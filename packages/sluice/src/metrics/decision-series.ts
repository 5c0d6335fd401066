import type { DecisionEvent } from '../diagnostics/decision-channel.js'
import { QueueFullError, WaitTooLongError } from '../errors.js'
import { DurationHistogram, type DurationReading } from './duration-histogram.js'

/** How many decisions had each outcome. Every decision has exactly one of them. */
export interface OutcomeCounts {
  readonly allowed: number
  readonly denied: number
  /** The store failed, and no `onFailure` rule answered in its place. */
  readonly error: number
  /** How many of the allowed and denied decisions were made without the store. */
  readonly degraded: number
}

/** The decisions of one level of a policy. */
export interface LevelReading extends OutcomeCounts {
  readonly name: string
  /** A shadow level would have denied. It has these in place of `denied`. */
  readonly shadowDenied: number
}

/** The decisions of one limiter or policy. */
export interface SeriesReading extends OutcomeCounts {
  readonly kind: DecisionEvent['kind']
  readonly name: string
  /** How long the store took to answer. */
  readonly durations: DurationReading
  /** How long callers of `acquire` and `acquireLease` waited; absent if none did. */
  readonly waits?: DurationReading
  /** In the order in which they were first seen. Empty for a limiter. */
  readonly levels: readonly LevelReading[]
}

const ALLOWED = 0
const DENIED = 1
const SHADOW_DENIED = 2
const ERROR = 3
const DEGRADED = 4

/** Counts by outcome. An array of float64, because a number field of an object may be allocated anew at each change. */
type Counts = Float64Array

/** Finds the counts of a level that is new: its own, or those of the level `other` if there are too many. */
export type NewLevel = (series: DecisionSeries, level: string) => Counts

/** Counts the decisions of one limiter or policy. Allocates only when a level is new. */
export class DecisionSeries {
  readonly kind: DecisionEvent['kind']
  readonly name: string
  readonly #counts: Counts = new Float64Array(5)
  readonly #durations = new DurationHistogram()
  readonly #levels = new Map<string, Counts>()
  readonly #newLevel: NewLevel
  #waits: DurationHistogram | undefined

  constructor(kind: DecisionEvent['kind'], name: string, newLevel: NewLevel) {
    this.kind = kind
    this.name = name
    this.#newLevel = newLevel
  }

  count(event: DecisionEvent): void {
    const { method, error, durationMs } = event
    const outcome = outcomeOf(event)
    this.#counts[outcome]++
    if (event.degraded !== undefined) this.#counts[DEGRADED]++
    if (method === 'acquire' || method === 'acquireLease') {
      this.#waits ??= new DurationHistogram()
      this.#waits.record(durationMs)
    } else this.#durations.record(durationMs)
    if (event.kind === 'policy') this.#countLevels(event, error === undefined)
  }

  /** A level with several limits has several demands in a row, and counts once: it denies if any of them does. */
  #countLevels({ demands, decisions }: DecisionEvent, isDecided: boolean): void {
    for (let i = 0; i < demands.length; ) {
      const { level = '', shadow } = demands[i]
      let outcome = isDecided ? ALLOWED : ERROR
      let isDegraded = false
      do {
        if (!isDecided) continue
        const { allowed, degraded } = decisions[i]
        if (!allowed) outcome = shadow === true ? SHADOW_DENIED : DENIED
        if (degraded !== undefined) isDegraded = true
      } while (++i < demands.length && demands[i].level === level)
      const counts = this.#levels.get(level) ?? this.#newLevel(this, level)
      counts[outcome]++
      if (isDegraded) counts[DEGRADED]++
    }
  }

  /** The counts of a level, which may be new. */
  level(name: string): Counts {
    let counts = this.#levels.get(name)
    if (counts === undefined) {
      counts = new Float64Array(5)
      this.#levels.set(name, counts)
    }
    return counts
  }

  read(): SeriesReading {
    const levels = [...this.#levels].map(([name, counts]) => ({
      name,
      ...outcomesOf(counts),
      shadowDenied: counts[SHADOW_DENIED],
    }))
    return {
      kind: this.kind,
      name: this.name,
      ...outcomesOf(this.#counts),
      durations: this.#durations.read(),
      ...(this.#waits && { waits: this.#waits.read() }),
      levels,
    }
  }
}

function outcomeOf({ allowed, error }: DecisionEvent): number {
  // A caller that would have had to wait too long, or among too many, was denied: the store did not fail.
  const isDenial = error instanceof WaitTooLongError || error instanceof QueueFullError
  if (error !== undefined && !isDenial) return ERROR
  return allowed ? ALLOWED : DENIED
}

function outcomesOf(counts: Counts): OutcomeCounts {
  return { allowed: counts[ALLOWED], denied: counts[DENIED], error: counts[ERROR], degraded: counts[DEGRADED] }
}
