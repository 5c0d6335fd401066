/** A metric as a scrape reads it. */
export interface ParsedMetric {
  readonly type: string
  readonly help: string
  /** Value by the text of its name and labels: `up{job="a"}`, with sorted and unescaped labels. */
  readonly samples: Map<string, number>
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/y
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
}

/**
 * Reads the text format of Prometheus 0.0.4 strictly. Throws where a scrape would fail or warn: samples before their TYPE,
 * a metric in two places, a series twice, bad escapes, histograms whose buckets fall or do not end with +Inf and the count.
 */
export function parseExposition(text: string): Map<string, ParsedMetric> {
  if (!text.endsWith('\n')) throw new Error('the text must end with a line feed')
  const metrics = new Map<string, ParsedMetric>()
  let name = ''
  let help: string | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/s.exec(line)
    if (comment?.[1] === 'HELP') {
      if (comment[3].replace(/\\[\\n]/g, '').includes('\\')) throw new Error(`bad escape in ${line}`)
      name = comment[2]
      help = comment[3]
    } else if (comment?.[1] === 'TYPE') {
      if (comment[2] !== name || help === undefined) throw new Error(`HELP must be in front of ${line}`)
      if (metrics.has(name)) throw new Error(`${name} is in two places`)
      if (!(comment[3] in SUFFIXES)) throw new Error(`unknown type in ${line}`)
      metrics.set(name, { type: comment[3], help, samples: new Map() })
      help = undefined
    } else addSample(metrics.get(name), name, line)
  }
  for (const [each, { type, samples }] of metrics) if (type === 'histogram') checkHistogram(each, samples)
  return metrics
}

function addSample(metric: ParsedMetric | undefined, name: string, line: string): void {
  const match = LINE.exec(line)
  if (match === null || metric === undefined) throw new Error(`not a sample of ${name}: ${line}`)
  const [, full, labels = '', value] = match
  if (!SUFFIXES[metric.type].some((suffix) => full === name + suffix)) throw new Error(`${full} is not of ${name}`)
  const series = seriesText(full, readLabels(labels))
  if (metric.samples.has(series)) throw new Error(`${series} is there twice`)
  metric.samples.set(series, readValue(value))
}

/** A series as text, with its labels in order. */
export function seriesText(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
  return pairs.length === 0 ? name : `${name}{${pairs.map(([label, value]) => `${label}=${JSON.stringify(value)}`)}}`
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text)
    if (match === null) throw new Error(`bad labels: ${text}`)
    if (match[1] in labels) throw new Error(`label ${match[1]} is there twice`)
    labels[match[1]] = match[2].replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))
  }
  return labels
}

function readValue(text: string): number {
  if (text === '+Inf') return Infinity
  if (text === '-Inf') return -Infinity
  if (text === 'NaN') return Number.NaN
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) throw new Error(`bad value ${text}`)
  return Number(text)
}

function checkHistogram(name: string, samples: Map<string, number>): void {
  const groups = new Map<string, [number, number][]>()
  for (const [series, value] of samples) {
    if (!series.startsWith(`${name}_bucket`)) continue
    const le = /,?le="([^"]*)"/.exec(series)
    if (le === null) throw new Error(`${series} has no le`)
    const group = series.slice(`${name}_bucket`.length).replace(le[0], '').replace('{,', '{').replace('{}', '')
    groups.set(group, [...(groups.get(group) ?? []), [readValue(le[1]), value]])
  }
  for (const [group, buckets] of groups) {
    for (let i = 1; i < buckets.length; i++)
      if (!(buckets[i][0] > buckets[i - 1][0] && buckets[i][1] >= buckets[i - 1][1]))
        throw new Error(`buckets of ${name}${group} fall`)
    const [last, count] = buckets[buckets.length - 1]
    if (last !== Infinity || count !== samples.get(`${name}_count${group}`))
      throw new Error(`${name}${group} must end with +Inf and its count`)
    if (!samples.has(`${name}_sum${group}`)) throw new Error(`${name}${group} has no sum`)
  }
}
