import { jsonResponse } from '../envoy/json-response.js'
import { CODES, type EnvoyDecider, type RateLimitResponse } from '../envoy/rate-limit-request.js'
import { readJsonRequest } from '../envoy/read-json-request.js'
import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import type { DecisionService } from '../serve/decision-service.js'
import type { Door } from '../server/door.js'
import type { Exchange, JsonObject } from '../server/exchange.js'
import { badRequest, Problem } from '../server/problem.js'

const MAX_BYTES = 1024 * 1024

/**
 * `POST /json` and `GET /healthcheck`, as envoyproxy/ratelimit has them: what Envoy asks over gRPC, for people and scripts. The gRPC
 * door itself is in `serve/start-grpc.ts`.
 */
export function envoyDoor(service: DecisionService, decider: EnvoyDecider): Door {
  return {
    name: 'envoy-json',
    routes: {
      'POST /json': (exchange) => exchange.readObject(MAX_BYTES, (body) => decide(decider, exchange, body)),
      'GET /healthcheck': async (exchange) => {
        const { isReady } = await service.readiness()
        exchange.text(isReady ? 'OK' : 'not ready', 'text/plain; charset=utf-8', isReady ? 200 : 500)
      },
    },
  }
}

async function decide(decider: EnvoyDecider, exchange: Exchange, body: JsonObject): Promise<void> {
  const request = readJsonRequest(body)
  let response: RateLimitResponse
  try {
    response = await decider.shouldRateLimit(request)
  } catch (error) {
    throw error instanceof GrpcError ? problemOf(error) : error
  }
  exchange.json(jsonResponse(response), response.overallCode === CODES.overLimit ? 429 : 200)
}

function problemOf({ code, message }: GrpcError): Problem {
  if (code === GRPC_STATUS.invalidArgument) return badRequest(message)
  // envoyproxy/ratelimit has no other status for it.
  return new Problem(500, 'The service cannot decide now', message, { 'Retry-After': '1' })
}
