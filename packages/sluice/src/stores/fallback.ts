import { checkUnits, checkValue } from '../checks/check-value.js'
import { type Decision, type Limit, quotaOf, shareOf, type Taken, uncountedDenial } from '../limits/index.js'
import { LimitWarnings } from './limit-warnings.js'
import { type MemoryStore, memoryStore } from './memory/memory-store.js'
import type { Answer, Demand, NamedLimit, OnFailure, Store } from './store.js'

/** The wait that a client is told if it is denied without a count. */
const CLOSED_MS = 1000

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

/**
 * Answers for a store that has failed. Each answer says so in `degraded`.
 *
 * `local` limits count in a memory store of their own, each with a share of the whole limit. They start whole, and keep
 * their state from one outage to the next. If the share admits nothing, the request is denied.
 *
 * Nothing here throws: an error during an outage would end the process.
 */
export class Fallback {
  readonly #onFailure: OnFailure | undefined
  readonly #instances: number
  readonly #shares = new WeakMap<Limit, { readonly limit: Limit | undefined }>()
  readonly #local: MemoryStore
  readonly #warnings = new LimitWarnings('SLUICE_NO_SHARE')

  constructor(options: Pick<Store, 'onFailure' | 'clock'> & ReturnType<typeof checkLocalOptions>) {
    const { onFailure, instances, maxLocalKeys, clock } = options
    this.#onFailure = onFailure
    this.#instances = instances
    this.#local = memoryStore({ maxKeys: maxLocalKeys, maxLogTimestamps: maxLocalKeys, ...(clock && { clock }) })
  }

  /** The rule for a demand; `undefined` if it has none. A shadow denies nothing, so its default is open. */
  ruleOf({ onFailure, shadow }: NamedLimit): OnFailure | undefined {
    return onFailure ?? this.#onFailure ?? (shadow === true ? 'open' : undefined)
  }

  /** Makes the share of a limit before it is needed, and warns once if that share admits nothing. */
  prepare(named: NamedLimit): void {
    const { name, limit } = named
    if (this.ruleOf(named) !== 'local' || this.#shareOf(limit) !== undefined) return
    this.#warnings.warn(
      name,
      `while the store is away, the limit '${name}' denies everything in this process: divided among ` +
        `${this.#instances} instances, a share of its ${quotaOf(limit)} units admits nothing. ` +
        "Use fewer instances, a larger limit, or onFailure 'open' or 'closed'.",
    )
  }

  decide(demands: readonly Demand[]): Answer {
    return this.#answer(demands, true)
  }

  /** Says what `decide` would say, and takes nothing. */
  peek(demands: readonly Demand[]): Answer {
    return this.#answer(demands, false)
  }

  charge(demand: Demand): Decision {
    return this.#change(demand, (share) => this.#local.charge(share))
  }

  /** Refunds units that a local limit took. Units taken from the store stay taken. */
  refund(demand: Demand, taken: Taken | undefined): Decision {
    if (taken?.degraded !== 'local') return this.#peekOne(demand)
    return this.#change({ ...demand, onFailure: 'local' }, (share) => this.#local.refund(share, taken))
  }

  reset(name: string, key: string): void {
    this.#local.reset(name, key)
  }

  /** Keeps a block for outages, if there is room. */
  block(name: string, key: string, durationUs: number): void {
    try {
      this.#local.block(name, key, durationUs)
    } catch {
      // The store itself gets the block in any case.
    }
  }

  /** Keeps the blocks that the store has made by `blockFor`, as far as its answer tells: a denied key is blocked. */
  keepBlocks(demands: readonly Demand[], { decisions }: Answer): void {
    for (let i = 0; i < demands.length; i++) {
      const { name, key, cost, blockFor } = demands[i]
      const { allowed, retryAfterMs, degraded } = decisions[i]
      if (blockFor === undefined || allowed || cost === 0 || degraded !== undefined) continue
      this.block(name, key, retryAfterMs === Infinity ? blockFor.mostUs : retryAfterMs * 1_000)
    }
  }

