import { checkOptions, isObject } from '../checks/check-options.js'
import { checkCost } from '../checks/check-value.js'
import { InvalidPolicyError, invalidType, naming } from '../errors.js'
import { checkCostOptions } from '../limiter/check-call.js'
import type { Decision, Limit } from '../limits/index.js'
import type { JointRequest, PolicyRefundOptions } from './policy.js'
import { ProblemList } from './reading/problem-list.js'
import { readLimits } from './reading/read-limits.js'
import { type LevelDemand, type Verdict, verdictOf } from './verdict.js'

/** A request of `checkAll` that was checked. */
export interface CheckedRequest {
  readonly attributes: object
  readonly cost: number
  readonly limits: readonly Limit[] | undefined
}

/** The demands of several requests in one list, and where those of each request begin. */
export interface JointDemands {
  readonly requests: readonly CheckedRequest[]
  readonly demands: readonly LevelDemand[]
  /** One number for each request, and the length of `demands`. */
  readonly starts: readonly number[]
}

/** Checks the argument of `checkAll`, before anything changes. */
export function checkRequests(requests: unknown): readonly CheckedRequest[] {
  if (!Array.isArray(requests)) {
    throw invalidType(
      'requests',
      "a list such as [{ attributes: { user: 'ann' } }, { attributes: {}, cost: 2 }]",
      requests,
    )
  }
  return Array.from(requests, (request, i) => naming(`requests[${i}]`, () => checkRequest(request)))
}

function checkRequest(request: unknown): CheckedRequest {
  const {
    attributes,
    cost = 1,
    limits,
  } = checkOptions('a request', request, ['attributes', 'cost', 'limits']) as Partial<JointRequest>
  checkCost(cost)
  // The matcher checks the attributes: it knows which the policy asks about.
  return { attributes: attributes as object, cost, limits: limits === undefined ? undefined : limitsOf(limits) }
}

/** Checks the options of `refund`. */
export function checkRefund(options: PolicyRefundOptions | undefined): Pick<CheckedRequest, 'cost' | 'limits'> {
  if (!isObject(options) || !('limits' in options))
    return { cost: checkCostOptions('refund', options), limits: undefined }
  const { limits, ...others } = options
  return { cost: checkCostOptions('refund', others), limits: limits === undefined ? undefined : limitsOf(limits) }
}

/** What was read from limits that cannot change. A caller that uses its limits again does not pay for another reading. */
const read = new WeakMap<object, readonly Limit[]>()

function limitsOf(given: Limit | readonly Limit[]): readonly Limit[] {
  const known = typeof given === 'object' && given !== null ? read.get(given) : undefined
  if (known !== undefined) return known
  const problems = new ProblemList()
  const limits = readLimits(problems, ['limits'], given)
  if (limits === undefined) throw new InvalidPolicyError(problems.all, 'the request')
  if (Object.isFrozen(given)) read.set(given, limits)
  return limits
}

/** The same requests with copies of their attributes, for use after the caller may have changed them. */
export function copiesOfRequests(
  copyOf: (attributes: object) => object,
  requests: readonly CheckedRequest[],
): readonly CheckedRequest[] {
  return requests.map((request) => ({ ...request, attributes: copyOf(request.attributes) }))
}

/** The verdict of each request, from the decisions of all demands. */
export function verdictsOf(
  { requests, demands, starts }: JointDemands,
  decisions: readonly Decision[],
  isKnown: boolean,
): readonly Verdict[] {
  return requests.map((_, i) => verdictOf(demands, decisions, isKnown, starts[i], starts[i + 1]))
}
