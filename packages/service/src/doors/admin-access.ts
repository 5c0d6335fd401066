import { createHash, timingSafeEqual } from 'node:crypto'
import { createLimiter, type Limiter, memoryStore, tokenBucket } from 'sluice'
import { type ClientAddress, describe } from 'sluice/http'
import type { Exchange } from '../server/exchange.js'
import { Problem } from '../server/problem.js'

/** Wrong tokens that one address may send: ten at once, then six a minute. */
const TRIES = tokenBucket({ capacity: 10, refill: '6/m' })
const NAME = '#admin-tokens'
const MOST_ADDRESSES = 10_000

/**
 * Lets requests with the admin token pass. Both tokens are hashed before they are compared, so the time that it takes says
 * nothing about the token. Wrong tokens are limited by client address. The limit has a store of its own in this process: it
 * holds while Redis is away, and addresses cannot fill the store of the policy.
 */
export class AdminAccess {
  readonly #digest: Buffer | undefined
  readonly #clientOf: ClientAddress
  readonly #tries: Limiter

  /** Without a token, no request passes. */
  constructor(token: string | undefined, clientOf: ClientAddress) {
    this.#digest = token === undefined ? undefined : digestOf(Buffer.from(token))
    this.#clientOf = clientOf
    this.#tries = createLimiter({ name: NAME, limit: TRIES, store: memoryStore({ maxKeys: MOST_ADDRESSES }) })
  }

  /**
   * Has the request the token? Throws a `Problem` if it has a wrong one. The credentials of another scheme are no token: a
   * browser sends them along if a proxy asked for a password.
   */
  isAdmin(exchange: Exchange): boolean {
    if (!/^Bearer(?: |$)/i.test(exchange.request.headers.authorization ?? '')) return false
    this.check(exchange)
    return true
  }

  /** Throws a `Problem` unless the request has the token. */
  check({ request }: Exchange): void {
    if (this.#digest === undefined) throw turnedOff()
    // Node reads fields as Latin-1, whatever the client meant.
    const token = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) throw unauthorized('the field Authorization must be Bearer and the admin token')
    const client = this.#clientOf(request.socket.remoteAddress, (name) => fieldOf(request.headers[name]))
    // The unit is taken before the comparison: otherwise a right guess would show even after too many tries.
    const attempt = this.#tries.reserve(client)
    const { decision } = attempt
    if (!decision.allowed) {
      const { headers } = describe({ name: 'admin-tokens', limit: TRIES, decision })
      const seconds = Math.ceil(decision.retryAfterMs / 1_000)
      throw new Problem(
        429,
        'Too many wrong tokens',
        `too many wrong tokens came from this address; the next one is compared in ${seconds} s`,
        headers,
      )
    }
    if (!timingSafeEqual(digestOf(Buffer.from(token, 'latin1')), this.#digest))
      throw unauthorized('this is not the admin token; --admin-token or SLUICE_ADMIN_TOKEN of the service has it')
    attempt.cancel()
  }
}

function digestOf(token: Buffer): Buffer {
  return createHash('sha256').update(token).digest()
}

function fieldOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

function unauthorized(detail: string): Problem {
  return new Problem(401, 'The admin token is missing or wrong', detail, {
    'WWW-Authenticate': 'Bearer realm="sluice"',
  })
}

function turnedOff(): Problem {
  return new Problem(
    403,
    'The admin API is off',
    'the service was started without an admin token; --admin-token TEXT or SLUICE_ADMIN_TOKEN turns the admin API on',
  )
}
