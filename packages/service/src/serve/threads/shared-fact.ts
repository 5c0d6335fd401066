import { type Limit, type NamedLimit, parseLimit } from 'sluice'

/** A run-time override that was set or, without limits, removed. */
export interface OverrideChange {
  readonly policy: string
  readonly level: string
  readonly key: string
  readonly limits: readonly Limit[] | undefined
  /** When it ends, in epoch milliseconds; absent if it stays until it is removed. */
  readonly untilMs: number | undefined
}

/**
 * What every thread must know besides the table: an override, or a limit that some thread uses under a name. With the
 * limits, a `reset` in any thread forgets the states that any other has made.
 */
export type SharedFact = { readonly override: OverrideChange } | { readonly limit: NamedLimit }

/** Limits that are remembered by their text. Emptied when it is full. */
const MOST_LIMITS = 10_000
const known = new Map<string, Limit>()

/**
 * The limit with the data that came in a message. A message brings a copy, and the library knows limits as objects. Equal
 * data give the same limit again.
 */
export function limitFrom(data: Limit): Limit {
  const text = JSON.stringify(data)
  let limit = known.get(text)
  if (limit === undefined) {
    limit = parseLimit(data)
    if (known.size >= MOST_LIMITS) known.clear()
    known.set(text, limit)
  }
  return limit
}
