import { type Clock, systemClock } from '../../clock.js'
import type { Decision, Limit, Taken } from '../../limits/index.js'
import { LimitWarnings } from '../limit-warnings.js'
import type {
  Answer,
  AsyncStore,
  Demand,
  LimitedKey,
  NamedLimit,
  OnFailure,
  Overrides,
  PromptStore,
  Reservations,
} from '../store.js'
import { withFallback } from '../with-fallback.js'
import { canSync, nodeOvershoot } from './overshoot-of.js'
import { type LocalDemand, NOTHING_ASKED, type SplitRequest, splitRequest } from './split-request.js'
import type { SyncedKey } from './synced-key.js'
import { SyncedKeys } from './synced-keys.js'
import { checkAsyncStore, checkSyncedStoreOptions, type SyncedStoreOptions } from './synced-store-options.js'
import type { SyncedStoreStats } from './synced-store-stats.js'
import { Syncs } from './syncs.js'
import { Views } from './views.js'

/**
 * A store that counts in this process, and tells another store once in an interval. No decision waits for the other store,
 * and it may be away. In return a fleet may exceed its limit, by at most `overshootOf(limit, fleet)`. Limits that cannot be
 * synced ask the other store. See docs/synced.md; `leasedStore` exceeds nothing.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { createLimiter, tokenBucket } from 'sluice'
 * import { ioredisOptions, redisStore } from 'sluice/redis'
 * import { syncedStore } from 'sluice/synced'
 *
 * const client = new Redis('redis://localhost:6379', ioredisOptions)
 * client.on('error', console.error)
 * const redis = redisStore(client)
 * const store = syncedStore(redis, { intervalMs: 100 })
 * const views = createLimiter({ name: 'views', limit: tokenBucket({ capacity: 1000, refill: '500/s' }), store })
 * const decision = views.tryAcquireNow('user:42') ?? (await views.tryAcquire('user:42'))
 * ```
 */
export function syncedStore(store: AsyncStore, options: SyncedStoreOptions = {}): SyncedStore {
  return new SyncedStore(store, options)
}

/** A store that counts in this process and syncs with another one, made by `syncedStore`. */
export class SyncedStore implements PromptStore {
  readonly synchronous = false
  readonly blocksByRule: boolean
  readonly clock: Clock
  readonly onFailure: OnFailure | undefined
  /** The reservations of the other store. */
  readonly reservations?: Reservations
  /** The overrides of the other store. */
  readonly overrides?: (policy: string) => Overrides
  readonly #inner: AsyncStore
  readonly #views: Views
  readonly #syncs: Syncs
  readonly #keys: SyncedKeys
  readonly #warnings = new LimitWarnings('SLUICE_NOT_SYNCED')
  #direct = 0
  #isClosed = false

  /** `random` gives numbers from 0 to 1, for the jitter of intervals. */
  constructor(store: AsyncStore, options: SyncedStoreOptions, random: () => number = Math.random) {
    const { intervalMs, maxKeys, clock } = checkSyncedStoreOptions(options)
    this.#inner = withFallback(checkAsyncStore(store)) as AsyncStore
    this.clock = clock ?? store.clock ?? systemClock
    this.#views = new Views(maxKeys, this.clock)
    this.#keys = new SyncedKeys(maxKeys, this.#views)
    this.#syncs = new Syncs(this.#inner, this.#views, this.clock, intervalMs, random)
    this.onFailure = store.onFailure
    this.blocksByRule = store.blocksByRule === true
    if (store.reservations !== undefined) this.reservations = store.reservations
    const { overrides } = this.#inner
    if (overrides !== undefined) this.overrides = (policy) => overrides.call(this.#inner, policy)
  }

  stats(): SyncedStoreStats {
    const { counts, oldestViewMs, longestGapMs } = this.#syncs
    const gapMs = Math.max(longestGapMs, oldestViewMs)
    let [unreported, overshoot] = [0, 0]
    for (const key of this.#keys) {
      unreported += key.unreported
      overshoot = Math.max(overshoot, nodeOvershoot(key.limit, gapMs))
    }
    const { size: keys } = this.#keys
    return { keys, unreported, oldestViewMs, longestGapMs: gapMs, overshoot, ...counts, direct: this.#direct }
  }

  /**
   * Reports what is not reported, and ends the timer. From then on every request asks the other store, which stays open. Call
   * it before that store or its client is closed.
   */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#syncs.close()
  }

  /** Prepares the other store, and warns once of a limit that cannot be synced. */
  prepare(named: NamedLimit): void {
    this.#inner.prepare?.(named)
    const { name, limit } = named
    if (canSync(limit)) return
    this.#warnings.warn(
      name,
      `the limit '${name}' (${limit.algorithm}) cannot be synced, so each of its decisions asks the store. Syncs are for token ` +
        'buckets, and for fixed and sliding windows that are aligned to the epoch.',
    )
  }

