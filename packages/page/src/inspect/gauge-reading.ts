import { type Decision, exactRate, type Limit } from 'sluice/limits'

/** A decision as JSON has it: `Infinity` is `null`. */
export type SentDecision = { readonly [Member in keyof Decision]: Decision[Member] | null }

/**
 * `unknown`: the store does not answer, and nothing counts in its place. `blocked`: the key is denied everything for a while. `debt`: units were taken that the key does not have yet. `blocked-or-debt`:
 * one of the two, of a limit whose waits do not tell which.
 */
export type GaugeState =
  | 'unknown'
  | 'unlimited'
  | 'no-quota'
  | 'blocked'
  | 'debt'
  | 'blocked-or-debt'
  | 'empty'
  | 'some'
  | 'whole'

/** What a gauge shows. */
export interface GaugeReading {
  readonly state: GaugeState
  readonly quota: number
  /** From 0 to `quota`; of a bucket with the part of the next unit that is there. */
  readonly left: number
  /** How many units must come before one is left. */
  readonly owed: number
  readonly nextUnitMs: number
  readonly wholeMs: number
  /** Until the cost that was asked about is there; 0 if it is, `Infinity` if it never is. */
  readonly retryMs: number
}

/** What is known beside a decision. */
export interface GaugeFacts {
  /** How long ago the decision was made. */
  readonly elapsedMs: number
  /** Is a request that costs nothing denied too? Then the key is blocked or in debt. */
  readonly deniesAll: boolean
}

/**
 * Reads a gauge some time after the decision was made, as if no request came meanwhile. A bucket fills by itself; a window's
 * count stays until the service is asked again.
 */
export function readGauge(limit: Limit, sent: SentDecision, { elapsedMs, deniesAll }: GaugeFacts): GaugeReading {
  const decision = withInfinity(sent)
  const { quota, remaining, degraded } = decision
  const after = (ms: number) => Math.max(0, ms - elapsedMs)
  const waits = {
    nextUnitMs: after(decision.nextUnitAfterMs),
    wholeMs: after(decision.resetAfterMs),
    retryMs: after(decision.retryAfterMs),
  }
  const perMs = unitsPerMs(limit)
  const level = perMs === undefined ? countOf(decision, waits.wholeMs) : bucketLevel(decision, waits.wholeMs, perMs)
  const none = { quota, left: 0, owed: 0, ...waits }
  if (degraded === 'open' || degraded === 'closed') return { ...none, state: 'unknown' }
  if (deniesAll && waits.nextUnitMs > 0) {
    if (limit.algorithm === 'unlimited' || quota === 0) return { ...none, state: 'blocked' }
    if (perMs === undefined) return { ...none, state: 'blocked-or-debt' }
    return isDebt(decision, perMs)
      ? { ...none, state: 'debt', owed: Math.ceil(Math.max(0, -level)) }
      : { ...none, state: 'blocked' }
  }
  if (remaining === Infinity) return { ...none, state: 'unlimited', left: Infinity }
  if (quota === 0) return { ...none, state: 'no-quota' }
  return { ...none, state: level >= quota ? 'whole' : level < 1 ? 'empty' : 'some', left: Math.max(0, level) }
}

function withInfinity(sent: SentDecision): Decision {
  const { quota, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs } = sent
  const waits = {
    retryAfterMs: retryAfterMs ?? Infinity,
    nextUnitAfterMs: nextUnitAfterMs ?? Infinity,
    resetAfterMs: resetAfterMs ?? Infinity,
  }
  return {
    allowed: sent.allowed === true,
    ...(sent.degraded != null && { degraded: sent.degraded }),
    quota: quota ?? Infinity,
    remaining: remaining ?? Infinity,
    delayMs: 0,
    ...waits,
  }
}

function countOf({ quota, remaining, resetAfterMs }: Decision, wholeMs: number): number {
  return resetAfterMs > 0 && wholeMs === 0 ? quota : remaining
}

/**
 * The level follows from the time until the bucket is whole. Waits are whole milliseconds, so of a fast bucket `remaining` is
 * more exact at first.
 */
function bucketLevel({ quota, remaining, resetAfterMs }: Decision, wholeMs: number, perMs: number): number {
  const level = quota - wholeMs * perMs
  return wholeMs < resetAfterMs || level < 0 ? level : Math.min(Math.max(level, remaining), remaining + 0.99)
}

/** Units that a bucket fills in a millisecond; `undefined` of a limit that is not a bucket. */
function unitsPerMs(limit: Limit): number | undefined {
  const rate = 'refill' in limit ? limit.refill : 'drain' in limit ? limit.drain : undefined
  if (rate === undefined) return undefined
  const { units, perUs } = exactRate('rate', rate)
  return (Number(units) / Number(perUs)) * 1_000
}

/** From its next unit to its last, a bucket in debt needs the time of all units but one. A block hides that time. */
function isDebt({ quota, nextUnitAfterMs, resetAfterMs }: Decision, perMs: number): boolean {
  return quota > 1 && resetAfterMs - nextUnitAfterMs >= (quota - 1) / perMs - 2
}
