import { invalidValue } from '../errors.js'
import { cumulativeBuckets, type DurationReading } from './duration-histogram.js'

/** The labels of a sample. Values are any text; never a key of a limit, because each value is a series of its own. */
export type MetricLabels = Readonly<Record<string, string>>

/** The content type of the text, for the answer to a scrape. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/

/**
 * Writes metrics in the text format of Prometheus (0.0.4). Each metric is written once, with all its samples behind it.
 *
 * @example
 * ```ts
 * import { PrometheusText } from 'sluice/metrics'
 *
 * const text = new PrometheusText()
 * text.metric('queue_jobs', 'gauge', 'Jobs that wait.')
 * text.sample({ queue: 'mail' }, 12)
 * console.log(text.toString())
 * ```
 */
export class PrometheusText {
  #text = ''
  #name = ''
  readonly #names = new Set<string>()

  /** Begins a metric: the samples that follow belong to it. */
  metric(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): this {
    if (!METRIC_NAME.test(name)) throw invalidValue('name', 'letters, digits and _, such as jobs_total', name)
    if (this.#names.has(name)) throw invalidValue('name', 'the name of a metric that is not written yet', name)
    this.#names.add(name)
    this.#name = name
    const escaped = help.toWellFormed().replace(/\\/g, '\\\\').replace(/\n/g, '\\n')
    this.#text += `# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`
    return this
  }

  /** One value of the metric. `Infinity` and `NaN` are allowed. */
  sample(labels: MetricLabels, value: number, suffix = ''): this {
    this.#text += `${this.#name}${suffix}${labelsText(labels)} ${valueText(value)}\n`
    return this
  }

  /** The samples of a histogram in seconds, with a bucket for each doubling. */
  durations(labels: MetricLabels, reading: DurationReading): this {
    for (const { ms, count } of cumulativeBuckets(reading))
      this.sample({ ...labels, le: `${ms / 1_000}` }, count, '_bucket')
    this.sample({ ...labels, le: '+Inf' }, reading.count, '_bucket')
    return this.sample(labels, reading.sumMs / 1_000, '_sum').sample(labels, reading.count, '_count')
  }

  toString(): string {
    return this.#text
  }
}

function labelsText(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    if (!LABEL_NAME.test(name)) throw invalidValue('label', 'letters, digits and _, such as level', name)
    const escaped = value.toWellFormed().replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')
    return `${name}="${escaped}"`
  })
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function valueText(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : `${value}`
}
