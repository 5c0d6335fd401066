import { type Clock, systemClock } from '../../clock.js'
import { type Decision, isUnlimited, type Limit, type Taken } from '../../limits/index.js'
import type { LeaseAnswer, LeaseFailure, LeaseRequest, LendingStore } from '../leases.js'
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
import { decideTogether } from './decide-together.js'
import { HotKeys, secretRandom } from './hot-keys.js'
import { LeasedKey, type Outcome } from './leased-key.js'
import { LeasedKeys } from './leased-keys.js'
import { checkLeasedStoreOptions, checkLendingStore, type LeasedStoreOptions } from './leased-store-options.js'
import type { LeasedStoreStats } from './leased-store-stats.js'
import type { Lender } from './lender.js'
import { Rounds } from './rounds.js'

const NOTHING_ASKED: Pick<Answer, 'decisions' | 'takenUs'> = { decisions: [], takenUs: [] }
/** A new leased key expects so many requests like the first in a round. */
const FIRST_REQUESTS = 3

/**
 * A store that takes units of busy keys on lease from another store, and decides them in this process. All nodes together
 * still never admit more than the limit. Keys that are asked for rarely, and limits that cannot be leased, ask the other
 * store. See docs/leases.md.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { createLimiter, tokenBucket } from 'sluice'
 * import { leasedStore } from 'sluice/leased'
 * import { ioredisOptions, redisStore } from 'sluice/redis'
 *
 * const client = new Redis('redis://localhost:6379', ioredisOptions)
 * client.on('error', console.error)
 * const redis = redisStore(client)
 * const store = leasedStore(redis)
 * const search = createLimiter({ name: 'search', limit: tokenBucket({ capacity: 1000, refill: '500/s' }), store })
 * const decision = search.tryAcquireNow('user:42') ?? (await search.tryAcquire('user:42'))
 * ```
 */
export function leasedStore(store: LendingStore, options: LeasedStoreOptions = {}): LeasedStore {
  return new LeasedStore(store, options)
}

/** A store that decides busy keys on leased units, made by `leasedStore`. */
export class LeasedStore implements PromptStore {
  readonly synchronous = false
  readonly blocksByRule: boolean
  /** The store that lends. */
  readonly lending: LendingStore
  readonly clock: Clock | undefined
  readonly onFailure: OnFailure | undefined
  /** The reservations of the store that lends. */
  readonly reservations?: Reservations
  /** The overrides of the store that lends. */
  readonly overrides?: (policy: string) => Overrides
  readonly #inner: AsyncStore
  readonly #clock: Clock
  readonly #leaseUs: number
  readonly #maxKeys: number
  readonly #node = crypto.randomUUID()
  readonly #hot: HotKeys
  readonly #keys: LeasedKeys
  readonly #rounds: Rounds
  readonly #lender: Lender
  readonly #counts = { granted: 0, spent: 0, returned: 0, expired: 0 }
  readonly #calls = new Set<Promise<unknown>>()
  readonly #warnings = new LimitWarnings('SLUICE_NOT_LEASED')
  #exchanges = 0
  #direct = 0
  #nowMs = 0
  #isClosed = false

  /** `random` gives numbers from 0 to 1, for the jitter of rounds and the seed of the hash. */
  constructor(store: LendingStore, options: LeasedStoreOptions, random: () => number = secretRandom) {
    const { leaseMs, maxKeys, clock } = checkLeasedStoreOptions(options)
    this.lending = checkLendingStore(store)
    this.#inner = withFallback(store) as AsyncStore
    this.#clock = clock ?? store.clock ?? systemClock
    this.#leaseUs = leaseMs * 1_000
    this.#maxKeys = maxKeys
    this.clock = store.clock
    this.onFailure = store.onFailure
    this.blocksByRule = store.blocksByRule === true
    if (store.reservations !== undefined) this.reservations = store.reservations
    const { overrides } = this.#inner
    if (overrides !== undefined) this.overrides = (policy) => overrides.call(this.#inner, policy)
    this.#hot = new HotKeys(leaseMs, random)
    this.#keys = new LeasedKeys((limit) => this.#leaseUsOf(limit))
    this.#rounds = new Rounds(this.#clock, random, (key) => this.#keys.drop(key))
    this.#lender = {
      nowMs: () => this.#now(),
      exchange: (request) => this.#exchange(request),
      counts: this.#counts,
    }
  }

