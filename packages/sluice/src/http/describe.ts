import type { Verdict } from '../policy/index.js'
import { checkDialects, type Dialect, type Fields, shownLevels, writeQuotas } from './dialects.js'
import { secondsText } from './structured-field.js'

/** What an answer may be besides its dialect. */
export interface DescribeOptions {
  /** Of a denial: 429, which says that the client asked too much, or 503, which says that the service can take no more. */
  readonly status?: 429 | 503
  /** Lets scripts in browsers read the fields, by `Access-Control-Expose-Headers`. Default false. */
  readonly expose?: boolean
  /**
   * Up to so many milliseconds are added to `Retry-After`, where a window that begins for everybody at the same time
   * denied: or else all come back at once. Default 0.
   */
  readonly jitterMs?: number
  /** The time, for dialects that tell one. Default: the process's. */
  readonly nowMs?: number
}

/** A verdict as an HTTP response. */
export interface Description {
  /** 200, or what a denial is answered with. */
  readonly status: number
  readonly headers: Readonly<Fields>
  /** Of a denial: problem details (RFC 9457) as JSON. */
  readonly body: string | undefined
}

const PROBLEMS = {
  429: {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
  },
  503: {
    type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
    title: 'Request cannot be satisfied due to temporary server capacity constraints',
  },
}

/**
 * What a client is told of a verdict: the quota on every response, and on a denial a status, when to come back, and why.
 *
 * @example
 * ```ts
 * import { createPolicy, tokenBucket } from 'sluice'
 * import { describe } from 'sluice/http'
 *
 * const limit = tokenBucket({ capacity: 100, refill: '100/m' })
 * const policy = createPolicy({ levels: [{ name: 'user', key: 'user', limit }] })
 * const { status, headers, body } = describe(policy.check({ user: 'u1' }), 'draft')
 * ```
 */
export function describe(
  verdict: Verdict,
  dialect: Dialect | readonly Dialect[] = 'draft',
  options: DescribeOptions = {},
): Description {
  return describeIn(verdict, checkDialects(dialect), options)
}

/** `describe` for dialects that have been checked. */
export function describeIn(verdict: Verdict, dialects: readonly Dialect[], options: DescribeOptions): Description {
  const headers: Fields = {}
  writeQuotas(headers, verdict, dialects, options.nowMs ?? Date.now())
  if (!verdict.allowed) writeDenial(headers, verdict, options.jitterMs ?? 0)
  if (options.expose === true) headers['Access-Control-Expose-Headers'] = exposed(headers)
  const status = verdict.allowed ? 200 : (options.status ?? 429)
  return { status, headers, body: verdict.allowed ? undefined : bodyOf(verdict, status as 429 | 503) }
}

function writeDenial(headers: Fields, verdict: Verdict, jitterMs: number): void {
  headers['Content-Type'] = 'application/problem+json'
  headers['Cache-Control'] = 'no-store'
  if (verdict.retryAfterMs === Infinity) return
  const jitter = jitterMs > 0 && isAligned(verdict) ? Math.random() * jitterMs : 0
  headers['Retry-After'] = secondsText(Math.max(1, verdict.retryAfterMs + jitter))
}

/** Did a window that begins for everybody at the same time deny for longest? */
function isAligned({ levels, retryAfterMs }: Verdict): boolean {
  return levels.some(
    ({ limit, decision }) =>
      !decision.allowed &&
      decision.retryAfterMs === retryAfterMs &&
      (limit.algorithm === 'fixed-window' || limit.algorithm === 'sliding-window') &&
      limit.align !== 'first',
  )
}

function bodyOf(verdict: Verdict, status: 429 | 503): string {
  const violated = shownLevels(verdict).filter(({ decision }) => !decision.allowed)
  return JSON.stringify({ ...PROBLEMS[status], status, 'violated-policies': violated.map(({ label }) => label) })
}

/** Those that a script may not read unless it is told. */
function exposed(headers: Fields): string {
  return Object.keys(headers)
    .filter((name) => /rate-?limit|^retry-after$/i.test(name))
    .join(', ')
}
