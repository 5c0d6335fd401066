import { styleText } from 'node:util'
import type { BlockFor, Explanation, Limit } from 'sluice'
import { printable } from '../policy-file/policy-file-error.js'
import type { ExplainReport } from './explain-report.js'
import { leftText, textTable } from './text-table.js'

const HEAD = ['level', 'key', 'limit', 'from', 'cost', 'left']

/** The report of `sluice explain` as text for people. */
export function explanationText(report: ExplainReport, colours: boolean): string {
  const paint = (style: 'green' | 'red' | 'yellow' | 'dim', text: string) => (colours ? styleText(style, text) : text)
  const matching = report.levels.filter(({ matches }) => matches)
  const others = report.levels.filter(({ matches }) => !matches)
  const withoutOverride = report.levels.filter(({ noOverride }) => noOverride !== undefined)
  const section = (title: string, reasons: readonly (readonly [level: string, reason: string | undefined])[]) => {
    const rows = reasons.map(([level, reason = '']) => [`  ${level}`, printable(reason)])
    return rows.length === 0 ? [] : ['', title, ...textTable(rows).map((line) => paint('dim', line))]
  }
  const lines = [
    ...(matching.length === 0 ? ['No level matches.'] : textTable([HEAD, ...matching.flatMap(rowsOf)])),
    ...section(
      'Overrides that do not match:',
      withoutOverride.map(({ level, noOverride }) => [level, noOverride]),
    ),
    ...section(
      'Does not match:',
      others.map(({ level, because }) => [level, because]),
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

function rowsOf(explanation: Explanation): readonly string[][] {
  const { level, key = '', from = 'level', cost = 0, shadow, blockFor, limits = [] } = explanation
  return limits.map(({ limit, decision }, i) => {
    const left = leftText(decision.remaining, decision.quota)
    const fit = decision.allowed ? left : `${left}, which is not enough`
    const first = i === 0 ? [shadow === true ? `${level} (shadow)` : level, printable(key)] : ['', '']
    const rule = blockFor === undefined ? '' : `; ${blockText(blockFor)}`
    return [...first, `${limitText(limit)}${rule}`, from, String(cost), fit]
  })
}

/** A limit in one line: `fixed-window, quota 5, window 1d`. */
export function limitText({ algorithm, ...numbers }: Limit): string {
  return [algorithm, ...Object.entries(numbers).map(([name, value]) => `${name} ${value}`)].join(', ')
}

function blockText(blockFor: BlockFor): string {
  if (typeof blockFor !== 'object') return `blocks for ${blockFor}`
  const { first, factor, most, forget } = blockFor
  return `blocks for ${first}, then ${factor} times longer up to ${most}, forgets after ${forget}`
}

function takenFrom({ levels }: ExplainReport): string {
  const names = levels.filter(({ matches, cost }) => matches && cost !== 0).map(({ level }) => level)
  return names.length === 0 ? '' : ` and take from ${names.join(', ')}`
}

function unusedText({ attribute, didYouMean }: ExplainReport['unused'][number]): string {
  const advice = didYouMean === undefined ? '' : `; did you mean '${didYouMean}'?`
  return `The policy never asks about '${printable(attribute)}'${advice}`
}
