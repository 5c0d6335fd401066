import type { Decision, Degraded, Explanation } from 'sluice'
import type { UnusedAttribute } from '../serve/unused-attributes.js'
import { durationText } from './text-table.js'

/** The result of `sluice explain`, as `--json` prints it. */
export interface ExplainReport extends PredictedVerdict {
  readonly file: string
  readonly policy: string
  readonly cost: number
  /** Attributes of the request that the policy never asks about. */
  readonly unused: readonly UnusedAttribute[]
  /** The store that was asked: `memory`, or the address of a Redis. */
  readonly store: string
}

/** The verdict that a request would get now. */
interface PredictedVerdict {
  readonly allowed: boolean
  readonly deniedBy: readonly string[]
  /** One reason for each limit that would deny. */
  readonly reasons: readonly string[]
  readonly levels: readonly Explanation[]
}

/** Predicts the verdict of `check` without taking anything. The decisions of `explain` are those of a peek. */
export function predictVerdict(levels: readonly Explanation[]): PredictedVerdict {
  const denials = levels.flatMap(({ level, shadow, cost = 0, limits = [] }) =>
    limits
      .filter(({ decision }) => shadow !== true && !decision.allowed)
      .map(({ decision }) => ({ level, reason: `${level}: ${reasonOf(decision, cost)}` })),
  )
  const deniedBy = [...new Set(denials.map(({ level }) => level))]
  return { allowed: denials.length === 0, deniedBy, reasons: denials.map(({ reason }) => reason), levels }
}

/** How parts of the report were made without the store, or without the run-time overrides. */
export function degradedOf({ levels }: ExplainReport): readonly Degraded[] {
  return levels.flatMap(({ degraded, limits = [] }) =>
    [degraded, ...limits.map(({ decision }) => decision.degraded)].filter((each) => each !== undefined),
  )
}

function reasonOf({ quota, remaining, retryAfterMs }: Decision, cost: number): string {
  if (cost > quota) return `takes ${cost}, and ${quota} is all that it ever has`
  const wait = durationText(retryAfterMs)
  if (cost === 0) return `blocked or in debt for another ${wait}`
  const left = `takes ${cost}, and ${remaining} of ${quota} are left`
  // A blocked key has nothing left, whatever it has taken.
  return remaining === 0 ? `${left} or the key is blocked; it passes in ${wait}` : `${left}; it passes in ${wait}`
}
