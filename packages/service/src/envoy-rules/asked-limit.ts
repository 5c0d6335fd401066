import { fixedWindow, type Limit } from 'sluice'
import { hitsOf } from '../envoy/check-rate-limit-request.js'
import { OverrideLimits, WINDOW_OF_UNIT } from '../envoy/override-limits.js'
import {
  type RateLimitDescriptor,
  type RateLimitRequest,
  type RateLimitUnit,
  UNITS,
} from '../envoy/rate-limit-request.js'
import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import { type Calendar, calendarLimit, type Period } from './calendar.js'
import type { RuleAttributes } from './compile-rules.js'
import { descriptorKey, stateKey } from './descriptor-key.js'
import { findRule } from './find-rule.js'
import type { LimitRule } from './limit-rule.js'
import type { CalendarUnit } from './rule.js'
import { requestLimitName } from './rule-name.js'
import type { RuleNode } from './rule-node.js'

/** What a policy is asked for one level of a rule. */
export interface LevelDemand {
  readonly attributes: RuleAttributes
  /** The period of its count; absent for other windows. */
  readonly period: Period | undefined
}

/** What a descriptor asks for: hits on the limits of its rule, or on a limit that came with it. */
export interface AskedLimit {
  /** The descriptor's position in the request. */
  readonly index: number
  readonly hits: number
  readonly isRefund: boolean
  /** It counts, and never denies. */
  readonly isShadow: boolean
  /** Absent for a limit that came with the request. */
  readonly rule: LimitRule | undefined
  readonly nodes: readonly RuleNode[]
  /** The limit that came with the request. */
  readonly given: Limit | undefined
  readonly demands: readonly LevelDemand[]
}

/**
 * Finds the limits that the descriptors of a request ask for. Descriptors without one are left out. `isShadow`: limits that come
 * with the request deny nothing.
 */
export function askedLimits(
  root: RuleNode,
  request: RateLimitRequest,
  calendar: Calendar,
  isShadow = false,
): readonly AskedLimit[] {
  const asked: AskedLimit[] = []
  for (let i = 0; i < request.descriptors.length; i++) {
    const one = askedLimit(root, request, i, calendar, isShadow)
    if (one !== undefined) asked.push(one)
  }
  return withoutReplaced(asked)
}

function askedLimit(
  root: RuleNode,
  request: RateLimitRequest,
  index: number,
  calendar: Calendar,
  isShadow: boolean,
): AskedLimit | undefined {
  const descriptor = request.descriptors[index]
  const hits = hitsOf(descriptor, request)
  const isRefund = descriptor.isNegativeHits
  const ofRequest = limitOfRequest(request.domain, descriptor, calendar)
  if (ofRequest !== undefined) return { index, hits, isRefund, isShadow, rule: undefined, nodes: [], ...ofRequest }
  const found = findRule(root, descriptor.entries)
  if (found !== undefined) {
    const { rule, nodes } = found
    // One literal: this runs for every descriptor, and a spread takes longer than all the rest.
    return {
      index,
      hits,
      isRefund,
      isShadow: rule.shadowMode,
      rule,
      nodes,
      given: undefined,
      demands: demandsOf(rule, descriptor, calendar),
    }
  }
  if (descriptor.limit === undefined) return undefined
  // Without a rule that could count instead, the limit would be lost.
  throw new GrpcError(GRPC_STATUS.invalidArgument, `the limit of descriptor ${index} has no unit that is known`)
}

function demandsOf(rule: LimitRule, { entries }: RateLimitDescriptor, calendar: Calendar): readonly LevelDemand[] {
  return rule.levels.map(({ name, calendar: unit }) => {
    const period = unit === undefined ? undefined : calendar.period(unit)
    return { attributes: { rule: name, descriptor: stateKey(rule, entries, period?.name) }, period }
  })
}

/** A limit that another matched limit replaces does not count. An unlimited rule has none. */
function withoutReplaced(asked: readonly AskedLimit[]): readonly AskedLimit[] {
  if (!asked.some(({ rule }) => rule !== undefined && rule.replaces.length > 0)) return asked
  const replaced = new Set(asked.flatMap(({ rule }) => rule?.replaces ?? []))
  return asked.filter(({ rule }) => rule === undefined || rule.isUnlimited || !replaced.has(rule.name))
}

/** The windows of the calendar by their units. */
const CALENDAR_OF: Readonly<Partial<Record<RateLimitUnit, CalendarUnit>>> = {
  [UNITS.week]: 'week',
  [UNITS.month]: 'month',
  [UNITS.year]: 'year',
}

/** The limits that requests came with. */
const givenLimits = new OverrideLimits(({ requestsPerUnit, unit }) => {
  const calendar = CALENDAR_OF[unit]
  if (calendar !== undefined) return calendarLimit(requestsPerUnit, calendar)
  const window = WINDOW_OF_UNIT[unit]
  return window === undefined ? undefined : fixedWindow({ quota: requestsPerUnit, window })
})

/** The limit that came with a descriptor. Its count belongs to all entries of the descriptor, as no rule says which are open. */
function limitOfRequest(
  domain: string,
  { entries, limit }: RateLimitDescriptor,
  calendar: Calendar,
): Pick<AskedLimit, 'given' | 'demands'> | undefined {
  const given = limit && givenLimits.limitOf(limit)
  if (limit === undefined || given === undefined) return undefined
  const unit = CALENDAR_OF[limit.unit]
  const period = unit === undefined ? undefined : calendar.period(unit)
  const parts = entries.flatMap(({ key, value }) => [key, value])
  const key = descriptorKey(period === undefined ? parts : [...parts, period.name])
  return { given, demands: [{ attributes: { rule: requestLimitName(domain), descriptor: key }, period }] }
}
