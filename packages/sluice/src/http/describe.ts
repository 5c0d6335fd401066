import { invalidType, invalidValue } from '../errors.js'
import { isConcurrency } from '../limits/index.js'
import type { LevelDecision, Verdict } from '../policy/index.js'
import { checkDialects, type Dialect, type Fields, labelOf, toldMs, writeQuotas } from './dialects.js'
import { secondsText } from './structured-field.js'
import { verdictOfOne } from './verdict-of-one.js'

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

const NEVER = 'The request costs more than the quota will ever be: waiting does not help'

/**
 * What a client is told of a verdict: the quota on every response, and on a denial a status, when to come back, and why.
 * The decision of a limiter is told as `{ name, limit, decision }`.
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
  verdict: Verdict | LevelDecision,
  dialect: Dialect | readonly Dialect[] = 'draft',
  options: DescribeOptions = {},
): Description {
  if (options.status !== undefined && options.status !== 429 && options.status !== 503)
    throw invalidValue('status', '429 or 503', options.status)
  return describeIn(checkVerdict(verdict), checkDialects(dialect), options)
}

function checkVerdict(value: Verdict | LevelDecision): Verdict {
  if (typeof value === 'object' && value !== null) {
    if ('levels' in value && Array.isArray(value.levels)) return value
    if ('decision' in value && 'limit' in value) return verdictOfOne(value)
  }
  throw invalidType('verdict', "a policy's verdict, or { name, limit, decision } of a limiter", value)
}

/** `describe` for dialects that have been checked. */
export function describeIn(verdict: Verdict, dialects: readonly Dialect[], options: DescribeOptions): Description {
  const headers: Fields = {}
  writeQuotas(headers, verdict, dialects, options.nowMs)
  if (!verdict.allowed) writeDenial(headers, verdict, options.jitterMs ?? 0)
  const names = options.expose === true ? exposed(headers) : ''
  if (names !== '') headers['Access-Control-Expose-Headers'] = names
  const status = verdict.allowed ? 200 : (options.status ?? 429)
  return { status, headers, body: verdict.allowed ? undefined : bodyOf(verdict, status as 429 | 503) }
}

function writeDenial(headers: Fields, verdict: Verdict, jitterMs: number): void {
  headers['Content-Type'] = 'application/problem+json'
  headers['Cache-Control'] = 'no-store'
  if (verdict.retryAfterMs === Infinity) return
  const jitter = jitterMs > 0 && isAligned(verdict) ? Math.random() * jitterMs : 0
  headers['Retry-After'] = secondsText(Math.max(1, retryMs(verdict) + jitter, nextUnitsMs(verdict)))
}

/** The longest wait of the levels that denied, as clients are told of it. */
function retryMs({ levels, retryAfterMs }: Verdict): number {
  if (!levels.some(({ limit }) => isConcurrency(limit))) return retryAfterMs || 0
  return longest(levels, ({ retryAfterMs }) => retryAfterMs)
}

/** When each level that denied has more, which `t` says: nobody is told to come back before. */
function nextUnitsMs({ levels }: Verdict): number {
  return longest(levels, ({ nextUnitAfterMs }) => nextUnitAfterMs)
}

function longest(levels: readonly LevelDecision[], waitMs: (decision: LevelDecision['decision']) => number): number {
  return levels.reduce((longestMs, { limit, shadow, decision }) => {
    const ms = waitMs(decision)
    const counts = shadow !== true && !decision.allowed && ms < Infinity
    return counts ? Math.max(longestMs, toldMs(limit, ms)) : longestMs
  }, 0)
}

/** Did a window that begins for everybody at the same time deny for longest? */
function isAligned({ levels, retryAfterMs }: Verdict): boolean {
  return levels.some(
    ({ limit, decision, shadow }) =>
      shadow !== true &&
      !decision.allowed &&
      decision.retryAfterMs === retryAfterMs &&
      (limit.algorithm === 'fixed-window' || limit.algorithm === 'sliding-window') &&
      limit.align !== 'first',
  )
}

function bodyOf({ levels, retryAfterMs }: Verdict, status: 429 | 503): string {
  const violated = levels.flatMap(({ decision, shadow }, i) =>
    decision.allowed || shadow === true ? [] : [labelOf(levels, i)],
  )
  const problem = { ...PROBLEMS[status], status, 'violated-policies': violated }
  return JSON.stringify(retryAfterMs === Infinity ? { ...problem, detail: NEVER } : problem)
}

/** Those that a script may not read unless it is told. */
function exposed(headers: Fields): string {
  return Object.keys(headers)
    .filter((name) => /rate-?limit|^retry-after$/i.test(name))
    .join(', ')
}
