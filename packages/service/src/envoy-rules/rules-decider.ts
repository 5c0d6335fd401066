import type { AsyncPolicy, Awaitable, Policy } from 'sluice'
import {
  CODES,
  type EnvoyDecider,
  type RateLimitRequest,
  type RateLimitResponse,
} from '../envoy/rate-limit-messages.js'
import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import { askedLimits } from './asked-limit.js'
import { Calendar } from './calendar.js'
import type { EnvoyRules } from './compile-rules.js'
import { metadataOf } from './metadata-of.js'
import type { Outcome } from './outcome.js'
import { RulesDecision, type RulesVerdict, whenThere } from './rules-decision.js'
import { NO_LIMIT, statusOf } from './status-of.js'

/** The rules in force, and the policy that they are. */
export interface RulesInForce {
  readonly rules: EnvoyRules | undefined
  readonly policy: Policy | AsyncPolicy
}

/** Hears of what was decided, for the metrics. `isTaken`: the hits were counted. */
export type Decided = (outcomes: readonly Outcome[], request: RateLimitRequest, isTaken: boolean) => void

/** Decides calls of `ShouldRateLimit` by the rules of `--envoy-config`. */
export class RulesDecider implements EnvoyDecider {
  readonly #inForce: () => RulesInForce
  readonly #calendar: Calendar
  readonly #decided: Decided

  /** `inForce` is asked once for each call, so that a reload never splits one. */
  constructor(inForce: () => RulesInForce, nowMs: () => number, decided: Decided = () => {}) {
    this.#inForce = inForce
    this.#calendar = new Calendar(nowMs)
    this.#decided = decided
  }

  shouldRateLimit(request: RateLimitRequest): Awaitable<RateLimitResponse> {
    if (request.domain === '') throw refusal('rate limit domain must not be empty')
    if (request.descriptors.length === 0) throw refusal('rate limit descriptor list must not be empty')
    const { rules, policy } = this.#inForce()
    if (rules === undefined || rules.domains.size === 0) throw refusal('no rate limit configuration loaded')
    const root = rules.domains.get(request.domain)
    const asked = root === undefined ? [] : askedLimits(root, request, this.#calendar)
    if (asked.length === 0) return this.#answer(request, { outcomes: [], isOver: false })
    return whenThere(new RulesDecision(policy, asked).decide(), (decided) => this.#answer(request, decided))
  }

  #answer(request: RateLimitRequest, { outcomes, isOver }: RulesVerdict): RateLimitResponse {
    this.#decided(outcomes, request, !isOver)
    const nowMs = this.#calendar.nowMs()
    const statuses = request.descriptors.map(() => NO_LIMIT)
    for (const outcome of outcomes) statuses[outcome.asked.index] = statusOf(outcome, nowMs)
    const metadata = metadataOf(request, outcomes)
    return {
      overallCode: isOver ? CODES.overLimit : CODES.ok,
      statuses,
      responseHeaders: [],
      requestHeaders: [],
      ...(metadata !== undefined && { metadata }),
    }
  }
}

/** The errors of envoyproxy/ratelimit have no status of their own, which is UNKNOWN in gRPC. */
function refusal(message: string): GrpcError {
  return new GrpcError(GRPC_STATUS.unknown, message)
}
