import type { PrometheusText } from 'sluice/metrics'
import type { DoorReading } from './door-counts.js'

const METHOD = { grpc_method: 'ShouldRateLimit' }

/** Writes calls, their errors and loaded rules under the names that envoyproxy/ratelimit has in Prometheus. */
export function writeEnvoyCalls(
  text: PrometheusText,
  { classes, durations }: DoorReading,
  reloads: { readonly loaded: number; readonly refused: number },
): void {
  const total = classes.reduce((sum, count) => sum + count, 0)
  text.metric('ratelimit_service_total_requests', 'counter', 'Calls over gRPC.').sample(METHOD, total)
  text
    .metric('ratelimit_service_response_time_seconds', 'histogram', 'How long calls over gRPC took.')
    .durations(METHOD, durations)
  text
    .metric('ratelimit_service_should_rate_limit_error', 'counter', 'Calls over gRPC that failed.')
    .sample({ err_type: 'service_error' }, classes[4])
    .sample({ err_type: 'redis_error' }, classes[5])
  // There, the rules of the start count, too.
  text
    .metric('ratelimit_service_config_load_success', 'counter', 'How often rules were put in force.')
    .sample({}, reloads.loaded + 1)
  text
    .metric('ratelimit_service_config_load_error', 'counter', 'How often rules were refused.')
    .sample({}, reloads.refused)
}