  decideNow(demand: Demand): Decision | undefined {
    const synced = this.#keyOf(demand)
    const { name, limit, key, cost, blockFor } = demand
    if (synced === undefined) return undefined
    if (blockFor !== undefined && this.#mustBlock([{ demand, synced }])) return undefined
    const decision = this.#views.memory.decideOne(name, limit, key, cost)
    this.#took(synced, limit, decision.allowed ? cost : 0)
    return known(decision, synced)
  }

  async decide(demands: readonly Demand[]): Promise<Answer> {
    const request = splitRequest(demands, (demand) => this.#keyOf(demand))
    const { local, remote } = request
    if (local.length === 0) return this.#ask(demands)
    if (this.#mustBlock(local)) return this.#askExactly(demands, request)
    const here = this.#decideHere(local)
    return remote.length === 0 ? here : this.#decideRest(request, here)
  }

  /** Says what this process knows of keys that it counts, and asks for the others. */
  async peek(demands: readonly Demand[]): Promise<Answer> {
    const { local, remote, join } = splitRequest(demands, (demand) => this.#find(demand))
    const there = remote.length === 0 ? NOTHING_ASKED : await this.#inner.peek(remote)
    const here = described(this.#views.memory.peek(local.map(withoutBlock)), local)
    return join(here.allowed && there.allowed, here, there)
  }

  /** Counts here at once, and in the store with the next sync. */
  async charge(demand: Demand): Promise<Decision> {
    const synced = this.#keyOf(demand)
    if (synced === undefined) return this.#inner.charge(demand)
    const decision = this.#views.memory.charge(demand)
    this.#took(synced, demand.limit, demand.cost)
    return known(decision, synced)
  }

  /** Units that the store has not been told are not reported. The store is asked to refund the others. */
  async refund(demand: Demand, taken: Taken | undefined): Promise<Decision> {
    const synced = this.#find(demand)
    if (synced === undefined || taken?.degraded !== undefined) return this.#inner.refund(demand, taken)
    const { cost } = demand
    const isUnsent = taken === undefined || taken.atUs > synced.sentUs
    const kept = isUnsent ? Math.min(cost, synced.unreported - synced.sending) : 0
    synced.unreported -= kept
    const decision = this.#views.memory.refund(demand, taken)
    const sent = { ...demand, cost: cost - kept }
    if (kept < cost) await this.#syncs.alone([synced], () => this.#inner.refund(sent, taken))
    return known(decision, synced)
  }

  /** Acts on this process when the store has answered, and on other nodes with their next sync. */
  async set(limited: LimitedKey, remaining: number): Promise<Decision> {
    const synced = this.#keyOf(limited)
    if (synced === undefined) return this.#inner.set(limited, remaining)
    const decision = await this.#replace([synced], () => this.#inner.set(limited, remaining))
    synced.limit = limited.limit
    this.#views.put(synced, remaining)
    return decision
  }

  /** Acts as `set` does. */
  async reset(name: string, key: string): Promise<void> {
    const states = this.#keys.named(name, key)
    await this.#replace(states, () => this.#inner.reset(name, key))
    this.#views.memory.reset(name, key)
    for (const synced of states) {
      const { limit, unreported } = synced
      synced.blockedUntilMs = 0
      if (unreported > 0) this.#views.memory.charge({ name, limit, key, cost: unreported })
    }
  }

  /** Acts on this process at once, and on other nodes with their next sync. */
  async block(name: string, key: string, durationUs: number): Promise<void> {
    this.#blockHere(name, key, durationUs)
    await this.#syncs.alone(this.#keys.named(name, key), () => this.#inner.block(name, key, durationUs))
  }

  #find(limited: LimitedKey): SyncedKey | undefined {
    return this.#isClosed ? undefined : this.#keys.find(limited)
  }

  /** The key of a demand, which is in use from now on, so that no sweep forgets it. */
  #keyOf(limited: LimitedKey): SyncedKey | undefined {
    const synced = this.#isClosed ? undefined : this.#keys.findOrAdd(limited)
    if (synced !== undefined) this.#syncs.use(synced)
    return synced
  }

  /** Would a demand exceed, and must its key be blocked? Only the store blocks a key, so that all nodes know. */
  #mustBlock(local: readonly LocalDemand[]): boolean {
    if (local.every(({ demand }) => demand.blockFor === undefined)) return false
    const { decisions } = this.#views.memory.peek(local.map(withoutBlock))
    return local.some(
      ({ demand, synced }, i) =>
        demand.blockFor !== undefined &&
        demand.cost > 0 &&
        !decisions[i].allowed &&
        synced.blockedUntilMs <= this.#syncs.nowMs,
    )
  }

  #decideHere(local: readonly LocalDemand[]): Answer {
    const answer = this.#views.memory.decide(local.map(withoutBlock))
    for (const [i, { demand, synced }] of local.entries()) {
      this.#took(synced, demand.limit, answer.allowed && answer.decisions[i].allowed ? demand.cost : 0)
    }
    return described(answer, local)
  }

  /** Asks the store for the demands that are not counted here. If it denies, what was taken here is put back. */
  async #decideRest({ local, remote, join }: SplitRequest, here: Answer): Promise<Answer> {
    if (!here.allowed) return join(false, here, await this.#inner.peek(remote))
    try {
      const there = await this.#ask(remote)
      if (there.allowed) return join(true, here, there)
      await this.#putBack(local, here)
      const decisions = local.map(({ demand: { name, limit, key, cost } }) =>
        this.#views.memory.peekOne(name, limit, key, cost),
      )
      return join(false, described({ ...here, decisions }, local), there)
    } catch (error) {
      await this.#putBack(local, here)
      throw error
    }
  }

  async #putBack(local: readonly LocalDemand[], { decisions, takenUs }: Answer): Promise<void> {
    const refunds = local.map(({ demand }, i) => {
      const { allowed, delayMs } = decisions[i]
      if (!allowed || demand.cost === 0) return undefined
      return this.refund(demand, { atUs: takenUs[i], cost: demand.cost, delayMs })
    })
    await Promise.all(refunds)
  }

