import { type Limit, parseLimit } from 'sluice'
import {
  type RateLimitDescriptor,
  type RateLimitRequest,
  type RateLimitUnit,
  UNITS,
} from '../envoy/rate-limit-messages.js'
import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import type { Calendar } from './calendar.js'
import { DESCRIPTOR, RULE } from './compile-rules.js'
import { descriptorKey, stateKey } from './descriptor-key.js'
import { findRule } from './find-rule.js'
import type { LimitRule } from './limit-rule.js'
import type { CalendarUnit } from './rule.js'
import { requestLimitName } from './rule-name.js'
import type { RuleNode } from './rule-node.js'

/** What a policy is asked for one level of a rule. */
interface LevelDemand {
  readonly attributes: { readonly [RULE]: string; readonly [DESCRIPTOR]: string | undefined }
  /** When the period of its count is over, in epoch milliseconds; absent for other windows. */
  readonly periodEndMs?: number
}

/** What a descriptor asks for: hits on the limits of its rule, or on a limit that came with it. */
export interface AskedLimit {
  /** The descriptor's position in the request. */
  readonly index: number
  readonly hits: number
  readonly isRefund: boolean
  /** Absent for a limit that came with the request. */
  readonly rule: LimitRule | undefined
  readonly nodes: readonly RuleNode[]
  /** The limit that came with the request. */
  readonly given: Limit | undefined
  readonly demands: readonly LevelDemand[]
}

/** Finds the limits that the descriptors of a request ask for. Descriptors without one are left out. */
export function askedLimits(root: RuleNode, request: RateLimitRequest, calendar: Calendar): readonly AskedLimit[] {
  const asked: AskedLimit[] = []
  for (let i = 0; i < request.descriptors.length; i++) {
    const one = askedLimit(root, request, i, calendar)
    if (one !== undefined) asked.push(one)
  }
  return withoutReplaced(asked)
}

function askedLimit(
  root: RuleNode,
  { domain, descriptors, hitsAddend }: RateLimitRequest,
  index: number,
  calendar: Calendar,
): AskedLimit | undefined {
  const descriptor = descriptors[index]
  const isRefund = descriptor.isNegativeHits
  const hits = descriptor.hitsAddend ?? (hitsAddend === 0 ? 1 : hitsAddend)
  if (descriptor.limit !== undefined)
    return { index, hits, isRefund, rule: undefined, nodes: [], ...limitOfRequest(domain, descriptor, index, calendar) }
  const found = findRule(root, descriptor.entries)
  if (found === undefined) return undefined
  const { rule, nodes } = found
  const demands = rule.levels.map(({ name, calendar: unit }): LevelDemand => {
    if (unit === undefined) return { attributes: { [RULE]: name, [DESCRIPTOR]: stateKey(rule, descriptor.entries) } }
    const period = calendar.period(unit)
    return {
      attributes: { [RULE]: name, [DESCRIPTOR]: stateKey(rule, descriptor.entries, period.name) },
      periodEndMs: period.endMs,
    }
  })
  return { index, hits, isRefund, rule, nodes, given: undefined, demands }
}

/** A limit that another matched limit replaces does not count. */
function withoutReplaced(asked: readonly AskedLimit[]): readonly AskedLimit[] {
  if (!asked.some(({ rule }) => rule !== undefined && rule.replaces.length > 0)) return asked
  const replaced = new Set(asked.flatMap(({ rule }) => rule?.replaces ?? []))
  return asked.filter(({ rule }) => rule === undefined || !replaced.has(rule.name))
}

const WINDOWS: Readonly<Partial<Record<RateLimitUnit, string>>> = {
  [UNITS.second]: '1s',
  [UNITS.minute]: '1m',
  [UNITS.hour]: '1h',
  [UNITS.day]: '1d',
}

const CALENDAR_WINDOWS: Readonly<Partial<Record<RateLimitUnit, readonly [CalendarUnit, string]>>> = {
  [UNITS.week]: ['week', '7d'],
  [UNITS.month]: ['month', '31d'],
  [UNITS.year]: ['year', '366d'],
}

/** The limit that came with a descriptor. Its count belongs to all entries of the descriptor, as no rule says which are open. */
function limitOfRequest(
  domain: string,
  { entries, limit, isNegativeHits }: RateLimitDescriptor,
  index: number,
  calendar: Calendar,
): Pick<AskedLimit, 'given' | 'demands'> {
  const { requestsPerUnit, unit } = limit as NonNullable<typeof limit>
  if (isNegativeHits)
    throw new GrpcError(
      GRPC_STATUS.invalidArgument,
      `descriptor ${index} gives hits back and has a limit of its own: hits are given back by the rule alone`,
    )
  const parts = entries.flatMap(({ key, value }) => [key, value])
  const window = WINDOWS[unit]
  const [calendarUnit, longest] = CALENDAR_WINDOWS[unit] ?? []
  if (window === undefined && calendarUnit === undefined)
    throw new GrpcError(GRPC_STATUS.invalidArgument, `the limit of descriptor ${index} has no unit that is known`)
  const period = calendarUnit === undefined ? undefined : calendar.period(calendarUnit)
  const key = descriptorKey(period === undefined ? parts : [...parts, period.name])
  const attributes = { [RULE]: requestLimitName(domain), [DESCRIPTOR]: key }
  return {
    given: givenLimit(requestsPerUnit, window ?? longest ?? '', period !== undefined),
    demands: [period === undefined ? { attributes } : { attributes, periodEndMs: period.endMs }],
  }
}

/** The limits that requests came with. A store reads a limit that it knows faster. */
const given = new Map<string, Limit>()
const MOST_GIVEN = 1_000

function givenLimit(quota: number, window: string, isPeriod: boolean): Limit {
  const id = `${quota}/${window}/${isPeriod}`
  let limit = given.get(id)
  if (limit === undefined) {
    limit = parseLimit({ algorithm: 'fixed-window', quota, window, ...(isPeriod && { align: 'first' }) })
    if (given.size >= MOST_GIVEN) given.clear()
    given.set(id, limit)
  }
  return limit
}
