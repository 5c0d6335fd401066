import type { CalendarUnit, Rule } from './rule.js'

/** A level of the policy that keeps counts of a rule. */
export interface RuleLevel {
  readonly name: string
  /** Its counts begin anew with each such period, whose name is the last part of the key. */
  readonly calendar: CalendarUnit | undefined
}

/** A rule with limits, ready for decisions. */
export interface LimitRule {
  readonly domain: string
  /** The rules on the way from the domain to this one, which is the last. */
  readonly path: readonly Rule[]
  /** For `replaces`; empty if it has none. */
  readonly name: string
  readonly replaces: readonly string[]
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly countOverLimit: boolean
  readonly isUnlimited: boolean
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  /** One, and one more for each period of the calendar that its limits name. */
  readonly levels: readonly RuleLevel[]
  /** Places of the path whose values tell its states apart. */
  readonly openPlaces: readonly number[]
}

/** The places of a path whose values are open: for an exact value, and where all values share a count, they are not. */
export function openPlacesOf(path: readonly Rule[]): readonly number[] {
  return path.flatMap(({ test, shareThreshold }, i) => (test.kind === 'exact' || shareThreshold ? [] : [i]))
}