  /** Reports the keys of a request, and lets the store decide it. If the store is away, the views decide, and block none. */
  async #askExactly(demands: readonly Demand[], { local, remote }: SplitRequest): Promise<Answer> {
    await Promise.all([...new Set(local.map(({ synced }) => synced))].map((synced) => this.#syncs.report(synced)))
    const answer = await this.#ask(demands)
    const { allowed, decisions } = answer
    const isDegraded = decisions.some(({ degraded }) => degraded !== undefined)
    if (isDegraded) return remote.length === 0 ? this.#decideHere(local) : answer
    for (const { demand, synced } of local) {
      synced.version++
      if (allowed && decisions[demands.indexOf(demand)].allowed) this.#views.memory.charge(demand)
    }
    await this.#learnBlocks(local)
    return answer
  }

  /** Asks for the ends of blocks that the store may have made: a look for a cost of 0 is denied until then. */
  async #learnBlocks(local: readonly LocalDemand[]): Promise<void> {
    const rules = local.filter(({ demand }) => demand.blockFor !== undefined && demand.cost > 0)
    const { decisions } = await this.#inner.peek(rules.map((each) => ({ ...withoutBlock(each), cost: 0 })))
    for (const [i, { name, key }] of rules.map(({ synced }) => synced).entries()) {
      const { allowed, degraded, retryAfterMs } = decisions[i]
      if (!allowed && degraded === undefined) this.#blockHere(name, key, retryAfterMs * 1_000)
    }
  }

  #blockHere(name: string, key: string, durationUs: number): void {
    this.#views.block(name, key, durationUs)
    for (const synced of this.#keys.named(name, key)) {
      synced.version++
      synced.blockedUntilMs = this.#syncs.nowMs + durationUs / 1_000
    }
  }

  /** Runs a change that replaces the states of keys in the store: their units until now need no report after it. */
  async #replace<T>(states: readonly SyncedKey[], change: () => Promise<T>): Promise<T> {
    let before: readonly number[] = []
    const result = await this.#syncs.alone(states, () => {
      before = states.map(({ unreported }) => unreported)
      return change()
    })
    for (const [i, synced] of states.entries()) synced.unreported = Math.max(0, synced.unreported - before[i])
    return result
  }

  #ask(demands: readonly Demand[]): Promise<Answer> {
    this.#direct++
    return this.#inner.decide(demands)
  }

  #took(synced: SyncedKey, limit: Limit, units: number): void {
    synced.limit = limit
    synced.unreported += units
  }
}

/** A view never blocks by rule: other nodes would not know. */
function withoutBlock({ demand }: LocalDemand): Demand {
  return demand.blockFor === undefined ? demand : { ...demand, blockFor: undefined }
}

function described(answer: Answer, local: readonly LocalDemand[]): Answer {
  return { ...answer, decisions: answer.decisions.map((decision, i) => known(decision, local[i].synced)) }
}

/** A decision of a view says when the store was last asked. */
function known(decision: Decision, { asOfMs }: SyncedKey): Decision {
  // Written out, because a spread takes longer than the decision itself.
  const { allowed, quota, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs, delayMs } = decision
  return { allowed, quota, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs, delayMs, asOfMs }
}
