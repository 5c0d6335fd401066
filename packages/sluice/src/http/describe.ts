import type { Clock } from '../clock.js'
import { invalidType, invalidValue } from '../errors.js'
import { isConcurrency } from '../limits/index.js'
import type { LevelDecision, Verdict } from '../policy/index.js'
import { checkDialects, type Dialect, type Fields, labelOf, shownWaitMs, writeQuotas } from './dialect.js'
import { secondsText } from './quota-items.js'

/** How a verdict is told to a client, besides the dialect. */
export interface DescribeOptions {
  /** The status of a denial: 429 if the client asked for too much (default), 503 if the service can take no more. */
  readonly status?: 429 | 503
  /** Lets scripts in browsers read the fields, by `Access-Control-Expose-Headers`. Default false. */
  readonly expose?: boolean
  /**
   * Adds a random wait of up to this many milliseconds to `Retry-After` if the denying window begins for all clients at the
   * same time. Otherwise they all come back at once. Default 0.
   */
  readonly jitterMs?: number
  /** The time in epoch milliseconds, for dialects that contain one. Default: the process's clock. */
  readonly nowMs?: number
}

/** A verdict as an HTTP response. */
export interface Description {
  /** 200, or the status of a denial. */
  readonly status: number
  readonly headers: Readonly<Fields>
  /** Problem details (RFC 9457) as JSON for a denial, otherwise `undefined`. */
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

const NEVER = 'The request costs more than the whole quota: waiting does not help'

/**
 * Turns a verdict into status, header fields and body. Every response gets the quota; a denial also says when to come back
 * and which levels denied. For the decision of a limiter, pass `{ name, limit, decision }`.
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
  checkStatus(options.status)
  return describeIn(checkVerdict(verdict), checkDialects(dialect), options)
}

export function checkStatus(status: unknown): void {
  if (status !== undefined && status !== 429 && status !== 503) throw invalidValue('status', '429 or 503', status)
}

function checkVerdict(value: Verdict | LevelDecision): Verdict {
  if (typeof value === 'object' && value !== null) {
    if ('levels' in value && Array.isArray(value.levels)) return value
    if ('decision' in value && 'limit' in value) return verdictOfOne(value)
  }
  throw invalidType('verdict', "a policy's verdict, or { name, limit, decision } of a limiter", value)
}

/** The decision of one limit as the verdict of a policy that has no other level. */
export function verdictOfOne(level: LevelDecision): Verdict {
  const { name, decision } = level
  const { allowed, retryAfterMs, delayMs, degraded } = decision
  const verdict = { allowed, deniedBy: allowed ? [] : [name], levels: [level], retryAfterMs, delayMs }
  return degraded === undefined ? verdict : { ...verdict, degraded }
}

/** The options of a guard about its answers. `onDenied` writes the body of a denial and says of which type it is. */
export interface AnswerOptions extends DescribeOptions {
  readonly onDenied?: unknown
  readonly clock?: Clock | undefined
}

/** `describe` for arguments that are checked already. `earlier` are the levels of the limits before, on the same request. */
export function describeIn(
  verdict: Verdict,
  dialects: readonly Dialect[],
  options: AnswerOptions,
  earlier: readonly LevelDecision[] = [],
): Description {
  const { allowed, levels } = verdict
  const headers: Fields = {}
  writeQuotas(headers, levels, dialects, options.nowMs ?? options.clock?.now(), earlier)
  if (!allowed) writeDenial(headers, verdict, options)
  const names = options.expose === true ? exposed(headers) : ''
  if (names !== '') headers['Access-Control-Expose-Headers'] = names
  if (allowed) return { status: 200, headers, body: undefined }
  const status = options.status ?? 429
  return { status, headers, body: bodyOf(verdict, status, earlier) }
}

function writeDenial(headers: Fields, verdict: Verdict, { jitterMs = 0, onDenied }: AnswerOptions): void {
  if (onDenied === undefined) headers['Content-Type'] = 'application/problem+json'
  headers['Cache-Control'] = 'no-store'
  if (verdict.retryAfterMs === Infinity) return
  const jitter = jitterMs > 0 && isAligned(verdict) ? Math.random() * jitterMs : 0
  // Not before the largest `t` of the levels that denied.
  const waitMs = Math.max(retryMs(verdict) + jitter, longestMs(verdict, 'nextUnitAfterMs'))
  headers['Retry-After'] = secondsText(Math.max(1, waitMs))
}

/** The wait of the verdict. A place of a concurrency limit is told as a shorter one. */
function retryMs(verdict: Verdict): number {
  const hasPlaces = verdict.levels.some(({ limit }) => isConcurrency(limit))
  return hasPlaces ? longestMs(verdict, 'retryAfterMs') : verdict.retryAfterMs || 0
}

/** The longest finite wait of the levels that denied, as clients are told. */
function longestMs({ levels }: Verdict, wait: 'retryAfterMs' | 'nextUnitAfterMs'): number {
  const waits = levels
    .filter((level) => isDenial(level) && level.decision[wait] < Infinity)
    .map(({ limit, decision }) => shownWaitMs(limit, decision[wait]))
  return Math.max(0, ...waits)
}

function isDenial({ decision, shadow }: LevelDecision): boolean {
  return !decision.allowed && shadow !== true
}

/** Whether the level that denies for longest has a window that begins for all clients at the same time. */
function isAligned({ levels, retryAfterMs }: Verdict): boolean {
  return levels.some((level) => {
    const { limit, decision } = level
    const isWindow = limit.algorithm === 'fixed-window' || limit.algorithm === 'sliding-window'
    return isWindow && limit.align !== 'first' && isDenial(level) && decision.retryAfterMs === retryAfterMs
  })
}

function bodyOf({ levels, retryAfterMs }: Verdict, status: 429 | 503, earlier: readonly LevelDecision[]): string {
  const violated = levels.flatMap((level, i) => (isDenial(level) ? [labelOf(levels, i, earlier)] : []))
  const problem = { ...PROBLEMS[status], status, 'violated-policies': violated }
  return JSON.stringify(retryAfterMs === Infinity ? { ...problem, detail: NEVER } : problem)
}

/** The fields that browsers hide from scripts unless they are exposed. */
function exposed(headers: Fields): string {
  return Object.keys(headers)
    .filter((name) => /rate-?limit|^retry-after$/i.test(name))
    .join(', ')
}
