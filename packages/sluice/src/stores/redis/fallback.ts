import { type Decision, type Limit, quotaOf, shareOf, type Taken } from '../../limits/index.js'
import { type MemoryStore, memoryStore } from '../memory/memory-store.js'
import type { OnFailure } from '../on-failure.js'
import type { Answer, Demand } from '../store.js'

/** A client that was denied because nobody could be asked is told to come back after this long. */
const CLOSED_MS = 1000

/**
 * The answers of a store that cannot be asked. Each says so in `degraded`.
 *
 * `local` limits live in a memory store of their own, each one share of the whole limit. They start whole, and go on
 * from one outage to the next.
 */
export class Fallback {
  readonly #onFailure: OnFailure
  readonly #instances: number
  readonly #shares = new WeakMap<Limit, Limit>()
  #local: MemoryStore | undefined

  constructor(onFailure: OnFailure, instances: number) {
    this.#onFailure = onFailure
    this.#instances = instances
  }

  decide(demands: readonly Demand[]): Answer {
    const blocked = demands.map((demand) => this.#blocked(demand))
    const closed = demands.some(
      (demand, i) => demand.shadow !== true && (this.#ruleOf(demand) === 'closed' || blocked[i] !== undefined),
    )
    // Where another demand is denied, local limits are only looked at.
    const local = demands
      .filter((demand) => this.#ruleOf(demand) === 'local')
      .map((demand) => ({ ...this.#shareOf(demand), cost: closed ? 0 : demand.cost }))
    const answer = local.length === 0 ? undefined : this.#localStore.decide(local)
    let next = 0
    const decisions = demands.map((demand, i): Decision => {
      const rule = this.#ruleOf(demand)
      if (blocked[i] !== undefined) return blocked[i]
      if (rule === 'local' && answer !== undefined) return localDecision(demand, answer.decisions[next++])
      return rule === 'closed' ? closedDecision(demand) : openDecision(demand)
    })
    next = 0
    const takenUs = demands.map((demand) => (this.#ruleOf(demand) === 'local' ? (answer?.takenUs[next++] ?? 0) : 0))
    return { allowed: !closed && answer?.allowed !== false, decisions, takenUs }
  }

  charge(demand: Demand): Decision {
    if (this.#ruleOf(demand) !== 'local') return this.peek(demand)
    return localDecision({ ...demand, cost: 0 }, this.#localStore.charge(this.#shareOf(demand)))
  }

  /** Gives back what was taken locally; what was taken elsewhere stays taken. */
  giveBack(demand: Demand, taken: Taken | undefined): Decision {
    if (taken?.degraded !== 'local') return this.peek(demand)
    return localDecision({ ...demand, cost: 0 }, this.#localStore.giveBack(this.#shareOf(demand), taken))
  }

  peek(demand: Demand): Decision {
    return this.decide([{ ...demand, cost: 0 }]).decisions[0]
  }

  /** A key that is to be forgotten is forgotten here too. */
  reset(name: string, key: string): void {
    this.#local?.reset(name, key)
  }

  /** A block holds during an outage too. */
  block(name: string, key: string, durationUs: number): void {
    this.#localStore.block(name, key, durationUs)
  }

  /** Even where all may go, a key that this process has blocked may not. */
  #blocked(demand: Demand): Decision | undefined {
    if (this.#local === undefined || this.#ruleOf(demand) !== 'open') return undefined
    const { name, limit, key } = demand
    const decision = this.#local.decideOne(name, limit, key, 0)
    return decision.allowed ? undefined : { ...decision, degraded: 'open' }
  }

  get #localStore(): MemoryStore {
    this.#local ??= memoryStore()
    return this.#local
  }

  #ruleOf({ onFailure }: Demand): OnFailure {
    return onFailure ?? this.#onFailure
  }

  #shareOf(demand: Demand): Demand {
    let limit = this.#shares.get(demand.limit)
    if (limit === undefined) {
      limit = shareOf(demand.limit, this.#instances)
      this.#shares.set(demand.limit, limit)
    }
    return { ...demand, limit }
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

function closedDecision({ limit, cost }: Demand): Decision {
  const quota = quotaOf(limit)
  return {
    allowed: false,
    quota,
    remaining: 0,
    retryAfterMs: cost > quota ? Infinity : CLOSED_MS,
    nextUnitAfterMs: CLOSED_MS,
    resetAfterMs: CLOSED_MS,
    delayMs: 0,
    degraded: 'closed',
  }
}

/** A cost that only the share is too small for may be met when the store is back. */
function localDecision({ limit, cost }: Demand, decision: Decision): Decision {
  const never = decision.retryAfterMs === Infinity && cost <= quotaOf(limit)
  return { ...decision, ...(never && { retryAfterMs: CLOSED_MS }), degraded: 'local' }
}