  stats(): LeasedStoreStats {
    let held = 0
    for (const { hand } of this.#keys) held += hand.held
    return { keys: this.#keys.size, held, ...this.#counts, exchanges: this.#exchanges, direct: this.#direct }
  }

  /**
   * Gives all leases back, and ends the timer. From then on every request asks the store that lends, which stays open. Call it
   * before that store or its client is closed.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#rounds.stop()
    for (const leased of this.#keys) {
      leased.retire()
      this.#keys.drop(leased)
    }
    // Keys whose requests came in this task have not called yet.
    await Promise.resolve()
    while (this.#calls.size > 0) await Promise.all(this.#calls)
  }

  /** Prepares the store that lends, and warns once of a limit that cannot be leased. */
  prepare(named: NamedLimit): void {
    this.#inner.prepare?.(named)
    const { name, limit } = named
    if (this.#keys.limitOf(name, limit).leaseUs > 0 || isUnlimited(limit)) return
    this.#warnings.warn(
      name,
      `the limit '${name}' (${limit.algorithm}) cannot be leased, so each of its decisions asks the store. Leases are for ` +
        'token buckets that take at least 20 ms to fill, and for windows that are aligned to the epoch.',
    )
  }

  decideNow({ name, limit, key, cost, blockFor }: Demand): Decision | undefined {
    return this.#keys.find(name, limit, key)?.decideNow(cost, blockFor !== undefined)
  }

  decide(demands: readonly Demand[]): Promise<Answer> {
    if (demands.length === 1) return this.#decideAlone(demands[0])
    return decideTogether(demands, (demand) => this.#leasedKey(demand), {
      decide: (others) => this.#ask(others),
      refund: (demand, taken) => this.#inner.refund(demand, taken),
    })
  }

  /** Says what this process knows of leased keys, and asks for the others. */
  async peek(demands: readonly Demand[]): Promise<Answer> {
    const known = demands.map((demand) => this.#peekNow(demand, demands))
    const others = demands.filter((_, i) => known[i] === undefined)
    const { decisions, takenUs } = others.length === 0 ? NOTHING_ASKED : await this.#inner.peek(others)
    const nowUs = Math.round(this.#now() * 1_000)
    let next = 0
    const answers = known.map((decision, i) => ({
      decision: decision ?? this.#peeked(decisions[next], demands[i], demands),
      takenUs: decision === undefined ? takenUs[next++] : nowUs,
    }))
    return {
      allowed: demands.every(({ shadow }, i) => shadow === true || answers[i].decision.allowed),
      decisions: answers.map(({ decision }) => decision),
      takenUs: answers.map((each) => each.takenUs),
    }
  }

  async charge(demand: Demand): Promise<Decision> {
    const decision = await this.#inner.charge(demand)
    this.#find(demand)?.changed()
    return decision
  }

  async refund(demand: Demand, taken: Taken | undefined): Promise<Decision> {
    const decision = await this.#inner.refund(demand, taken)
    this.#find(demand)?.changed()
    return decision
  }

  /** Units that other nodes hold count among those that remain. */
  async set(limited: LimitedKey, remaining: number): Promise<Decision> {
    const leased = this.#find(limited)
    leased?.reset()
    const decision = await this.#inner.set(limited, remaining)
    leased?.changed()
    return decision
  }

  /** Acts on this process at once, and on other nodes within a lease time: they may hold units of the key until then. */
  async reset(name: string, key: string): Promise<void> {
    for (const leased of this.#keys.named(name, key)) leased.reset()
    await this.#inner.reset(name, key)
    for (const leased of this.#keys.named(name, key)) leased.changed()
  }

  /** Acts on this process at once, and on other nodes within a lease time: they spend the units that they hold. */
  async block(name: string, key: string, durationUs: number): Promise<void> {
    for (const leased of this.#keys.named(name, key)) leased.block(durationUs / 1_000)
    return this.#inner.block(name, key, durationUs)
  }

  #decideAlone(demand: Demand): Promise<Answer> {
    const { cost, blockFor } = demand
    const leased = this.#leasedKey(demand)
    if (leased === undefined) return this.#ask([demand])
    const decision = leased.decideNow(cost, blockFor !== undefined)
    if (decision !== undefined) return Promise.resolve(this.#answerOf(demand, leased, decision))
    if (cost > 0 && leased.canAsk(cost)) {
      const outcome = new Promise<Outcome>((resolve) => leased.ask(cost, resolve))
      return outcome.then((found) => this.#answerAsked(demand, leased, found))
    }
    leased.expect(cost)
    return this.#askBeside(demand, leased)
  }

  /** Asks the store directly, though units of the key are in hand. */
  async #askBeside(demand: Demand, leased: LeasedKey): Promise<Answer> {
    let answer = await this.#ask([demand])
    if (leased.giveBackIfDenied(demand.cost, answer.decisions[0])) answer = await this.#ask([demand])
    return { ...answer, decisions: [leased.withHand(answer.decisions[0])] }
  }

  /** The answer to a demand that has waited for units on lease. */
  #answerAsked(demand: Demand, leased: LeasedKey, outcome: Outcome): Answer | Promise<Answer> {
    const { cost, blockFor } = demand
    if (outcome === undefined) {
      const denial = blockFor === undefined ? leased.denial(cost) : leased.denialNow(cost, true)
      return denial === undefined ? this.#askAfterGivingBack(demand, leased) : this.#answerOf(demand, leased, denial)
    }
    if (outcome === 'late') return this.#askBeside(demand, leased)
    if ('instead' in outcome) return outcome.instead([demand])
    return this.#answerOf(demand, leased, leased.spend(outcome))
  }

  /** Only the store can block a key that exceeds, and it must see all of the key's units that are here. */
  #askAfterGivingBack(demand: Demand, leased: LeasedKey): Promise<Answer> {
    leased.giveBack()
    return this.#ask([demand])
  }

  #answerOf({ cost, shadow }: Demand, { hand }: LeasedKey, decision: Decision): Answer {
    const takenUs = cost === 0 ? Math.round(this.#now() * 1_000) : hand.takenUs
    return { allowed: decision.allowed || shadow === true, decisions: [decision], takenUs: [takenUs] }
  }

  #ask(demands: readonly Demand[]): Promise<Answer> {
    this.#direct++
    return this.#inner.decide(demands)
  }

  #find({ name, limit, key }: LimitedKey): LeasedKey | undefined {
    return this.#keys.find(name, limit, key)
  }

  /** What this process knows of a demand; `undefined` if the store must be asked, also because it adds up demands for one state. */
  #peekNow(demand: Demand, demands: readonly Demand[]): Decision | undefined {
    return isAlone(demand, demands) ? this.#find(demand)?.peekNow(demand.cost) : undefined
  }

  /** The store's look at a demand, with the units in hand. */
  #peeked(decision: Decision, demand: Demand, demands: readonly Demand[]): Decision {
    return this.#find(demand)?.withHand(decision, isAlone(demand, demands) ? demand.cost : Infinity) ?? decision
  }

