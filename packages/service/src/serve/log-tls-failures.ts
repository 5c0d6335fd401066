import type { TLSSocket } from 'node:tls'
import type { Logger } from './log.js'

/** Port scanners fail in many ways: the log need not have all of them. */
const MOST_REASONS = 20

/**
 * Logs why TLS with clients fails: each reason once, with the address of the first client. Otherwise a certificate that does not fit is hard
 * to find: Envoy only says that no connection is there.
 */
export function logTlsFailures(log: Pick<Logger, 'warn'>): (error: Error, socket: TLSSocket) => void {
  const told = new Set<string>()
  return (error, socket) => {
    const reason = reasonOf(error, socket)
    if (told.has(reason) || told.size >= MOST_REASONS) return
    told.add(reason)
    log.warn({ reason, peer: socket.remoteAddress }, 'a client of gRPC was turned away: TLS with it fails')
  }
}

/** A code if there is one. */
function reasonOf(error: Error, { authorizationError }: TLSSocket): string {
  // Of a certificate that is not trusted, Node.js says only here what is wrong: `error` is then a closed connection.
  if (authorizationError) return String(authorizationError)
  return (error as { code?: string }).code ?? error.message
}
