/**
 * The definition of each algorithm, as plain as possible: it keeps the whole history of admitted units and counts in
 * BigInt fractions. It compresses no state and rounds nothing, so it can check a library that does both.
 */
import { type LimitCase, larger } from './arbitraries.js'

/** Admitted units, and the time at which they count as taken. */
interface Admitted {
  readonly us: bigint
  readonly cost: bigint
}

/** The exact answer to a request. */
export interface ExactAnswer {
  readonly allowed: boolean
  /** Whole units left afterwards. */
  readonly remaining: bigint
}

/**
 * Answers requests of one key, one after the other; times may step back. A `quota` replaces that of the limit for this
 * request, as when two versions of a limit count together.
 */
export type Model = (us: bigint, cost: bigint, quota?: bigint) => ExactAnswer

/** How much of a quota is used, as a fraction. */
interface Usage {
  readonly denominator: bigint
  /** The numerator of the used units: quota · denominator − used is left. */
  used(history: readonly Admitted[], us: bigint): bigint
}

/** The model of a limit. */
export function modelOf(given: LimitCase): Model {
  const usage = USAGES[given.limit.algorithm](given)
  const history: Admitted[] = []
  return (us, cost, quota = given.quota) => {
    // Admitted units still count if the clock has stepped back since.
    const later = history.reduce((latest, admitted) => larger(latest, admitted.us), us)
    const whole = quota * usage.denominator
    const allowed = usage.used(history, later) + cost * usage.denominator <= whole
    if (allowed && cost > 0n) history.push({ us: later, cost })
    return { allowed, remaining: larger(whole - usage.used(history, later), 0n) / usage.denominator }
  }
}

const USAGES: Readonly<Record<LimitCase['limit']['algorithm'], (given: LimitCase) => Usage>> = {
  'token-bucket': bucketUsage,
  'leaky-bucket': bucketUsage,
  'fixed-window': fixedUsage,
  'sliding-window': slidingUsage,
  'sliding-log': logUsage,
  concurrency: logUsage,
}

/** used = max(0, used − elapsed · units / perUs), request after request. */
function bucketUsage({ rate: { units, perUs } }: LimitCase): Usage {
  return {
    denominator: perUs,
    used(history, us) {
      let used = 0n
      let since = 0n
      for (const admitted of [...history, { us, cost: 0n }]) {
        used = larger(used - (admitted.us - since) * units, 0n) + admitted.cost * perUs
        since = admitted.us
      }
      return used
    },
  }
}

/** used = units admitted in the same window. */
function fixedUsage({ windowUs, alignFirst }: LimitCase): Usage {
  return {
    denominator: 1n,
    used(history, us) {
      const start = alignFirst ? lastStart(history, windowUs) : us - (us % windowUs)
      return us - start >= windowUs ? 0n : total(history.filter((admitted) => admitted.us >= start))
    },
  }
}

/** The start of the last window, if a window begins with the first request after the window before it. */
function lastStart(history: readonly Admitted[], windowUs: bigint): bigint {
  let start: bigint | undefined
  for (const { us } of history) if (start === undefined || us - start >= windowUs) start = us
  return start ?? 0n
}

/** used = the newest `slices` slices + the one before them · (1 − elapsed share of the current slice). */
function slidingUsage(given: LimitCase): Usage {
  return { denominator: given.windowUs, used: (history, us) => estimate(given, history, us) }
}

/** The weighted estimate at a time, over the window's microseconds. */
export function estimate(
  { windowUs, slices, alignFirst }: LimitCase,
  history: readonly Admitted[],
  us: bigint,
): bigint {
  // Slice k is [k·window/slices, (k + 1)·window/slices): times are multiplied by slices, so that this is whole.
  const weighted = (part: readonly Admitted[], origin: bigint, at: bigint) => {
    const slice = ((at - origin) * slices) / windowUs
    const elapsed = (at - origin) * slices - slice * windowUs
    let sum = 0n
    for (const admitted of part) {
      const age = slice - ((admitted.us - origin) * slices) / windowUs
      if (age < slices) sum += admitted.cost * windowUs
      else if (age === slices) sum += admitted.cost * (windowUs - elapsed)
    }
    return sum
  }
  if (!alignFirst) return weighted(history, 0n, us)
  // A key's slices begin at its first request, and again at the first request after all units have left the window.
  let live: Admitted[] = []
  for (const admitted of history) {
    if (live.length > 0 && weighted(live, live[0].us, admitted.us) === 0n) live = []
    live.push(admitted)
  }
  return live.length === 0 ? 0n : weighted(live, live[0].us, us)
}

/** used = units admitted in (us − window, us]. */
function logUsage({ windowUs }: LimitCase): Usage {
  return {
    denominator: 1n,
    used: (history, us) => total(history.filter((admitted) => us - admitted.us < windowUs)),
  }
}

function total(history: readonly Admitted[]): bigint {
  return history.reduce((sum, { cost }) => sum + cost, 0n)
}
