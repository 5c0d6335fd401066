import { styleText } from 'node:util'
import { printable } from '../../policy-file/policy-file-error.js'
import { countText, textTable } from '../text-table.js'
import type { LoadReport } from './load-result.js'

/** From this share of a processor on, the client may be what limits a load without a rate. */
const BUSY = 0.9
/** From this delay on, the client adds noticeably to the latencies at a rate. */
const LATE_MS = 1

/** The report of `sluice bench` as text for people. */
export function loadReportText(report: LoadReport, colours: boolean): string {
  const paint = (style: 'bold' | 'red' | 'yellow', text: string) => (colours ? styleText(style, text) : text)
  const { decisions, decisionsPerSecond, elapsedMs, latencyMs, failed, unanswered } = report
  const { p50, p90, p99, p999, max } = latencyMs
  const failures = Object.entries(failed).map(([reason, count]) => [`  ${number(count)}`, printable(reason)])
  const lines = [
    `${paint('bold', `${number(decisionsPerSecond)} decisions/s`)}: ${countText(decisions, 'decision')} in ${(elapsedMs / 1_000).toFixed(1)} s, ${mannerOf(report)}`,
    '',
    ...textTable(
      [
        ['allowed', number(report.allowed), share(report.allowed, decisions)],
        ['denied', number(report.denied), share(report.denied, decisions)],
      ],
      [1, 2],
    ),
    '',
    `latency   p50 ${ms(p50)}   p90 ${ms(p90)}   p99 ${ms(p99)}   p99.9 ${ms(p999)}   longest ${ms(max)}`,
    ...(failures.length === 0 ? [] : ['', paint('red', 'Failed requests:'), ...textTable(failures)]),
    ...(unanswered === 0
      ? []
      : ['', paint('red', `${countText(unanswered, 'request')} had no answer 5 s after the end.`)]),
    ...doubtsOf(report).map((doubt) => paint('yellow', `\n${doubt}`)),
  ]
  return `${lines.join('\n')}\n`
}

function mannerOf({ connections, rate, batch }: LoadReport): string {
  const batches = batch === 1 ? '' : ` in batches of ${batch}`
  const manner =
    rate === null ? 'as fast as answers came' : `at ${number(rate)} decisions/s, measured from when a request was due`
  return `${countText(connections, 'connection')}${batches}, ${manner}`
}

/** Reasons why the numbers may say more about this client than about the service. */
function doubtsOf({ rate, clientCpu, clientDelayMs }: LoadReport): readonly string[] {
  if (rate === null && clientCpu >= BUSY)
    return [`This client used ${Math.round(clientCpu * 100)} % of a processor: the service may be able to do more.`]
  if (clientDelayMs !== null && clientDelayMs >= LATE_MS)
    return [`This client sent ${ms(clientDelayMs)} late (p99): latencies may be too long by as much.`]
  return []
}

function number(count: number): string {
  return count.toLocaleString('en')
}

function share(part: number, whole: number): string {
  return whole === 0 ? '' : `${((part * 100) / whole).toFixed(1)} %`
}

/** Three digits: `0.123 ms`, `1.23 ms`, `123 ms`. */
function ms(value: number): string {
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ms`
}
