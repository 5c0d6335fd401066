/**
 * The lab's settings as values of the page's address. A draft is its kind and values, joined: `token-bucket_20_5-s`. A trace is written as
 * its times if that is short.
 */
import { readTrace } from '../engine/read-trace.js'
import { DraftProblem, type Knob, readingDraft } from './draft.js'
import { type LabSettings, MOST_LIMITS } from './lab-settings.js'
import { LAB_ALGORITHMS, limitDraft, limitKnobs } from './limit-draft.js'
import { TRAFFIC_KINDS, type TrafficDraft, trafficDraft, trafficKnobs } from './traffic-draft.js'

type LinkValues = Readonly<Record<string, string | undefined>>

/** A longer trace is not in the link: some programs cut addresses that are longer than two thousand characters. */
const LONGEST_TRACE = 1_500
/** A line of an access log is seldom longer. */
const LONGEST_LINE = 400

/** Settings as values of an address. Every value that they may have is named, so that none stays from before. */
export function labLink({ traffic, cost, limits, preset }: LabSettings): LinkValues {
  const drafts = Array.from({ length: MOST_LIMITS }, (_, i) => {
    const limit = limits[i]
    return [`l${i + 1}`, limit && joined(limit, limitKnobs(limit.kind))]
  })
  const written = traffic.kind === 'trace' ? traceLink(traffic) : joined(traffic, trafficKnobs(traffic.kind))
  return { preset, traffic: written ?? 'trace', cost, ...Object.fromEntries(drafts) }
}

/** Is the whole of the settings in the link? A long trace is not. */
export function isWholeInLink({ traffic }: LabSettings): boolean {
  return traffic.kind !== 'trace' || traffic.values.trace.trim() === '' || traceLink(traffic) !== undefined
}

/** Settings of an address; `undefined` if it names no traffic or no limit that the lab knows. */
export function settingsOfLink(values: LinkValues): LabSettings | undefined {
  const traffic = values.traffic === undefined ? undefined : readTraffic(values.traffic)
  const limits = Array.from({ length: MOST_LIMITS }, (_, i) => readLimit(values[`l${i + 1}`] ?? ''))
  const known = limits.filter((limit) => limit !== undefined)
  if (traffic === undefined || known.length === 0) return undefined
  return { traffic, cost: values.cost ?? '1', limits: known, preset: values.preset }
}

function readTraffic(text: string): TrafficDraft | undefined {
  const [name, ...parts] = text.split('_')
  const kind = TRAFFIC_KINDS.find((each) => each === name)
  if (kind === undefined) return undefined
  if (kind === 'trace') return trafficDraft('trace', { trace: traceOf(parts) })
  return trafficDraft(kind, valuesOf(trafficKnobs(kind), parts))
}

function readLimit(text: string) {
  const [name, ...parts] = text.split('_')
  const kind = LAB_ALGORITHMS.find((each) => each === name)
  return kind && limitDraft(kind, valuesOf(limitKnobs(kind), parts))
}

function joined({ kind, values }: { kind: string; values: Readonly<Record<string, string>> }, knobs: readonly Knob[]) {
  return [kind, ...knobs.map(({ name }) => escaped(values[name]))].join('_')
}

function valuesOf(knobs: readonly Knob[], parts: readonly string[]): Record<string, string> {
  const given = knobs.slice(0, parts.length).map(({ name }, i) => [name, unescaped(parts[i])])
  return Object.fromEntries(given)
}

/** `/` is written `-`, which addresses need not encode, and the other way round; `_` separates values. */
function escaped(value: string): string {
  return value.replace(/[-/*_]/g, (sign) => ({ '-': '/', '/': '-', '*': '**' })[sign] ?? '*u')
}

function unescaped(part: string): string {
  return part.replace(/\*u|\*\*|[-/]/g, (sign) => ({ '-': '/', '/': '-', '**': '*' })[sign] ?? '_')
}

/** The origin and the distances between requests, in microseconds to base 36; `undefined` if it is too long or wrong. */
function traceLink({ values }: TrafficDraft): string | undefined {
  // Not read at all if it cannot be short.
  if (values.trace.length > LONGEST_TRACE * LONGEST_LINE) return undefined
  const traffic = readingDraft(() => readTrace(values.trace))
  if (traffic instanceof DraftProblem) return undefined
  const { originUs, atUs } = traffic
  if (atUs.length > LONGEST_TRACE) return undefined
  const gaps = Array.from(atUs, (at, i) => (at - (i === 0 ? 0 : atUs[i - 1])).toString(36))
  const text = `trace_${originUs.toString(36)}_${gaps.join('.')}`
  return text.length <= LONGEST_TRACE ? text : undefined
}

/** The lines of a trace in a link, in milliseconds. What cannot be read is an empty trace. */
function traceOf([origin = '', gaps = '']: readonly string[]): string {
  let atUs = Number.parseInt(origin, 36)
  if (Number.isNaN(atUs)) return ''
  const lines: string[] = []
  for (const gap of gaps.split('.')) {
    atUs += Number.parseInt(gap, 36)
    if (!Number.isSafeInteger(atUs) || atUs < 0) return ''
    lines.push(String(atUs / 1_000))
  }
  return lines.join('\n')
}
