import type { Answer, Clock, Decision, Demand, Limit, LimitedKey, TokenBucket } from 'sluice'
import type { LeaseAnswer, LeaseFailure, LeaseRequest, Leases, LendingStore } from 'sluice/leased'
import {
  arithmeticOf,
  blockedDecision,
  type KeyBlock,
  LeasedBucket,
  type LeasedState,
  leaseUs,
  microseconds,
  nextBlock,
  type Taken,
} from 'sluice/limits'

interface Entry {
  readonly bucket: LeasedBucket
  state: LeasedState
}

/** Carries a request for a lease to the store, perhaps late, twice or never, and the answer back. */
export type Wire = (deliver: () => LeaseAnswer) => Promise<LeaseAnswer | LeaseFailure>

/**
 * A store of token buckets that lends units, in this process: plain maps around `LeasedBucket`. It decides at once, and
 * leases go over a wire that a test chooses.
 */
export class LendingBuckets implements LendingStore {
  readonly synchronous = false
  readonly blocksByRule = true
  readonly clock: Clock
  readonly leases: Leases
  readonly counts = { decides: 0, exchanges: 0 }
  /** Every request for a lease, in the order of their arrival. */
  readonly requests: LeaseRequest[] = []
  wire: Wire = async (deliver) => deliver()
  /** While it is true, no call is answered, and the store answers its own failures: all are admitted. */
  isAway = false
  #entries = new Map<string, Entry>()
  #blocks = new Map<string, KeyBlock>()
  #guards = new Map<string, number>()

  constructor(clock: Clock) {
    this.clock = clock
    this.leases = {
      leaseUs: (limit, longestUs) => (limit.algorithm === 'token-bucket' ? leaseUs(limit, longestUs) : 0),
      exchange: (request) => this.#exchange(request),
    }
  }

  prepare(): void {}

