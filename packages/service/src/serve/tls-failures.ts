import type { Logger } from './log.js'

/** Port scanners fail in many ways: the log need not have all of them. */
const MOST_REASONS = 20

/**
 * Logs why TLS with clients fails: each reason once, with the address of the first client. Otherwise a certificate that does not fit is hard
 * to find: Envoy only says that no connection is there.
 */
export function logTlsFailures(log: Pick<Logger, 'warn'>): (reason: string, peer: string | undefined) => void {
  const told = new Set<string>()
  return (reason, peer) => {
    if (told.has(reason) || told.size >= MOST_REASONS) return
    told.add(reason)
    log.warn({ reason, ...(peer !== undefined && { peer }) }, 'a client of gRPC was turned away: TLS with it fails')
  }
}
