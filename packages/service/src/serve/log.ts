import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** The log of a service. */
export type Log = Logger

const LEVELS = { 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' } as const

/** Where a log is written. */
interface Output {
  write(text: string): unknown
}

/** Makes the log: a line of JSON for each event, a line of text for people, or nothing. */
export function createLog(form: 'json' | 'text' | 'off', output: Output): Logger {
  const destination = form === 'text' ? { write: (line: string) => void output.write(textOf(line)) } : output
  return pino(
    { level: form === 'off' ? 'silent' : 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination as { write(text: string): void },
  )
}

/** Writes a line that another thread has logged as JSON into this log, in its form. */
export function repeatLine(log: Log, line: string): void {
  const { level, time: _, msg, ...others } = JSON.parse(line) as Record<string, unknown>
  log[nameOf(level) ?? 'error'](others, String(msg))
}

function textOf(line: string): string {
  const { level, time, msg, err, ...others } = JSON.parse(line) as Record<string, unknown>
  const details = Object.entries(others).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  const cause = err === undefined ? '' : ` ${(err as { stack?: string }).stack ?? JSON.stringify(err)}`
  return `${String(time).slice(11, 19)} ${nameOf(level) ?? level} ${msg}${details.join('')}${cause}\n`
}

function nameOf(level: unknown): (typeof LEVELS)[keyof typeof LEVELS] | undefined {
  return LEVELS[level as keyof typeof LEVELS]
}
