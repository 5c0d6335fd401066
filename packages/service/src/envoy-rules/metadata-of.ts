import type { RateLimitRequest } from '../envoy/rate-limit-request.js'
import type { Outcome } from './outcome.js'

/**
 * `dynamic_metadata` of an answer, under the names of envoyproxy/ratelimit. Absent if no matched rule has `metadata` or
 * `quota_mode`: then it would only repeat the request.
 */
export function metadataOf(
  { domain, descriptors, hitsAddend }: RateLimitRequest,
  outcomes: readonly Outcome[],
): Readonly<Record<string, unknown>> | undefined {
  if (!outcomes.some(({ asked: { rule } }) => rule?.metadata !== undefined || rule?.quotaMode === true))
    return undefined
  const byIndex = new Map(outcomes.map((outcome) => [outcome.asked.index, outcome]))
  const violations = (isMeant: (outcome: Outcome) => boolean) =>
    outcomes.filter((outcome) => outcome.isOver && isMeant(outcome)).map(({ asked }) => asked.index)
  const quota = violations(({ asked }) => asked.rule?.quotaMode === true)
  return {
    domain,
    descriptors: descriptors.map(({ entries, hitsAddend: own }, i) => {
      const metadata = byIndex.get(i)?.asked.rule?.metadata
      return {
        entries: entries.map(({ key, value }) => `${key}=${value}`),
        ...(own !== undefined && { hitsAddend: own }),
        ...(metadata !== undefined && { metadata }),
      }
    }),
    ...(hitsAddend !== 0 && { hitsAddend }),
    quotaModeEnabled: outcomes.some(({ asked }) => asked.rule?.quotaMode === true),
    ...(quota.length > 0 && { quotaModeViolations: quota }),
  }
}