  #answer(demands: readonly Demand[], takes: boolean): Answer {
    const uncounted = demands.map((demand) => this.#withoutCount(demand, takes))
    const denied = demands.some(({ shadow }, i) => shadow !== true && uncounted[i]?.allowed === false)
    const local = demands.filter((_, i) => uncounted[i] === undefined)
    // If another demand is denied, local limits take nothing.
    const counted = this.#count(local, takes && !denied)
    let next = 0
    const takenUs: number[] = []
    const decisions = demands.map((demand, i) => {
      const decision = uncounted[i]
      takenUs.push(decision === undefined ? counted.takenUs[next] : 0)
      return decision ?? localDecision(demand, counted.decisions[next++])
    })
    return { allowed: !denied && counted.allowed, decisions, takenUs }
  }

  /** What `peek` says for a cost of 1: the answer to a change. */
  #peekOne(demand: Demand): Decision {
    return this.peek([{ ...demand, cost: 1 }]).decisions[0]
  }

  /** The decision for a demand that no local limit counts; `undefined` if one does. */
  #withoutCount(demand: Demand, takes: boolean): Decision | undefined {
    const rule = this.ruleOf(demand)
    if (rule === 'closed') return closedDecision(demand, 'closed')
    if (rule === 'local') return this.#shareOf(demand.limit) === undefined ? closedDecision(demand, 'local') : undefined
    // A limit of 0 denies everything, whatever its store knows.
    if (demand.cost > 0 && quotaOf(demand.limit) === 0) return closedDecision(demand, 'open')
    return this.#blocked(demand) ?? openDecision(demand.limit, takes ? demand.cost : 0)
  }

  /** Even if the rule is open, a key that this process has blocked is denied. */
  #blocked({ name, limit, key }: Demand): Decision | undefined {
    if (this.#local.size === 0) return undefined
    try {
      const decision = this.#local.decideOne(name, limit, key, 0)
      return decision.allowed ? undefined : { ...decision, degraded: 'open' }
    } catch {
      return undefined
    }
  }

  /** Decides demands that have a local share, or only peeks. If the process is out of memory, denies them. */
  #count(demands: readonly Demand[], takes: boolean): Answer {
    try {
      const shares = demands.map((demand) => this.#shareIn(demand))
      return takes ? this.#local.decide(shares) : this.#local.peek(shares)
    } catch {
      const decisions = demands.map((demand) => closedDecision(demand, 'local'))
      return { allowed: demands.every(({ shadow }) => shadow === true), decisions, takenUs: demands.map(() => 0) }
    }
  }

  /** Changes a local count if the demand has one. Returns what `peek` says afterwards for a cost of 1. */
  #change(demand: Demand, run: (share: Demand) => Decision): Decision {
    if (this.#withoutCount(demand, false) !== undefined) return this.#peekOne(demand)
    try {
      return localDecision({ ...demand, cost: 1 }, run(this.#shareIn(demand)))
    } catch {
      return closedDecision({ ...demand, cost: 1 }, 'local')
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

/** `taken` units are no longer there. */
function openDecision(limit: Limit, taken: number): Decision {
  const quota = quotaOf(limit)
  return {
    allowed: true,
    quota,
    remaining: Math.max(0, quota - taken),
    retryAfterMs: 0,
    nextUnitAfterMs: 0,
    resetAfterMs: 0,
    delayMs: 0,
    degraded: 'open',
  }
}

function closedDecision({ limit, cost }: Demand, degraded: OnFailure): Decision {
  const quota = quotaOf(limit)
  const denial = uncountedDenial(quota, CLOSED_MS)
  return { ...denial, ...(cost > quota && { retryAfterMs: Infinity }), degraded }
}

/** A cost that is too large only for the share may fit when the store is back, so its wait is not infinite. */
function localDecision({ limit, cost }: Demand, decision: Decision): Decision {
  const never = decision.retryAfterMs === Infinity && cost <= quotaOf(limit)
  return { ...decision, ...(never && { retryAfterMs: CLOSED_MS }), degraded: 'local' }
}
