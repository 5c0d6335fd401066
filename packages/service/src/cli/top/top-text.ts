import { styleText } from 'node:util'
import { printable } from '../../policy-file/policy-file-error.js'
import type { Summary } from '../../recorder/live-summary.js'
import type { TopKeysReading } from '../../recorder/top-keys.js'
import { textTable } from '../text-table.js'

/** One second of a service, with its most frequent keys, as `/v1/admin/events?keys=20` sends it. */
export interface LiveSummaryWithKeys extends Summary {
  readonly topKeys: TopKeysReading
}

/** How to show it. */
export interface TopView {
  readonly url: string
  readonly sort: 'load' | 'denials'
  /** How many keys to show at most. */
  readonly keys: number
  /** How many lines and columns there is room for; Infinity for a pipe. */
  readonly rows: number
  readonly columns: number
  readonly colours: boolean
}

const LONGEST_KEY = 48
/** The only key of a level that has no key. */
const NO_KEY = '*'
/** The lines above the keys, beside one for each level. */
const HEAD_LINES = 7

/** The table of `sluice top`, line by line. */
export function topText(summary: LiveSummaryWithKeys, view: TopView): readonly string[] {
  const { rows, columns, colours } = view
  const levels = levelLines(summary)
  const keys = keyLines(summary, view, Math.max(1, Math.min(view.keys, rows - HEAD_LINES - levels.length)))
  const lines = [...headLines(summary, view.url), '', ...levels, '', ...keys]
  const fitting = lines.slice(0, rows).map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line))
  if (!colours) return fitting
  const titles = new Set([3, 4 + levels.length, 5 + levels.length])
  return fitting.map((line, i) => (i === 0 || titles.has(i) ? styleText('bold', line) : line))
}

function headLines(summary: LiveSummaryWithKeys, url: string): readonly string[] {
  const { atMs, elapsedMs, decisions, allowed, denied, errors, degraded, decisionsPerSecond, p50Ms, p99Ms } = summary
  const perSecond = (count: number) => number(Math.round((count * 1_000) / Math.max(1, elapsedMs)))
  const share = decisions === 0 ? '' : ` (${((denied * 100) / decisions).toFixed(1)} %)`
  const parts = [
    `${number(decisionsPerSecond)} decisions/s`,
    `${perSecond(allowed)} allowed`,
    `${perSecond(denied)} denied${share}`,
    ...(errors === 0 ? [] : [`${perSecond(errors)} errors`]),
    ...(degraded === 0 ? [] : [`${perSecond(degraded)} without the store`]),
    `p50 ${milliseconds(p50Ms)}`,
    `p99 ${milliseconds(p99Ms)}`,
  ]
  const time = new Date(atMs).toISOString().slice(11, 19)
  return [`Sluice at ${url}, store ${summary.store.kind}, ${time} UTC`, parts.join('   ')]
}

function levelLines({ levels, elapsedMs }: LiveSummaryWithKeys): readonly string[] {
  const perSecond = (count: number) => number(Math.round((count * 1_000) / Math.max(1, elapsedMs)))
  const hasShadow = levels.some(({ shadowDenied }) => shadowDenied > 0)
  const head = ['level', 'decisions/s', 'denied/s', ...(hasShadow ? ['shadow-denied/s'] : [])]
  const rows = levels.map(({ level, decisions, denied, shadowDenied }) => [
    printable(level),
    perSecond(decisions),
    perSecond(denied),
    ...(hasShadow ? [perSecond(shadowDenied)] : []),
  ])
  return textTable([head, ...rows], [1, 2, 3])
}

interface KeyRow {
  readonly level: string
  readonly key: string
  requests: string
  denials: string
  /** What the rows are sorted by. */
  load: number
  denied: number
}

function keyLines({ atMs, topKeys }: LiveSummaryWithKeys, { sort }: TopView, most: number): readonly string[] {
  const seconds = Math.max(1, Math.round((atMs - topKeys.sinceMs) / 1_000))
  const rows = keyRows(topKeys)
  rows.sort((a, b) =>
    sort === 'load' ? b.load - a.load || b.denied - a.denied : b.denied - a.denied || b.load - a.load,
  )
  const cells = rows.slice(0, most).map(({ key, level, requests, load, denials }) => {
    const shown = printable(key)
    const short = shown.length > LONGEST_KEY ? `${shown.slice(0, LONGEST_KEY - 1)}…` : shown
    return [short, printable(level), requests, (load / seconds).toFixed(1), denials]
  })
  const order = sort === 'load' ? 'requests' : 'denials'
  if (cells.length === 0) return [`No key in the last ${seconds} s.`]
  const table = textTable([['key', 'level', 'requests', 'requests/s', 'denied'], ...cells], [2, 3, 4])
  return [`Keys with the most ${order} in the last ${seconds} s`, ...table]
}

/** One row for each level and key. A level without a key has no row: the table of levels shows it. */
function keyRows({ levels }: TopKeysReading): KeyRow[] {
  return levels.flatMap(({ level, byLoad, byDenials }) => {
    const rows = new Map<string, KeyRow>()
    const rowOf = (key: string) => {
      const row = rows.get(key) ?? { level, key, requests: '', denials: '0', load: 0, denied: 0 }
      rows.set(key, row)
      return row
    }
    for (const { key, count, error } of byLoad)
      Object.assign(rowOf(key), { load: count, requests: atMost(count, error) })
    for (const { key, count, error } of byDenials)
      Object.assign(rowOf(key), { denied: count, denials: atMost(count, error) })
    return rows.size === 1 && rows.has(NO_KEY) ? [] : [...rows.values()]
  })
}

/** A count of the sketch is too large by at most its error. */
function atMost(count: number, error: number): string {
  return error === 0 ? number(count) : `≤ ${number(count)}`
}

function number(count: number): string {
  return count.toLocaleString('en')
}

function milliseconds(ms: number): string {
  return `${Number(ms.toPrecision(2))} ms`
}
