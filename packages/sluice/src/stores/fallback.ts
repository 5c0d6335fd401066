import type { Clock } from '../clock.js'
import { type Decision, type Limit, quotaOf, shareOf, type Taken } from '../limits/index.js'
import { type MemoryStore, memoryStore } from './memory/memory-store.js'
import type { OnFailure } from './on-failure.js'
import type { Answer, Demand, NamedLimit } from './store.js'
import { warn } from './warn.js'

/** What a fallback is told once. */
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

/** A client that is denied without a count is told to come back after this long. */
const CLOSED_MS = 1000

/** Further limits of a store that have no share are not reported. */
const MOST_WARNINGS = 5

/**
 * Answers for a store that has failed. Each answer says so in `degraded`.
 *
 * `local` limits live in a memory store of their own, each one share of the whole limit. They start whole, and go on
 * from one outage to the next. A share that admits nothing denies.
 *
 * Nothing here throws: an error in the middle of an outage would end the process.
 */
export class Fallback {
  readonly #onFailure: OnFailure | undefined
  readonly #instances: number
  readonly #shares = new WeakMap<Limit, { readonly limit: Limit | undefined }>()
  readonly #local: MemoryStore
  readonly #reported = new Set<string>()

  constructor({ onFailure, instances, maxLocalKeys, clock }: FallbackOptions) {
    this.#onFailure = onFailure
    this.#instances = instances
    this.#local = memoryStore({ maxKeys: maxLocalKeys, maxLogTimestamps: maxLocalKeys, ...(clock && { clock }) })
  }

  /** The rule for a demand; `undefined` if none is stated. A shadow denies nothing, so without a rule it is open. */
  ruleOf({ onFailure, shadow }: NamedLimit): OnFailure | undefined {
    return onFailure ?? this.#onFailure ?? (shadow === true ? 'open' : undefined)
  }

  /** Makes the share of a limit before it is needed, and warns once if that share admits nothing. */
  prepare(named: NamedLimit): void {
    const { name, limit } = named
    if (this.ruleOf(named) !== 'local' || this.#shareOf(limit) !== undefined) return
    if (this.#reported.has(name) || this.#reported.size === MOST_WARNINGS) return
    this.#reported.add(name)
    warn(
      `while the store is away, the limit '${name}' denies everything in this process: divided among ` +
        `${this.#instances} instances, a share of its ${quotaOf(limit)} units admits nothing. ` +
        "Use fewer instances, a larger limit, or onFailure 'open' or 'closed'.",
      'SLUICE_NO_SHARE',
    )
  }

  decide(demands: readonly Demand[]): Answer {
    const uncounted = demands.map((demand) => this.#withoutCount(demand))
    const denied = demands.some(({ shadow }, i) => shadow !== true && uncounted[i]?.allowed === false)
    // Where another demand is denied, local limits are only looked at.
    const counted = this.#count(
      demands
        .filter((_, i) => uncounted[i] === undefined)
        .map((demand) => ({ ...demand, cost: denied ? 0 : demand.cost })),
    )
    let next = 0
    const takenUs: number[] = []
    const decisions = demands.map((demand, i) => {
      const decision = uncounted[i]
      takenUs.push(decision === undefined ? counted.takenUs[next] : 0)
      return decision ?? localDecision(demand, counted.decisions[next++])
    })
    return { allowed: !denied && counted.allowed, decisions, takenUs }
  }

  charge(demand: Demand): Decision {
    return this.#change(demand, (share) => this.#local.charge(share))
  }

  /** Gives back what was taken locally; what was taken elsewhere stays taken. */
  refund(demand: Demand, taken: Taken | undefined): Decision {
    if (taken?.degraded !== 'local') return this.peek(demand)
    return this.#change({ ...demand, onFailure: 'local' }, (share) => this.#local.refund(share, taken))
  }

  peek(demand: Demand): Decision {
    return this.decide([{ ...demand, cost: 0 }]).decisions[0]
  }

  /** A key that is to be forgotten is forgotten here too. */
  reset(name: string, key: string): void {
    this.#local.reset(name, key)
  }

  /** A block holds during an outage too, if there is room to remember it. */
  block(name: string, key: string, durationUs: number): void {
    try {
      this.#local.block(name, key, durationUs)
    } catch {
      // The store itself is told of the block in any case.
    }
  }

  /** The answer to a demand that no local limit counts; `undefined` if one does. */
  #withoutCount(demand: Demand): Decision | undefined {
    const rule = this.ruleOf(demand)
    if (rule === 'closed') return closedDecision(demand, 'closed')
    if (rule === 'local') return this.#shareOf(demand.limit) === undefined ? closedDecision(demand, 'local') : undefined
    return this.#blocked(demand) ?? openDecision(demand)
  }

  /** Even where all may go, a key that this process has blocked may not. */
  #blocked({ name, limit, key }: Demand): Decision | undefined {
    if (this.#local.size === 0) return undefined
    try {
      const decision = this.#local.decideOne(name, limit, key, 0)
      return decision.allowed ? undefined : { ...decision, degraded: 'open' }
    } catch {
      return undefined
    }
  }

  /** Demands of local limits, all of which have a share. A process that is out of memory denies them. */
  #count(demands: readonly Demand[]): Answer {
    try {
      return this.#local.decide(demands.map((demand) => this.#shareIn(demand)))
    } catch {
      const decisions = demands.map((demand) => closedDecision(demand, 'local'))
      return { allowed: demands.every(({ shadow }) => shadow === true), decisions, takenUs: demands.map(() => 0) }
    }
  }

  /** Changes a local count, if a local limit counts the demand. The decision is that of a cost of 0 afterwards. */
  #change(demand: Demand, run: (share: Demand) => Decision): Decision {
    if (this.#withoutCount(demand) !== undefined) return this.peek(demand)
    try {
      return localDecision({ ...demand, cost: 0 }, run(this.#shareIn(demand)))
    } catch {
      return closedDecision(demand, 'local')
    }
  }

  #shareIn(demand: Demand): Demand {
    return { ...demand, limit: this.#shareOf(demand.limit) ?? demand.limit }
  }

  #shareOf(limit: Limit): Limit | undefined {
    let share = this.#shares.get(limit)
    if (share === undefined) {
      share = { limit: shareOf(limit, this.#instances) }
      this.#shares.set(limit, share)
    }
    return share.limit
  }
}

function openDecision({ limit, cost }: Demand): Decision {
  const quota = quotaOf(limit)
  return {
    allowed: true,
    quota,
    remaining: Math.max(0, quota - cost),
    retryAfterMs: 0,
    nextUnitAfterMs: 0,
    resetAfterMs: 0,
    delayMs: 0,
    degraded: 'open',
  }
}

function closedDecision({ limit, cost }: Demand, degraded: 'closed' | 'local'): Decision {
  const quota = quotaOf(limit)
  return {
    allowed: false,
    quota,
    remaining: 0,
    retryAfterMs: cost > quota ? Infinity : CLOSED_MS,
    nextUnitAfterMs: CLOSED_MS,
    resetAfterMs: CLOSED_MS,
    delayMs: 0,
    degraded,
  }
}

/** A cost that only the share is too small for may be met when the store is back. */
function localDecision({ limit, cost }: Demand, decision: Decision): Decision {
  const never = decision.retryAfterMs === Infinity && cost <= quotaOf(limit)
  return { ...decision, ...(never && { retryAfterMs: CLOSED_MS }), degraded: 'local' }
}
