import type { TLSSocket } from 'node:tls'

/** Why TLS with a client failed, as a code if there is one. */
export function tlsReason(error: Error, socket: TLSSocket): string {
  // Of a certificate that is not trusted, Node.js says only here what is wrong: `error` is then a closed connection.
  const { authorizationError } = socket
  if (authorizationError) return String(authorizationError)
  return (error as { code?: string }).code ?? error.message
}
