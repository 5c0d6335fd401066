import { quotaOf } from 'sluice/limits'
import { printable } from '../policy-file/policy-file-error.js'
import type { DescriptorReport, RulesReport } from './explain-rules.js'
import { limitText } from './explanation-text.js'
import { countText, leftText, textTable } from './text-table.js'

/** The most rules of the same key that are named for an entry. */
const MOST_OTHERS = 20

/** The report of `sluice explain` for rules as text for people. */
export function rulesReportText(report: RulesReport): string {
  const { domain, overall, descriptors, store } = report
  const lines = [
    ...descriptors.flatMap((each) => [...linesOf(each), '']),
    `${overall} for the domain ${printable(domain)}.`,
    store === 'memory'
      ? 'This is a fresh store: nothing has been taken. --store redis://… asks a Redis.'
      : `As of now in ${store}.`,
  ]
  return `${lines.join('\n')}\n`
}

function linesOf(report: DescriptorReport): readonly string[] {
  const { descriptor, steps, counts = [], limits = [] } = report
  const rows = steps.flatMap(({ entry, rule = 'no rule', because, others, otherKeys }) => [
    [`  ${entry}`, `→ ${rule}`, because],
    ...others.slice(0, MOST_OTHERS).map((other) => ['', `  not ${other.rule}`, other.because]),
    ...(others.length > MOST_OTHERS ? [['', `  not ${others.length - MOST_OTHERS} more of this key`, '']] : []),
    ...(otherKeys === 0 ? [] : [['', `  ${countText(otherKeys, 'rule')} of other keys`, '']]),
  ])
  const states = counts.map(
    ({ rule, descriptor: key }) => `  counts as rule=${rule}${key === undefined ? '' : ` descriptor=${key}`}`,
  )
  const left = limits.map(({ limit, remaining, allowed, until }) => {
    const fit = allowed ? '' : ', which is not enough'
    const what = until === undefined ? limitText(limit) : `${quotaOf(limit)} until ${until.slice(0, 10)}`
    return `  ${what}: ${leftText(remaining, quotaOf(limit))} left${fit}`
  })
  return [
    descriptor === '' ? '(no entries)' : descriptor,
    ...textTable(rows),
    ...states,
    ...left,
    `  ${report.code}${reasonOf(report)}`,
  ].map((line) => printable(line).trimEnd())
}

function reasonOf({ noLimit, isReplaced, isShadow, isQuota }: DescriptorReport): string {
  if (noLimit !== undefined) return `: no limit, because ${noLimit}`
  if (isReplaced === true) return ': no limit, because that of another descriptor replaces it'
  if (isShadow === true) return ': a shadow, which never denies'
  return isQuota === true ? ': a quota, which denies if all quotas of the request are over' : ''
}
