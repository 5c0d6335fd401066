import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

/** The result of a load, as `--json` prints it. */
export interface LoadReport {
  readonly url: string
  readonly connections: number
  readonly batch: number
  /** The decisions a second that were asked for; `null` if requests were sent as fast as answers came. */
  readonly rate: number | null
  /** From the end of the warm-up to the last answer. */
  readonly elapsedMs: number
  readonly requests: number
  readonly decisions: number
  readonly decisionsPerSecond: number
  readonly allowed: number
  readonly denied: number
  /** Requests that got another answer or none, by reason. */
  readonly failed: Readonly<Record<string, number>>
  /** Requests that were due and had no answer 5 s after the end. `latencyMs` counts how long they had waited by then. */
  readonly unanswered: number
  /** At a rate: from the moment when a request was due. Otherwise from its sending. */
  readonly latencyMs: LatencyReport
  /** At a rate: how much later than due this client sent at the 99th percentile, while it had an idle connection. */
  readonly clientDelayMs: number | null
  /** The share of one processor that this client used: 1 is all of it. */
  readonly clientCpu: number
}

/** Quantiles of a latency, to three digits. */
export interface LatencyReport {
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

const MOST_REASONS = 20

/** Counts what the requests of a load brought. Histograms are those of Node (HDR, three digits). */
export class LoadResult {
  requests = 0
  allowed = 0
  denied = 0
  unanswered = 0
  readonly failed = new Map<string, number>()
  readonly #latency: RecordableHistogram = createHistogram({ figures: 3 })
  readonly #clientDelay: RecordableHistogram = createHistogram({ figures: 3 })

  answered(allowed: number, denied: number): void {
    this.requests++
    this.allowed += allowed
    this.denied += denied
  }

  /** A request took so long. Those of the warm-up are not recorded, even if they are answered after it. */
  took(latencyMs: number): void {
    record(this.#latency, latencyMs)
  }

  /** A request was due and is not answered yet: it takes at least `waitedMs`. */
  gaveUp(waitedMs: number): void {
    this.unanswered++
    record(this.#latency, waitedMs)
  }

  /** Reasons are bounded, because a service may say something else each time. */
  failedBy(reason: string): void {
    const known = this.failed.has(reason) || this.failed.size < MOST_REASONS
    const name = known ? reason : 'other reasons'
    this.failed.set(name, (this.failed.get(name) ?? 0) + 1)
  }

  sentLate(delayMs: number): void {
    record(this.#clientDelay, delayMs)
  }

  get p99Ms(): number {
    return quantile(this.#latency, 99)
  }

  latency(): LatencyReport {
    const of = (percent: number) => quantile(this.#latency, percent)
    const mean = this.#latency.count === 0 ? 0 : round(this.#latency.mean / 1_000)
    const max = this.#latency.count === 0 ? 0 : round(this.#latency.max / 1_000)
    return { mean, p50: of(50), p90: of(90), p99: of(99), p999: of(99.9), max }
  }

  clientDelayMs(): number {
    return quantile(this.#clientDelay, 99)
  }
}

function record(histogram: RecordableHistogram, ms: number): void {
  histogram.record(Math.max(1, Math.round(ms * 1_000)))
}

function quantile(histogram: RecordableHistogram, percent: number): number {
  return histogram.count === 0 ? 0 : round(histogram.percentile(percent) / 1_000)
}

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