  /** The leased key of a demand, which may become one now. */
  #leasedKey(demand: Demand): LeasedKey | undefined {
    return this.#find(demand) ?? this.#leaseIfHot(demand)
  }

  #leaseIfHot({ name, limit, key, cost }: Demand): LeasedKey | undefined {
    const leasedLimit = this.#keys.limitOf(name, limit)
    if (cost === 0 || leasedLimit.leaseUs === 0 || this.#isClosed) return undefined
    const nowMs = this.#now()
    if (!this.#hot.count(name, key, nowMs, this.#keys.size)) return undefined
    if (this.#keys.size >= this.#maxKeys || nowMs < leasedLimit.restsUntilMs) return undefined
    // A key that retires must be gone first. A key with a lone surrogate shares the state of another key.
    if (leasedLimit.keys.has(key) || !key.isWellFormed()) return undefined
    const leased = this.#rounds.add(
      leasedLimit.leaseUs / 1_000,
      (round) => new LeasedKey(this.#lender, round, leasedLimit, key, FIRST_REQUESTS * cost),
    )
    this.#keys.add(leasedLimit, leased)
    return leased
  }

  #leaseUsOf(limit: Limit): number {
    return this.lending.leases.leaseUs(limit, this.#leaseUs)
  }

  #exchange(request: Omit<LeaseRequest, 'node' | 'sequence'>): Promise<LeaseAnswer | LeaseFailure> {
    // One count for all keys: it goes on if a key is leased again.
    const call = this.lending.leases.exchange({ ...request, node: this.#node, sequence: ++this.#exchanges })
    const answered = call.catch(failureOf)
    this.#calls.add(answered)
    void answered.then(() => this.#calls.delete(answered))
    return answered
  }

  #now(): number {
    const nowMs = this.#clock.now()
    if (nowMs > this.#nowMs) this.#nowMs = nowMs
    return this.#nowMs
  }
}

/** Does a request ask for this key once only? */
function isAlone(demand: Demand, demands: readonly Demand[]): boolean {
  return demands.every((each) => each === demand || each.name !== demand.name || each.key !== demand.key)
}

/** A request for a lease was refused because of its arguments: so are the requests that wait for it. */
function failureOf(error: unknown): LeaseFailure {
  const instead = () => {
    throw error
  }
  return { instead }
}
