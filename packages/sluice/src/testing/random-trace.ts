/** Random series of calls, for comparing two stores. The same seed gives the same series. */
import {
  type BlockRule,
  concurrency,
  fixedWindow,
  isConcurrency,
  isUnlimited,
  type Limit,
  leakyBucket,
  parseBlockFor,
  parseLimit,
  quotaOf,
  type Rate,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
} from '../limits/index.js'
import { type ContractExemptions, isAccepted } from './contract-exemptions.js'

/** One call of a store, after a move of the clock. */
export interface TraceStep {
  /** How far the clock moves before the call. May be negative: clocks step back. */
  readonly advanceMs: number
  /** `change` gives a limit other numbers, and charges every key one unit under them. */
  readonly call: 'decide' | 'peek' | 'charge' | 'refund' | 'refundTaken' | 'set' | 'reset' | 'block' | 'change'
  readonly demands: readonly {
    readonly name: string
    readonly limit: Limit
    readonly key: string
    readonly cost: number
    readonly shadow?: boolean
    readonly blockFor?: BlockRule | undefined
  }[]
  readonly durationUs: number
  /** How many units `set` leaves to the first key. */
  readonly remaining: number
  /** Are two versions of a limit in use? Then the answers depend on whether a store has forgotten a whole state. */
  readonly mixed?: boolean
}

const KEYS = ['a', 'b', 'a:b', '__proto__', '\ud800', '{a}']

/** Numbers from 0 to 1, by the algorithm mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Rules of limits that block keys. Each is short enough for a series to see its end, and that of its memory. */
const RULES = ['1ms', '250ms', '7s', { first: '20ms', factor: 2.5, most: '1s', forget: '1s' }, { first: '3s' }].map(
  parseBlockFor,
)

/**
 * A series of calls for a few limits and keys: bursts, waits, steps back, changed numbers, and every method of a store, but
 * nothing that the store is exempt from. If it `blocks`, most limits block keys that exceed. Then no window changes its
 * length, because Redis blocks a state and not all states of a name.
 */
export function randomTrace(
  seed: number,
  steps: number,
  blocks = false,
  exempt: ContractExemptions = {},
): readonly TraceStep[] {
  const random = randomNumbers(seed)
  const whole = (most: number) => Math.floor(random() * (most + 1))
  const pick = <const T>(...from: readonly T[]): T => from[whole(from.length - 1)]
  const limits = new Map<string, Limit>()
  const newLimit = () => {
    for (;;) {
      const limit = randomLimit(pick, whole)
      if (isAccepted(limit, exempt)) return limit
    }
  }
  for (let i = whole(2); i >= 0; i--) limits.set(`limit-${i}`, newLimit())
  const rules = new Map([...limits.keys()].map((name) => [name, blocks ? pick(undefined, ...RULES) : undefined]))
  // Limits as they were before their numbers changed. Some demands use these, as an old version of a program does.
  const versions = new Map<string, Limit[]>()
  const demand = () => {
    const [name, newest] = pick(...limits)
    const limit = (random() < 0.2 ? versions.get(name)?.at(-1) : undefined) ?? newest
    const cost = pick(1, 1, 1, 1, 2, 3, 0, whole(12), 1e9)
    const shadow = random() < 0.1 && { shadow: true }
    return { name, limit, key: pick(...KEYS), cost, ...shadow, ...(blocks && { blockFor: rules.get(name) }) }
  }
  return Array.from({ length: steps }, () => {
    if (random() < 0.03 && exempt.changedNumbers !== true) {
      const [name, before] = pick(...limits)
      const limit = blocks ? sameWindow(before, pick, whole) : sameAlgorithm(before, pick, whole)
      limits.set(name, limit)
      versions.set(name, [...(versions.get(name) ?? []), before])
      const demands = KEYS.map((key) => ({ name, limit, key, cost: 1 }))
      return { advanceMs: 0, call: 'change', demands, durationUs: 0, remaining: 0 }
    }
    const demands = Array.from({ length: pick(1, 1, 1, 2, 3) }, demand)
    const [{ limit }] = demands
    const canSet = !isConcurrency(limit) && !isUnlimited(limit)
    const moveMs = pick(0, 0, 0, 0.001, 0.25, 1, 7, whole(50), whole(900), whole(70_000), -whole(40), -whole(90_000))
    return {
      advanceMs: exempt.stepsBack === true ? Math.abs(moveMs) : moveMs,
      call: pick(
        ...(['decide', 'decide', 'decide', 'decide', 'decide', 'decide', 'charge', 'refund'] as const),
        ...(['refundTaken', 'reset', 'block', 'decide', 'decide', 'decide', 'decide', 'decide'] as const),
        ...(['peek', 'peek', canSet ? 'set' : 'peek'] as const),
      ),
      demands,
      remaining: canSet ? whole(quotaOf(limit)) : 0,
      durationUs: pick(1_000, 250_000, 60_000_000),
      mixed: versions.size > 0,
    }
  })
}

type Pick = <const T>(...from: readonly T[]) => T
type Whole = (most: number) => number

/** The quota of a limit. One in ten denies everything. */
function randomUnits(pick: Pick, whole: Whole): number {
  return whole(9) === 0 ? 0 : 1 + whole(pick(4, 20, 300))
}

function randomLimit(pick: Pick, whole: Whole): Limit {
  const units = randomUnits(pick, whole)
  const rate: Rate = `${pick('1', '3', '6', '7', '10', '0.08', '1000', '2.5')}/${pick('s', 's', '250ms', 'm', '7s', 'h')}`
  const window = pick('1s', '1m', '700ms', '7s', '1h')
  const align = pick('epoch', 'epoch', 'first')
  return pick<() => Limit>(
    () => tokenBucket({ capacity: units, refill: rate }),
    () => leakyBucket({ capacity: units, drain: rate }),
    () => fixedWindow({ quota: units, window, align }),
    () => slidingWindow({ quota: units, window, align }),
    () => slidingWindow({ quota: units, window, align, slices: pick(2, 3, 10) }),
    () => slidingLog({ quota: units, window }),
    () => concurrency({ max: units, ttl: window }),
    unlimited,
  )()
}

/** A limit of the same algorithm with other numbers. Half of the time, a window stays the same. */
function sameAlgorithm(limit: Limit, pick: Pick, whole: Whole): Limit {
  if ('window' in limit && pick(true, false)) return parseLimit({ ...limit, quota: randomUnits(pick, whole) })
  for (;;) {
    const other = randomLimit(pick, whole)
    if (other.algorithm === limit.algorithm) return other
  }
}

/** A limit of the same state id with other numbers. */
function sameWindow(limit: Limit, pick: Pick, whole: Whole): Limit {
  const units = randomUnits(pick, whole)
  if ('window' in limit) return parseLimit({ ...limit, quota: units })
  return limit.algorithm === 'concurrency' ? parseLimit({ ...limit, max: units }) : sameAlgorithm(limit, pick, whole)
}
