import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { checkOptions } from '../checks/check-options.js'
import { checkUnits } from '../checks/check-value.js'
import { systemClock } from '../clock.js'
import { type DecisionEvent, decisionChannel } from '../diagnostics/decision-channel.js'
import { DecisionSeries, type NewLevel, type SeriesReading } from './decision-series.js'
import { PrometheusText } from './prometheus-text.js'
import { writeDecisions } from './write-decisions.js'

/** The options of `createRecorder`. */
export interface RecorderOptions {
  /**
   * How many limiters, policies and levels are told apart: a whole number from 1. Default 1,000. Those that come later are
   * counted together under the name `other`.
   */
  readonly maxSeries?: number
}

/** All counts at one moment, as plain data. */
export interface RecorderReading {
  /** When the recorder began, in epoch milliseconds. Counts only grow from then on. */
  readonly sinceMs: number
  /** One for each limiter and policy, in the order in which they were first seen. */
  readonly series: readonly SeriesReading[]
}

/** Counts the decisions of this process. */
export interface Recorder {
  /** All counts as plain data, which does not change any more. */
  read(): RecorderReading
  /** The same in the text format of Prometheus. */
  prometheus(): string
  /** Stops counting. What was counted can still be read. */
  close(): void
  /** `close`, for a variable declared with `using`. */
  [Symbol.dispose](): void
}

/** Counts what does not fit into `maxSeries`. */
const OTHER = 'other'

/**
 * Counts every decision that the limiters and policies of this process make from now on: `tryAcquire`, `acquire`,
 * `acquireLease`, `reserve`, `lease` and `check`. Counts are kept by limiter or policy, by level and by outcome, with the
 * durations. Nothing is allocated for a decision, and no key is kept.
 *
 * @example
 * ```ts
 * import { createLimiter, tokenBucket } from 'sluice'
 * import { createRecorder } from 'sluice/metrics'
 *
 * const recorder = createRecorder()
 * const search = createLimiter({ name: 'search', limit: tokenBucket({ capacity: 1, refill: '1/h' }) })
 * search.tryAcquire('user:42')
 * search.tryAcquire('user:42')
 *
 * const [{ name, allowed, denied }] = recorder.read().series
 * console.log(name, allowed, denied) // search 1 1
 * console.log(recorder.prometheus()) // for the answer to a scrape of /metrics
 * ```
 */
export function createRecorder(options: RecorderOptions = {}): Recorder {
  const { maxSeries = 1_000 } = checkOptions('createRecorder', options, ['maxSeries'])
  return new DecisionRecorder(checkUnits('maxSeries', maxSeries, 1_000_000))
}

class DecisionRecorder implements Recorder {
  readonly #sinceMs = systemClock.now()
  readonly #maxSeries: number
  readonly #limiters = new Map<string, DecisionSeries>()
  readonly #policies = new Map<string, DecisionSeries>()
  readonly #record = (event: unknown) => this.#count(event as DecisionEvent)
  #size = 0

  constructor(maxSeries: number) {
    this.#maxSeries = maxSeries
    subscribe(decisionChannel.name, this.#record)
  }

  read(): RecorderReading {
    const series = [...this.#limiters.values(), ...this.#policies.values()].map((each) => each.read())
    return { sinceMs: this.#sinceMs, series }
  }

  prometheus(): string {
    const text = new PrometheusText()
    writeDecisions(text, this.read())
    return text.toString()
  }

  close(): void {
    unsubscribe(decisionChannel.name, this.#record)
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #count(event: DecisionEvent): void {
    const { kind, name } = event
    const byName = kind === 'policy' ? this.#policies : this.#limiters
    const series = byName.get(name) ?? this.#newSeries(byName, kind, name)
    series.count(event)
  }

  #newSeries(byName: Map<string, DecisionSeries>, kind: DecisionEvent['kind'], name: string): DecisionSeries {
    const own = this.#hasRoom() ? name : OTHER
    let series = byName.get(own)
    if (series === undefined) {
      this.#size++
      series = new DecisionSeries(kind, own, this.#newLevel)
      byName.set(own, series)
    }
    return series
  }

  readonly #newLevel: NewLevel = (series, level) => {
    if (!this.#hasRoom()) return series.level(OTHER)
    this.#size++
    return series.level(level)
  }

  #hasRoom(): boolean {
    return this.#size < this.#maxSeries
  }
}
