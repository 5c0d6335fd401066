import type { Limit } from 'sluice'
import type { ValueTest } from './value-test.js'

/** A window that the calendar cuts, in UTC: a week begins on Monday, a month and a year on their first day. */
export type CalendarUnit = 'week' | 'month' | 'year'

/** One limit of a rule. `calendar`: the count begins anew with each such period. */
export interface RuleLimit {
  readonly limit: Limit
  readonly calendar?: CalendarUnit | undefined
}

/** A `rate_limit`: all of its limits must allow. */
export interface RateLimitBlock {
  readonly limits: readonly RuleLimit[]
  /** The name that another rule may replace; empty if it has none. */
  readonly name: string
  /** Names of rules that do not count in a request that this rule matches. */
  readonly replaces: readonly string[]
}

/** What an item of `descriptors` says. */
export interface Rule {
  readonly key: string
  readonly test: ValueTest
  readonly rateLimit: RateLimitBlock | undefined
  readonly shadowMode: boolean
  readonly quotaMode: boolean
  readonly detailedMetric: boolean
  readonly valueToMetric: boolean
  /** All values that the test admits share one count. */
  readonly shareThreshold: boolean
  /** Hits that do not fit count all the same, and leave a debt. */
  readonly countOverLimit: boolean
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly descriptors: readonly Rule[]
}

/** What a file says: the rules of a domain. */
export interface DomainRules {
  readonly domain: string
  readonly descriptors: readonly Rule[]
}
