import { durationUs, type Limit } from 'sluice/limits'
import { windowTextOf } from '../engine/most-in-window.js'
import { type Run, simulate, type Traffic } from '../engine/simulate.js'
import { DraftProblem, numberOrText } from './draft.js'
import { type LimitDraft, limitOf } from './limit-draft.js'
import { type TrafficDraft, trafficOf } from './traffic-draft.js'

/** Everything that a person sets in the lab, and everything that a link holds. */
export interface LabSettings {
  readonly traffic: TrafficDraft
  /** Units that each request takes. */
  readonly cost: string
  readonly limits: readonly LimitDraft[]
  /** The worked example that the settings come from. */
  readonly preset?: string | undefined
}

/** Limits side by side; more are too small to read. */
export const MOST_LIMITS = 5

/** What the lab shows for its settings. */
export interface LabResult {
  readonly traffic: Traffic | DraftProblem
  readonly cost: number | DraftProblem
  /** For each limit: what it does with the traffic, or why it cannot be used. `undefined` if the traffic or the cost is wrong. */
  readonly runs: readonly (Run | DraftProblem | undefined)[]
}

/** Runs the settings. */
export function runLab(settings: LabSettings): LabResult {
  const traffic = trafficOf(settings.traffic)
  const cost = costOf(settings.cost)
  const limits = settings.limits.map(limitOf)
  const windowUs = comparedWindowUs(limits)
  const runs = limits.map((limit) => {
    if (limit instanceof DraftProblem) return limit
    if (traffic instanceof DraftProblem || cost instanceof DraftProblem) return undefined
    return simulate(limit, traffic, cost, windowUs)
  })
  return { traffic, cost, runs }
}

/** Buckets have no window, so they are compared in the longest of the others, or in a second. */
function comparedWindowUs(limits: readonly (Limit | DraftProblem)[]): number {
  const texts = limits.map((limit) => (limit instanceof DraftProblem ? undefined : windowTextOf(limit)))
  const lengths = texts.map((text) => (text === undefined ? 0 : durationUs('window', text)))
  return Math.max(...lengths, 0) || 1_000_000
}

function costOf(text: string): number | DraftProblem {
  const cost = numberOrText(text)
  if (typeof cost === 'number' && Number.isSafeInteger(cost) && cost >= 1) return cost
  return new DraftProblem(`The cost must be a whole number from 1 to 9,007,199,254,740,991, not “${text}”.`, 'cost')
}
