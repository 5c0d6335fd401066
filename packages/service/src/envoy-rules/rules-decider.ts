import type { AsyncPolicy, Policy } from 'sluice'
import { checkRateLimitRequest } from '../envoy/check-rate-limit-request.js'
import { type ClientAnswer, clientAnswer, type EnvoyHeaders } from '../envoy/envoy-headers.js'
import {
  CODES,
  type EnvoyDecider,
  type RateLimitRequest,
  type RateLimitResponse,
} from '../envoy/rate-limit-messages.js'
import { rethrowAsGrpc } from '../envoy/rethrow-as-grpc.js'
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
    const asked = root === undefined ? [] : askedLimits(root, request, this.#calendar)
    if (asked.length === 0) return this.#answer(request, { outcomes: [], isOver: false })
    try {
      const answer = whenThere(new RulesDecision(policy, asked).decide(), (verdict) => this.#answer(request, verdict))
      return answer instanceof Promise ? answer.catch(rethrowAsGrpc) : answer
    } catch (error) {
      return rethrowAsGrpc(error)
    }
  }

  #answer(request: RateLimitRequest, { outcomes, isOver }: RulesVerdict): RateLimitResponse {
    this.#decided(outcomes, request, !isOver)
    const statuses = request.descriptors.map(() => NO_LIMIT)
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
    const told = outcomes.filter((outcome) => !outcome.asked.isRefund && (isOver || !outcome.isOver))
    const verdicts = told.flatMap((outcome) => outcome.verdicts)
    return verdicts.length === 0 ? { headers: [], body: undefined } : clientAnswer(verdicts, this.#headers)
  }
}
