import type { AsyncPolicy, Awaitable, JointRequest, JointVerdict, Policy, Verdict } from 'sluice'
import { checkRateLimitRequest, hitsOf, rethrowAsGrpc } from './check-rate-limit-request.js'
import { type DescriptorAttributes, descriptorAttributes } from './descriptor-attributes.js'
import { clientAnswer, type EnvoyHeaders } from './envoy-headers.js'
import { levelStatus } from './level-status.js'
import { OverrideLimits } from './override-limits.js'
import {
  CODES,
  type DescriptorStatus,
  type EnvoyDecider,
  type HeaderValue,
  type RateLimitDescriptor,
  type RateLimitRequest,
  type RateLimitResponse,
} from './rate-limit-request.js'
import { allThere, whenItFails, whenThere } from './when-there.js'

/** Hears the attributes of each descriptor before it is decided. */
type LookAt = (attributes: DescriptorAttributes, asked: readonly string[]) => void

/** Where the policy in force comes from, and how clients are told. */
interface PolicyDeciderParts {
  /** Asked for each request: a reload may replace the policy. */
  readonly policyNow: () => Policy | AsyncPolicy
  readonly headers: EnvoyHeaders
  readonly lookAt: LookAt
}

/** A descriptor that takes, or only looks. */
type Asked = JointRequest<DescriptorAttributes>

type Decided = Awaitable<RateLimitResponse>

const NO_HEADERS: readonly HeaderValue[] = []
/** The status of a refund that was not made, because another descriptor was denied. */
const NOTHING_ASKED: DescriptorStatus = { code: CODES.ok, limitRemaining: 0 }

/**
 * Decides by a policy of Sluice. Each descriptor is a request, whose entries are its attributes. All of them pass together: if
 * one is denied, none takes anything and nothing is given back.
 */
export class PolicyDecider implements EnvoyDecider {
  readonly #policyNow: () => Policy | AsyncPolicy
  readonly #headers: EnvoyHeaders
  readonly #lookAt: LookAt
  readonly #overrides = new OverrideLimits()

  constructor({ policyNow, headers, lookAt }: PolicyDeciderParts) {
    this.#policyNow = policyNow
    this.#headers = headers
    this.#lookAt = lookAt
  }

  shouldRateLimit(request: RateLimitRequest): Decided {
    checkRateLimitRequest(request)
    const { descriptors } = request
    const policy = this.#policyNow()
    const asked = descriptors.map((descriptor) => this.#askedBy(descriptor, request, policy))
    // Nearly every request has one descriptor that takes what it says: `check` is `checkAll` for that.
    const isPlain =
      asked.length === 1 && !descriptors[0].isNegativeHits && asked[0].limits === undefined && asked[0].cost !== 0
    return whenItFails(
      () => (isPlain ? this.#decideOne(policy, asked[0]) : this.#decideAll(policy, descriptors, asked)),
      rethrowAsGrpc,
    )
  }

  #askedBy(descriptor: RateLimitDescriptor, request: RateLimitRequest, policy: Policy | AsyncPolicy): Asked {
    const attributes = descriptorAttributes(request.domain, descriptor.entries)
    this.#lookAt(attributes, policy.attributes)
    const cost = hitsOf(descriptor, request)
    const limits = descriptor.limit && this.#overrides.limitOf(descriptor.limit)
    return limits === undefined ? { attributes, cost } : { attributes, cost, limits }
  }

  #decideOne(policy: Policy | AsyncPolicy, { attributes, cost = 1 }: Asked): Decided {
    return whenThere(policy.check(attributes, { cost }), (verdict) => this.#answer([verdict], [levelStatus(verdict)]))
  }

  #decideAll(
    policy: Policy | AsyncPolicy,
    descriptors: readonly RateLimitDescriptor[],
    asked: readonly Asked[],
  ): Decided {
    const isRefund = (_: unknown, i: number) => descriptors[i].isNegativeHits
    const joint: Awaitable<JointVerdict> = policy.checkAll(asked.filter((each, i) => !isRefund(each, i)))
    return whenThere(joint, ({ allowed, verdicts }) => {
      const refunds = allowed ? asked.filter(isRefund).map((each) => refund(policy, each)) : []
      return whenThere(allThere(refunds), (refunded) => {
        const taken = verdicts.map(levelStatus).values()
        const given = refunded.map(statusOfRefund).values()
        const statuses = asked.map((each, i) => (isRefund(each, i) ? given : taken).next().value ?? NOTHING_ASKED)
        return this.#answer(verdicts, statuses)
      })
    })
  }

  #answer(verdicts: readonly Verdict[], statuses: readonly DescriptorStatus[]): RateLimitResponse {
    const isAllowed = verdicts.every(({ allowed }) => allowed)
    const { headers, body } = clientAnswer(verdicts, this.#headers)
    return {
      overallCode: isAllowed ? CODES.ok : CODES.overLimit,
      statuses,
      responseHeaders: headers,
      requestHeaders: NO_HEADERS,
      rawBody: body,
      metadata: isAllowed ? undefined : { deniedBy: [...new Set(verdicts.flatMap(({ deniedBy }) => deniedBy))] },
    }
  }
}

function refund(policy: Policy | AsyncPolicy, { attributes, cost = 1, limits }: Asked): Verdict | Promise<Verdict> {
  return policy.refund(attributes, limits === undefined ? { cost } : { cost, limits })
}

/** Giving back is allowed whatever is left. */
function statusOfRefund(verdict: Verdict): DescriptorStatus {
  return { ...levelStatus(verdict), code: CODES.ok }
}