  async decide(demands: readonly Demand[]): Promise<Answer> {
    this.counts.decides++
    if (this.isAway) return admitted(demands)
    const costOf = (demand: Demand) =>
      demands.reduce((sum, other) => sum + (idOf(other) === idOf(demand) ? other.cost : 0), 0)
    const isShadow = (demand: Demand) => demands.every((other) => idOf(other) !== idOf(demand) || other.shadow === true)
    for (const demand of demands) {
      const exceeds =
        demand.blockFor && demand.cost > 0 && !this.#isBlocked(demand) && !this.#fits(demand, costOf(demand))
      if (demand.blockFor && exceeds)
        this.#blocks.set(idOf(demand), nextBlock(demand.blockFor, this.#blocks.get(idOf(demand)), this.#nowUs))
    }
    const fits = demands.map((demand) => this.#fits(demand, costOf(demand)))
    const allowed = demands.every((demand, i) => fits[i] || isShadow(demand))
    for (const [i, demand] of demands.entries()) if (allowed && fits[i]) this.#take(demand, demand.cost)
    const decisions = demands.map((demand, i) =>
      this.#describe(demand, allowed && fits[i] ? 0 : costOf(demand), fits[i]),
    )
    return { allowed, decisions, takenUs: demands.map(() => this.#nowUs) }
  }

  async peek(demands: readonly Demand[]): Promise<Answer> {
    if (this.isAway) return admitted(demands)
    const decisions = demands.map((demand) => this.#peek(demand, demand.cost))
    const allowed = demands.every(({ shadow }, i) => shadow === true || decisions[i].allowed)
    return { allowed, decisions, takenUs: demands.map(() => this.#nowUs) }
  }

  async charge(demand: Demand): Promise<Decision> {
    this.#take(demand, demand.cost)
    return this.#peek(demand, 1)
  }

  async refund(demand: Demand, _taken: Taken | undefined): Promise<Decision> {
    this.#take(demand, -demand.cost)
    return this.#peek(demand, 1)
  }

  async set(limited: LimitedKey, remaining: number): Promise<Decision> {
    const entry = this.#entry(limited)
    entry.state.tokens = (remaining - this.#held(entry)) * entry.bucket.partsPerUnit
    return this.#peek(limited, 1)
  }

  async reset(name: string, key: string): Promise<void> {
    const entry = this.#entries.get(JSON.stringify([name, key]))
    if (entry !== undefined) entry.state.tokens = entry.bucket.full - this.#held(entry) * entry.bucket.partsPerUnit
    this.#blocks.delete(JSON.stringify([name, key]))
  }

  async block(name: string, key: string, durationUs: number): Promise<void> {
    this.#blocks.set(JSON.stringify([name, key]), { untilUs: this.#nowUs + durationUs, lastUs: 0, rememberedUs: 0 })
  }

  /** Units that are left in the store, and units on lease, as the store counts them. */
  unitsOf(demand: Pick<Demand, 'name' | 'key' | 'limit'>): { readonly left: number; readonly held: number } {
    const entry = this.#entry(demand)
    return { left: entry.state.tokens / entry.bucket.partsPerUnit, held: this.#held(entry) }
  }

  /** Copies all data. Called later, the returned function brings the store back to it: what was written since then is lost. */
  snapshot(): () => void {
    const entries = [...this.#entries].map(([id, { bucket, state }]) => [id, bucket, { ...state }] as const)
    const blocks = [...this.#blocks]
    const guards = [...this.#guards]
    return () => {
      this.#entries = new Map(entries.map(([id, bucket, state]) => [id, { bucket, state: { ...state } }]))
      this.#blocks = new Map(blocks)
      this.#guards = new Map(guards)
    }
  }

  get #nowUs(): number {
    return microseconds(this.clock.now())
  }

  #exchange(request: LeaseRequest): Promise<LeaseAnswer | LeaseFailure> {
    this.counts.exchanges++
    if (this.isAway) return Promise.resolve({ instead: admitted })
    return this.wire(() => this.#lend(request))
  }

  #lend(request: LeaseRequest): LeaseAnswer {
    this.requests.push(request)
    const { bucket, state } = this.#entry(request)
    const nowUs = this.#nowUs
    const guard = `${request.node} ${idOf(request)}`
    const isNew = request.sequence > (this.#guards.get(guard) ?? 0)
    if (isNew) this.#guards.set(guard, request.sequence)
    const isBlocked = this.#isBlocked(request)
    const terms = { ...request, want: isNew && !isBlocked ? request.want : 0, returns: isNew ? request.returns : [] }
    const { granted, roundUs } = bucket.exchange(state, nowUs, terms)
    const { tokens } = state
    const blockedUs = (this.#blocks.get(idOf(request))?.untilUs ?? 0) - nowUs
    return {
      granted,
      roundUs,
      lastsMs: (roundUs - nowUs) / 1_000,
      isBlocked,
      decisionFor: (cost) => {
        const allowed = tokens >= cost * bucket.partsPerUnit
        const decision = describe(request.limit, tokens, nowUs, cost, allowed)
        return isBlocked ? blockedDecision(decision, blockedUs) : decision
      },
    }
  }

  #entry({ name, key, limit }: Pick<Demand, 'name' | 'key' | 'limit'>): Entry {
    const bucket = new LeasedBucket(limit as TokenBucket)
    const known = this.#entries.get(idOf({ name, key }))
    const state = known?.state ?? bucket.start(this.#nowUs)
    // The state is kept in units, as the arithmetic of other numbers reads it.
    if (known !== undefined) state.tokens *= bucket.partsPerUnit / known.bucket.partsPerUnit
    const entry = { bucket, state }
    bucket.advance(state, this.#nowUs)
    this.#entries.set(idOf({ name, key }), entry)
    return entry
  }

  #held({ state }: Entry): number {
    return state.newer.held + state.older.held
  }

  #isBlocked(demand: Pick<Demand, 'name' | 'key'>): boolean {
    return (this.#blocks.get(idOf(demand))?.untilUs ?? 0) > this.#nowUs
  }

  #fits(demand: LimitedKey, cost: number): boolean {
    const { bucket, state } = this.#entry(demand)
    return !this.#isBlocked(demand) && state.tokens >= cost * bucket.partsPerUnit
  }

  #take(demand: Demand, cost: number): void {
    const entry = this.#entry(demand)
    const { bucket, state } = entry
    const most = bucket.full - this.#held(entry) * bucket.partsPerUnit
    state.tokens = Math.min(most, state.tokens - cost * bucket.partsPerUnit)
  }

  #peek(limited: LimitedKey, cost: number): Decision {
    const fits = this.#fits(limited, cost)
    return this.#describe(limited, fits ? 0 : cost, fits)
  }

  #describe(demand: LimitedKey, cost: number, allowed: boolean): Decision {
    const decision = describe(demand.limit, this.#entry(demand).state.tokens, this.#nowUs, cost, allowed)
    const blockedUs = (this.#blocks.get(idOf(demand))?.untilUs ?? 0) - this.#nowUs
    return blockedUs > 0 ? blockedDecision(decision, blockedUs) : decision
  }
}

function describe(limit: Limit, tokens: number, nowUs: number, cost: number, allowed: boolean): Decision {
  return arithmeticOf(limit).remote.decision({ nowUs, tokens, aheadUs: 0, numbers: [], at: 0 }, cost, allowed)
}

function idOf({ name, key }: { readonly name: string; readonly key: string }): string {
  return JSON.stringify([name, key])
}

/** What a store with `onFailure: 'open'` says while it is away. */
export function admitted(demands: readonly Demand[]): Answer {
  const open = { allowed: true, remaining: 0, retryAfterMs: 0, nextUnitAfterMs: 0, resetAfterMs: 0, delayMs: 0 }
  const decisions = demands.map(({ limit }) => ({
    ...open,
    quota: arithmeticOf(limit).quota,
    degraded: 'open' as const,
  }))
  return { allowed: true, decisions, takenUs: demands.map(() => 0) }
}
