import { styleText } from 'node:util'
import type { Explanation, Limit } from 'sluice'
import { printable } from '../policy-file/policy-file-error.js'
import { type ExplainReport, fits } from './explain-report.js'

const HEAD = ['level', 'key', 'limit', 'from', 'cost', 'left']

/** The report of `sluice explain` as text for people. */
export function explanationText(report: ExplainReport, colours: boolean): string {
  const paint = (style: 'green' | 'red' | 'yellow' | 'dim', text: string) => (colours ? styleText(style, text) : text)
  const matching = report.levels.filter(({ matches }) => matches)
  const others = report.levels.filter(({ matches }) => !matches)
  const lines = [
    ...(matching.length === 0 ? ['No level matches.'] : table([HEAD, ...matching.flatMap(rowsOf)])),
    ...(others.length === 0 ? [] : ['', 'Does not match:']),
    ...table(others.map(({ level, because }) => [`  ${level}`, printable(because ?? '')])).map((line) =>
      paint('dim', line),
    ),
    '',
    report.allowed
      ? paint('green', `Allowed: a request like this would pass now${takenFrom(report)}.`)
      : paint('red', `Denied by ${report.deniedBy.join(', ')}.`),
    ...report.reasons.map((reason) => `  ${reason}`),
    ...report.unused.map((each) => paint('yellow', unusedText(each))),
    report.store === 'memory'
      ? paint('dim', 'This is a fresh store: nothing has been taken. --store redis://… asks a Redis.')
      : paint('dim', `As of now in ${report.store}, policy '${report.policy}'.`),
  ]
  return `${lines.join('\n')}\n`
}

function rowsOf({ level, key = '', from = 'level', cost = 0, shadow, limits = [] }: Explanation): readonly string[][] {
  return limits.map(({ limit, decision }, i) => {
    const left = `${decision.remaining} of ${decision.quota}`
    const fit = fits(decision, cost) ? left : `${left}, which is not enough`
    const first = i === 0 ? [shadow === true ? `${level} (shadow)` : level, printable(key)] : ['', '']
    return [...first, limitText(limit), from, String(cost), fit]
  })
}

/** Lines with aligned columns, two spaces apart. Rows may differ in length, and the last cell is never padded. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.slice(0, -1).entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  }
  return rows.map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]))).join('  '))
}

function limitText({ algorithm, ...numbers }: Limit): string {
  return [algorithm, ...Object.entries(numbers).map(([name, value]) => `${name} ${value}`)].join(', ')
}

function takenFrom({ levels }: ExplainReport): string {
  const names = levels.filter(({ matches, cost }) => matches && cost !== 0).map(({ level }) => level)
  return names.length === 0 ? '' : ` and take from ${names.join(', ')}`
}

function unusedText({ attribute, didYouMean }: ExplainReport['unused'][number]): string {
  const advice = didYouMean === undefined ? '' : `; did you mean '${didYouMean}'?`
  return `The policy never asks about '${printable(attribute)}'${advice}`
}
