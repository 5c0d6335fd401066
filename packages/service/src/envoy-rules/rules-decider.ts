import type { AsyncPolicy, Awaitable, Policy, Verdict } from 'sluice'
import { checkRateLimitRequest, rethrowAsGrpc } from '../envoy/check-rate-limit-request.js'
import { type ClientAnswer, clientAnswer, type EnvoyHeaders } from '../envoy/envoy-headers.js'
import {
  CODES,
  type DescriptorStatus,
  type EnvoyDecider,
  type RateLimitRequest,
  type RateLimitResponse,
} from '../envoy/rate-limit-request.js'
import { whenItFails, whenThere } from '../envoy/when-there.js'
import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import { type AskedLimit, askedLimits } from './asked-limit.js'
import { Calendar } from './calendar.js'
import type { EnvoyRules } from './compile-rules.js'
import { metadataOf } from './metadata-of.js'
import { type Outcome, outcomeOf } from './outcome.js'
import { RulesDecision, type RulesVerdict } from './rules-decision.js'
import { NO_LIMIT, statusOf } from './status-of.js'

/** The rules in force, and the policy that they are. */
export interface RulesInForce {
  readonly rules: EnvoyRules | undefined
  readonly policy: Policy | AsyncPolicy
}

/** Hears of what was decided, for the metrics. `isTaken`: the hits were counted. */
export type Decided = (outcomes: readonly Outcome[], request: RateLimitRequest, isTaken: boolean) => void

/** Where the rules come from, and who is told. */
interface RulesDeciderParts {
  /** Asked once for each call, so that a reload never splits one. */
  readonly inForce: () => RulesInForce
  readonly nowMs: () => number
  /** How header fields of the response tell clients their quota. */
  readonly headers: EnvoyHeaders
  readonly decided?: Decided
}

/** Decides calls of `ShouldRateLimit` by the rules of `--envoy-config`. */
export class RulesDecider implements EnvoyDecider {
  readonly #inForce: () => RulesInForce
  readonly #calendar: Calendar
  readonly #headers: EnvoyHeaders
  readonly #decided: Decided

  constructor({ inForce, nowMs, headers, decided = () => {} }: RulesDeciderParts) {
    this.#inForce = inForce
    this.#calendar = new Calendar(nowMs)
    this.#headers = headers
    this.#decided = decided
  }

  shouldRateLimit(request: RateLimitRequest): RateLimitResponse | Promise<RateLimitResponse> {
    checkRateLimitRequest(request)
    const { rules, policy } = this.#inForce()
    if (rules === undefined || rules.domains.size === 0)
      throw new GrpcError(GRPC_STATUS.unavailable, 'no rate limit configuration loaded')
    const root = rules.domains.get(request.domain)
    const asked = root === undefined ? [] : askedLimits(root, request, this.#calendar, rules.isShadow)
    if (asked.length === 0) return this.#answer(request, { outcomes: [], isOver: false })
    return whenItFails(
      () => whenThere(decideRules(policy, asked), (verdict) => this.#answer(request, verdict)),
      rethrowAsGrpc,
    )
  }

  #answer(request: RateLimitRequest, { outcomes, isOver }: RulesVerdict): RateLimitResponse {
    this.#decided(outcomes, request, !isOver)
    const statuses = new Array<DescriptorStatus>(request.descriptors.length).fill(NO_LIMIT)
    for (const outcome of outcomes) statuses[outcome.asked.index] = statusOf(outcome)
    const { headers, body } = this.#clientAnswer(outcomes, isOver)
    return {
      overallCode: isOver ? CODES.overLimit : CODES.ok,
      statuses,
      responseHeaders: headers,
      requestHeaders: [],
      rawBody: body,
      metadata: metadataOf(request, outcomes),
    }
  }

  /** What the client is told. Of a request that passes, quota rules that are over are not told: they deny nothing. */
  #clientAnswer(outcomes: readonly Outcome[], isOver: boolean): ClientAnswer {
    const verdicts: Verdict[] = []
    for (const outcome of outcomes)
      if (!outcome.asked.isRefund && (isOver || !outcome.isOver)) verdicts.push(...outcome.verdicts)
    return clientAnswer(verdicts, this.#headers)
  }
}

/** Decides a request by all of its limits. */
function decideRules(policy: Policy | AsyncPolicy, asked: readonly AskedLimit[]): Awaitable<RulesVerdict> {
  if (asked.length > 1 || !isPlain(asked[0])) return new RulesDecision(policy, asked).decide()
  // Nearly every request is one descriptor with one limit: then `check` says the same as all that is below.
  const [one] = asked
  return whenThere(policy.check(one.demands[0].attributes, { cost: one.hits }), (verdict) => {
    const outcome = outcomeOf(one, [verdict])
    return { outcomes: [outcome], isOver: outcome.isOver && !one.isShadow }
  })
}

function isPlain({ demands, hits, isRefund, rule }: AskedLimit): boolean {
  return demands.length === 1 && hits > 0 && !isRefund && rule !== undefined && !rule.countOverLimit
}
