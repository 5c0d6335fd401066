import { checkUnits, checkValue } from '../checks/check-value.js'
import type { Clock } from '../clock.js'

/**
 * How a request is answered if its store fails: `'open'` admits it, `'closed'` denies it, `'local'` limits it in this
 * process.
 */
export type OnFailure = 'open' | 'closed' | 'local'

/** How an answer was made if the store did not decide it; `'overrides'`: without knowing all run-time overrides. */
export type Degraded = OnFailure | 'overrides'

/** Denied without the store outweighs allowed without it. */
const WORST_FIRST = ['closed', 'open', 'local', 'overrides'] as const

/** The one of two rules that describes a request which both were applied to. */
export function worseOf(one: Degraded | undefined, other: Degraded | undefined): Degraded | undefined {
  return WORST_FIRST.find((each) => each === one || each === other)
}

/** How a store's limits answer if it fails. */
export interface FallbackOptions {
  /** The rule for demands that name none. */
  readonly onFailure: OnFailure | undefined
  /** Among how many processes a `local` limit is divided. */
  readonly instances: number
  /** The most keys, and the most timestamps of logs, that `local` limits keep. */
  readonly maxLocalKeys: number
  /** The clock of `local` limits. Default: the process's. */
  readonly clock?: Clock | undefined
}

export function checkOnFailure(value: unknown): OnFailure {
  return checkValue('onFailure', value, ['open', 'closed', 'local'])
}

/** Checks a store's options for `'local'` limits and fills in defaults. */
export function checkLocalOptions(given: { readonly instances?: unknown; readonly maxLocalKeys?: unknown }) {
  return {
    instances: checkUnits('instances', given.instances ?? 1, 1_000_000),
    maxLocalKeys: checkUnits('maxLocalKeys', given.maxLocalKeys ?? 1_000_000, 2 ** 30),
  }
}
