import { parseRateLimit } from '../parse-rate-limit.js'

/**
 * How long the other side wants to be left alone, in milliseconds; 0 if it does not say. `Retry-After` counts on a 429 or
 * 503, and more than any quota; a quota of which nothing remains counts on every response.
 */
export function askedWaitMs({ status, headers }: Pick<Response, 'status' | 'headers'>, nowMs: number): number {
  const { retryAfterMs, quotas } = parseRateLimit(headers, { nowMs })
  if (retryAfterMs !== undefined && (status === 429 || status === 503)) return retryAfterMs
  const used = quotas.filter(({ remaining }) => remaining === 0)
  return Math.max(0, ...used.map(({ resetAfterMs }) => resetAfterMs ?? 0))
}
