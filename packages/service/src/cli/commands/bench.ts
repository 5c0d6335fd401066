import { durationUs } from 'sluice/limits'
import { askForJson, readUrl, serviceUrl } from '../ask-service.js'
import { type Command, type CommandIo, JSON_OPTION, UsageError } from '../command.js'
import { loadReportText } from '../load/load-report-text.js'
import { type LoadOptions, LoadRun } from '../load/load-run.js'
import { parseOptions } from '../parse-options.js'
import { readCost, readRequest } from '../read-request.js'

const DEFAULT_REQUEST = '{"method":"POST","path":"/v1/charges","merchant":"acct_{n}","ip":"192.0.2.7"}'

const OPTIONS = {
  connections: { value: 'N', help: 'how many connections send, each one request at a time. Default 64' },
  duration: { value: 'TIME', help: 'how long to measure: 10s (default), 500ms, 2m' },
  'warm-up': { value: 'TIME', help: 'how long to send before measuring. Default 1s' },
  rate: { value: 'N', help: 'decisions a second. Default: as fast as answers come' },
  batch: { value: 'N', help: 'how many decisions a request asks for, 1 (default) to 1000' },
  request: { value: 'JSON', help: `the attributes; {n} stands for a number below --keys. Default ${DEFAULT_REQUEST}` },
  keys: { value: 'N', help: 'how many numbers {n} takes. Default 1000' },
  cost: { value: 'N', help: 'the cost of each decision, a whole number from 0. Default 1' },
  json: JSON_OPTION,
} as const

const PROGRESS_MS = 500
/** Clears the terminal from the cursor to the end of the line. */
const CLEAR_REST = '\u001b[K'

export const bench: Command = {
  summary: 'sends load to a running service and measures its answers',
  usage: '[URL] [--connections N] [--duration TIME] [--rate N] [--batch N] [--request JSON] [--keys N] [--json]',
  about: `Sends load to a running service and measures decisions a second and latencies. URL is http://127.0.0.1:8080 if neither
it nor SLUICE_URL is given. The decisions are real: they take from the limits of the service.`,
  options: OPTIONS,
  notes: `With --rate, requests are due at fixed times, and a latency counts from the moment when its request was due. So a pause of
the service shows in the latency of every request that it delayed. Without --rate, it counts from the sending.

  $ sluice bench http://127.0.0.1:8080 --duration 5s
  $ sluice bench http://127.0.0.1:8080 --rate 10000 --request '{"ip":"192.0.2.{n}"}' --keys 200

Ctrl-C ends the measurement early and prints the result.
Exit code: 0; 1 if a request failed or the service does not answer; 2 if the command line is wrong.`,
  async run(args, io) {
    const { values, positionals } = parseOptions(args, OPTIONS)
    const options = readLoadOptions(values, positionals, io)
    await askOnce(options)
    const run = new LoadRun(options)
    const stopProgress = showProgress(run, options, io)
    const onSignal = () => run.stop()
    process.once('SIGINT', onSignal)
    const report = await run.run().finally(() => {
      process.off('SIGINT', onSignal)
      stopProgress()
    })
    const colours = io.stdout.isTTY === true && !io.env.NO_COLOR
    io.stdout.write(values.json === true ? `${JSON.stringify(report, null, 2)}\n` : loadReportText(report, colours))
    return Object.keys(report.failed).length === 0 && report.unanswered === 0 ? 0 : 1
  },
}

/** One question before the load: a wrong address or attribute is an error that says what would be right. */
async function askOnce({ url, attributes }: LoadOptions): Promise<void> {
  const body = JSON.stringify({ attributes, cost: 0 })
  await askForJson(url, '/v1/check', 'allowed', { method: 'POST', body })
}

type Values = { readonly [Name in keyof typeof OPTIONS]?: string | true }

function readLoadOptions(values: Values, positionals: readonly string[], io: CommandIo): LoadOptions {
  const [address, ...more] = positionals
  if (more.length > 0) throw new UsageError(`bench takes one address, got '${more[0].slice(0, 60)}' as well`)
  const text = (name: keyof typeof OPTIONS) => values[name] as string | undefined
  const whole = (name: keyof typeof OPTIONS, otherwise: number, most: number) => {
    const given = text(name)
    if (given === undefined) return otherwise
    const number = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN
    if (number >= 1 && number <= most) return number
    throw new UsageError(`--${name} must be a whole number from 1 to ${most}, got '${given.slice(0, 60)}'`)
  }
  return {
    url: address === undefined ? serviceUrl(undefined, io.env) : readUrl(address, 'the argument of bench'),
    connections: whole('connections', 64, 10_000),
    durationMs: readTime('duration', text('duration') ?? '10s'),
    warmUpMs: readTime('warm-up', text('warm-up') ?? '1s'),
    rate: values.rate === undefined ? undefined : whole('rate', 0, 10_000_000),
    batch: whole('batch', 1, 1_000),
    attributes: readRequest(text('request') ?? DEFAULT_REQUEST),
    keys: whole('keys', 1_000, 100_000_000),
    cost: readCost(text('cost')),
  }
}

function readTime(name: string, text: string): number {
  if (text === '0') return 0
  try {
    return durationUs(name, text) / 1_000
  } catch {
    throw new UsageError(`--${name} must be a time such as 500ms, 10s or 2m, got '${text.slice(0, 60)}'`)
  }
}

/** Rewrites one line of the terminal until the returned function is called. Other outputs get no progress. */
function showProgress(run: LoadRun, { durationMs }: LoadOptions, { stderr }: CommandIo): () => void {
  if (stderr.isTTY !== true) return () => {}
  const timer = setInterval(() => {
    const { measuredMs, result } = run
    const seconds = measuredMs / 1_000
    const rate = Math.round((result.allowed + result.denied) / seconds).toLocaleString('en')
    const failed = result.failed.size === 0 ? '' : '  some requests fail'
    const figures = `${rate} decisions/s  p99 ${result.p99Ms} ms${failed}`
    const line = seconds > 0 ? `${seconds.toFixed(1)} of ${durationMs / 1_000} s  ${figures}` : 'warming up'
    stderr.write(`\r${line}${CLEAR_REST}`)
  }, PROGRESS_MS)
  return () => {
    clearInterval(timer)
    stderr.write(`\r${CLEAR_REST}`)
  }
}
