import type { GrpcMethod } from '../grpc/grpc-method.js'
import type { EnvoyDecider } from './rate-limit-request.js'
import { readRateLimitRequest } from './read-rate-limit-request.js'
import { whenThere } from './when-there.js'
import { writeRateLimitResponse } from './write-rate-limit-response.js'

/** The full name of Envoy's service. */
export const RATE_LIMIT_SERVICE = 'envoy.service.ratelimit.v3.RateLimitService'
/** Where Envoy asks. */
export const SHOULD_RATE_LIMIT = `/${RATE_LIMIT_SERVICE}/ShouldRateLimit`

/** `ShouldRateLimit`, as the bytes of its messages. */
export function envoyMethods(decider: EnvoyDecider): ReadonlyMap<string, GrpcMethod> {
  return new Map<string, GrpcMethod>([
    [
      SHOULD_RATE_LIMIT,
      {
        kind: 'unary',
        answer(message) {
          return whenThere(decider.shouldRateLimit(readRateLimitRequest(message)), writeRateLimitResponse)
        },
      },
    ],
  ])
}
