/**
 * Reads a trace of real traffic: a line for each request. A line begins with milliseconds (`12.5`, or since the epoch), with an ISO
 * time (`2026-11-19T01:02:03.250Z`), or is a line of an access log with `[19/Nov/2026:01:02:03 +0000]`.
 */
import { DraftProblem } from '../settings/draft.js'
import type { Traffic } from './simulate.js'

/** A trace may have so many lines and characters; a longer one is refused before it is read. */
const MOST_LINES = 100_000
const MOST_TRACE_CHARACTERS = 20_000_000
/** Milliseconds from here on are since the epoch: 1973. Below they are since the trace began. */
const EPOCH_FROM_MS = 1e11
const LONGEST_US = 31 * 86_400_000_000

const MILLISECONDS = /^(\d{1,15}(?:\.\d{1,6})?)(?:\s|,|;|$)/
const ISO = /^"?(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?(?:["\s,;]|$)/i
const ACCESS_LOG = /\[(\d{2})\/([A-Za-z]{3})\/(\d{4}):(\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))? ([+-]\d{2})(\d{2})\]/
const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec'

/** The traffic of a trace. Its time 0 is the first request, or a whole second before it if the times are of a calendar. */
export function readTrace(text: string): Traffic {
  if (text.length > MOST_TRACE_CHARACTERS)
    throw problem(`The trace has ${text.length.toLocaleString('en')} characters. The lab reads at most 20 million.`)
  const times: number[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    if (times.length === MOST_LINES)
      throw problem(`The trace has more than ${MOST_LINES.toLocaleString('en')} requests. Paste a shorter part of it.`)
    times.push(timeUs(trimmed, index + 1))
  }
  if (times.length === 0)
    throw problem(
      'The trace is empty. Paste a line for each request: milliseconds, an ISO time, or a line of an access log.',
    )
  const atUs = Float64Array.from(times).sort()
  const first = atUs[0]
  const originUs = first >= EPOCH_FROM_MS * 1_000 ? Math.floor(first / 1e6) * 1e6 : 0
  const spanUs = atUs[atUs.length - 1] - originUs
  if (spanUs > LONGEST_US) throw problem('The trace is longer than 31 days. Paste a shorter part of it.')
  for (let i = 0; i < atUs.length; i++) atUs[i] -= originUs
  // A little longer than the last request, so that its bar is seen.
  return { originUs, atUs, lengthUs: Math.max(1_000_000, Math.ceil(spanUs * 1.02)) }
}

function timeUs(line: string, number: number): number {
  const us = millisecondsUs(line) ?? isoUs(line) ?? accessLogUs(line)
  if (us !== undefined && us >= 0 && us <= Number.MAX_SAFE_INTEGER) return us
  throw problem(
    `Line ${number} of the trace has no time that the lab can read: “${line.slice(0, 60)}”. Begin it with milliseconds ` +
      'such as 1763514123250 or an ISO time such as 2026-11-19T01:02:03.250Z, or paste lines of an access log.',
  )
}

function millisecondsUs(line: string): number | undefined {
  const match = MILLISECONDS.exec(line)
  return match === null ? undefined : Math.floor(Number(match[1]) * 1_000 + 0.5)
}

/** A time without a zone is UTC, so that a link shows everyone the same windows. */
function isoUs(line: string): number | undefined {
  const match = ISO.exec(line)
  if (match === null) return undefined
  const [, seconds, fraction, zone = 'Z'] = match
  return withFraction(Date.parse(`${seconds.replace(' ', 'T')}${zone.toUpperCase()}`), fraction)
}

function accessLogUs(line: string): number | undefined {
  const match = ACCESS_LOG.exec(line)
  if (match === null) return undefined
  const [, day, month, year, time, fraction, hours, minutes] = match
  const at = MONTHS.indexOf(month.toLowerCase())
  if (at < 0 || at % 3 !== 0) return undefined
  const monthNumber = String(at / 3 + 1).padStart(2, '0')
  return withFraction(Date.parse(`${year}-${monthNumber}-${day}T${time}${hours}:${minutes}`), fraction)
}

function withFraction(ms: number, fraction = ''): number | undefined {
  return Number.isNaN(ms) ? undefined : ms * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6))
}

function problem(message: string): DraftProblem {
  return new DraftProblem(message, 'trace')
}
