import { shown } from '../errors.js'
import { type Mismatch, MOST_LISTED } from './mismatch.js'

/**
 * Says in words why a level, or all overrides of a level, do not match. `explain` makes its `because` and `noOverride` so. A
 * program whose reader may not see a value puts another text in its place first.
 *
 * @example
 * ```ts
 * import { mismatchText } from 'sluice'
 *
 * mismatchText([{ attribute: 'plan', value: 'free', asked: ['"pro"'] }]) // plan is 'free', and it asks for "pro"
 * ```
 */
export function mismatchText(mismatches: readonly Mismatch[]): string {
  return mismatches.map(textOf).join('; ')
}

function textOf({ attribute, value, asked, overrides = 1 }: Mismatch): string {
  const is = `${attribute} is ${value === undefined ? 'absent' : shown(value)}`
  if (asked.length === 0) return `${is}, and its key needs it`
  const listed = asked.slice(0, MOST_LISTED)
  if (asked.length > MOST_LISTED) listed.push('others')
  const last = listed.pop()
  const list = listed.length === 0 ? last : `${listed.join(', ')} or ${last}`
  return `${is}, and ${overrides === 1 ? 'it asks' : 'they ask'} for ${list}`
}
