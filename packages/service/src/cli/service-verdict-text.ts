import { styleText } from 'node:util'
import { printable } from '../policy-file/policy-file-error.js'
import { durationText, leftText, textTable } from './text-table.js'

/** A verdict as the service sends it. A wait that never ends and a quota without a limit are `null`. */
export interface ServiceVerdict {
  readonly allowed: boolean
  readonly retryAfterMs: number | null
  readonly delayMs: number
  readonly deniedBy: readonly string[]
  readonly levels: readonly {
    readonly name: string
    readonly allowed: boolean
    readonly quota: number | null
    readonly remaining: number | null
    readonly retryAfterMs: number | null
    readonly resetAfterMs: number | null
    readonly shadow?: boolean
  }[]
  readonly degraded?: string
}

/** A verdict of a service as text for people. */
export function serviceVerdictText(verdict: ServiceVerdict, colours: boolean): string {
  const paint = (style: 'green' | 'red' | 'yellow', text: string) => (colours ? styleText(style, text) : text)
  const { allowed, levels, degraded } = verdict
  const rows = levels.map(({ name, allowed, quota, remaining, retryAfterMs, resetAfterMs, shadow }) => [
    shadow === true ? `${printable(name)} (shadow)` : printable(name),
    leftText(remaining ?? Infinity, quota ?? Infinity),
    allowed
      ? wholeText(quota, resetAfterMs)
      : `${shadow === true ? 'would deny' : 'denies'}, ${retryText(retryAfterMs)}`,
  ])
  const lines = [
    allowed ? paint('green', allowedText(verdict)) : paint('red', deniedText(verdict)),
    ...(degraded === undefined
      ? []
      : [paint('yellow', `The store did not answer: decided by the rule '${printable(degraded)}'.`)]),
    ...(rows.length === 0 ? [] : ['', ...textTable([['level', 'left', ''], ...rows]).map((line) => line.trimEnd())]),
  ]
  return `${lines.join('\n')}\n`
}

function allowedText({ levels, delayMs }: ServiceVerdict): string {
  if (levels.length === 0) return 'Allowed: no level of the policy matches the request.'
  return delayMs > 0 ? `Allowed after a wait of ${durationText(delayMs)}.` : 'Allowed.'
}

function deniedText({ deniedBy, retryAfterMs }: ServiceVerdict): string {
  return `Denied by ${printable(deniedBy.join(', '))}: ${retryText(retryAfterMs)}.`
}

function retryText(ms: number | null): string {
  return ms === null ? 'a request like this never passes' : `come back in ${durationText(ms)}`
}

function wholeText(quota: number | null, ms: number | null): string {
  if (quota === null) return ''
  if (ms === 0) return 'whole'
  return ms === null ? 'never whole again' : `whole in ${durationText(ms)}`
}
