import { InvalidPolicyError, InvalidTypeError, InvalidValueError, StoreFullError, StoreUnavailableError } from 'sluice'

/** An error that a client is told about as problem details (RFC 9457). Doors throw it; the server answers it. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  /** The kind of problem: the same text for every occurrence. */
  readonly title: string
  /** Header fields that belong to the answer, such as `Allow`. */
  readonly fields: Readonly<Record<string, string>>

  /** `detail` says what is wrong with this request, and what would be right. */
  constructor(status: number, title: string, detail: string, fields: Readonly<Record<string, string>> = {}) {
    super(detail)
    this.status = status
    this.title = title
    this.fields = fields
  }

  /** The body of the answer. */
  get body(): string {
    return JSON.stringify({ type: 'about:blank', title: this.title, status: this.status, detail: this.message })
  }
}

/** The request is not what the door expects. `detail` says what would be right. */
export function badRequest(detail: string): Problem {
  return new Problem(400, 'The request is not valid', detail)
}

/**
 * The problem that a client is told about for any error. Wrong arguments are the client's mistake, and a failing store is
 * temporary. Anything else is a fault of the service: the client is told no details.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  const isMistake =
    error instanceof InvalidTypeError || error instanceof InvalidValueError || error instanceof InvalidPolicyError
  if (isMistake) return badRequest(error.message)
  if (error instanceof StoreUnavailableError || error instanceof StoreFullError)
    return new Problem(503, 'The store did not answer', error.message, { 'Retry-After': '1' })
  return new Problem(500, 'The service failed', 'the service could not answer this request; its log says why')
}

/** A JSON value in a message. Never the inside of a list or object: `JSON.stringify` fails if it is 100,000 deep. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return `${JSON.stringify(value)}`.slice(0, 60)
}
