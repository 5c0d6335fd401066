import { checkCost, checkKey, checkUnits } from '../../checks/check-value.js'
import type { Clock } from '../../clock.js'
import { LONGEST_DURATION_US } from '../../limits/duration.js'
import { arithmeticOf, checkBlockRule, checkRemaining, type Decision, type Taken } from '../../limits/index.js'
import { checkOnFailure, Fallback } from '../fallback.js'
import type { LendingStore } from '../leases.js'
import type { Answer, Awaitable, Demand, LimitedKey, NamedLimit, OnFailure } from '../store.js'
import { type RedisClient, runnerOf } from './clients/runner-of.js'
import type { ScriptRunner } from './clients/script-runner.js'
import { decideAcrossHashSlots, type Part, peekAcrossHashSlots } from './decide-across-hash-slots.js'
import { type FailureReason, Failures, warnOfOptions } from './failures.js'
import { hashSlotOf, KeyLayout } from './key-layout.js'
import { Link } from './link.js'
import { RedisLeases } from './redis-leases.js'
import { RedisOverrides } from './redis-overrides.js'
import { RedisReservations } from './redis-reservations.js'
import { checkRedisStoreOptions, type RedisStoreOptions } from './redis-store-options.js'
import { charge, decideGroup, decideOne, peekGroup, refund, resetOrBlock, set } from './script-call.js'
import { redisTime, type TimeSource } from './time-source.js'

/** The counters of a Redis store, which only grow, and its present state. */
export interface RedisStoreStats {
  /** Calls of the store's methods. */
  readonly calls: number
  /** Calls that were answered without Redis, by reason. */
  readonly degraded: Readonly<Record<FailureReason, number>>
  /** Replies that came after the deadline: the units were taken, but the caller was not told. */
  readonly late: number
  /** Calls of the script. Each serves many calls of one turn of the event loop or, in a cluster, of one key. */
  readonly batches: number
  /** How often the script's text had to be sent, because Redis did not know it. */
  readonly scriptsSent: number
  /** Calls that wait for an answer now. */
  readonly pending: number
  readonly batchesInFlight: number
  /** How many connections were dropped because nothing came back on them. The client then connected again. */
  readonly reconnects: number
  /** `'open'`: Redis did not answer, and is only probed until it does. In a cluster: at least one part of it. */
  readonly breaker: 'open' | 'closed'
}

/**
 * A store that keeps all state in Redis, for a whole fleet. One script decides, by the clock of Redis. Takes a client of
 * ioredis, iovalkey, node-redis or valkey-glide, for one server or a cluster, connected or not.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { createLimiter, tokenBucket } from 'sluice'
 * import { ioredisOptions, redisStore } from 'sluice/redis'
 *
 * const client = new Redis('redis://localhost:6379', ioredisOptions)
 * client.on('error', console.error)
 * const store = redisStore(client)
 * const search = createLimiter({ name: 'search', limit: tokenBucket({ capacity: 100, refill: '10/s' }), store })
 * ```
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): RedisStore {
  const runner = runnerOf(client)
  warnOfOptions(client, runner)
  return new RedisStore(runner, options, redisTime)
}

/** A store in Redis or Valkey, made by `redisStore`. */
export class RedisStore implements LendingStore {
  readonly synchronous = false
  readonly blocksByRule = true
  readonly onFailure: OnFailure | undefined
  readonly reservations: RedisReservations
  readonly leases: RedisLeases
  readonly #isCluster: boolean
  readonly #layout: KeyLayout
  readonly #fallback: Fallback
  readonly #failures: Failures
  readonly #link: Link
  readonly #deadlineMs: number
  readonly #clock: Clock
  readonly #overrides = new Map<string, RedisOverrides>()

  constructor(runner: ScriptRunner, options: RedisStoreOptions, time: TimeSource) {
    const { prefix, onFailure, instances, maxLocalKeys, ...bounds } = checkRedisStoreOptions(options)
    this.onFailure = options.onFailure
    this.#isCluster = runner.cluster
    this.#clock = time.clock
    this.#deadlineMs = bounds.deadlineMs
    this.#layout = new KeyLayout(prefix)
    this.#fallback = new Fallback({ onFailure, instances, maxLocalKeys })
    this.#failures = new Failures(this, onFailure)
    this.#link = new Link(runner, { ...bounds, ...time, failures: this.#failures })
    this.leases = new RedisLeases(this.#link, this.#layout, this.#fallback)
    this.reservations = new RedisReservations({
      store: this,
      link: this.#link,
      layout: this.#layout,
      isCluster: runner.cluster,
      keyOf: (demand) => this.#keyOf(demand),
      instead: (demands) => this.#fallback.decide(demands),
      answered: (demands, answer) => this.#fallback.keepBlocks(demands, answer),
    })
  }

  /**
   * Ends the timer of a store whose reservations have been used. Call it before the client is closed. The client is the
   * caller's, and stays as it is.
   */
  close(): void {
    this.reservations.stop()
  }

  stats(): RedisStoreStats {
    const { counts, reconnects } = this.#failures
    return { degraded: { ...counts }, reconnects, ...this.#link.stats() }
  }

  /** Lets `reset` and `block` know the state, and makes the limit's share if `'local'` may need it. */
  prepare(named: NamedLimit): void {
    this.#layout.of(named.name, named.limit, '')
    this.#fallback.prepare(named)
  }

  decide(demands: readonly Demand[]): Promise<Answer> {
    try {
      for (const demand of demands) checkDemand(demand)
    } catch (error) {
      // Not an async function: its promise around a promise would be a detour for every decision.
      return Promise.reject(error)
    }
    if (demands.length === 1) return this.#decideAlone(demands[0])
    if (demands.length === 0) return Promise.resolve({ allowed: true, decisions: [], takenUs: [] })
    const parts = this.#isCluster ? this.#partsOf(demands) : []
    if (parts.length <= 1) return this.#decideGroup(demands)
    return decideAcrossHashSlots(
      parts,
      (each) => (each.length === 1 ? this.#decideAlone(each[0]) : this.#decideGroup(each)),
      (each, answer) => this.#undo(each, answer),
      this.#deadlineMs,
    )
  }

  async peek(demands: readonly Demand[]): Promise<Answer> {
    for (const demand of demands) checkDemand(demand)
    if (demands.length === 0) return { allowed: true, decisions: [], takenUs: [] }
    const peek = (each: readonly Demand[]) => this.#link.ask(peekGroup(this.#keysOf(each), each, this.#fallback))
    return this.#isCluster ? peekAcrossHashSlots(this.#partsOf(demands), peek) : peek(demands)
  }

  async charge(demand: Demand): Promise<Decision> {
    checkDemand(demand)
    return this.#link.ask(charge(this.#keyOf(demand), demand, this.#fallback))
  }

  async refund(demand: Demand, taken: Taken | undefined): Promise<Decision> {
    checkDemand(demand)
    if (taken?.degraded === 'local') return this.#fallback.refund(demand, taken)
    // Units of another degraded answer were not taken from Redis, or may not have been: nothing is given back to it.
    const refunded = taken?.degraded === undefined ? demand : { ...demand, cost: 0 }
    return this.#refund(refunded, taken, false)
  }

  /** Rejects with a `StoreUnavailableError` if Redis does not answer. */
  async set(limited: LimitedKey, remaining: number): Promise<Decision> {
    checkNamed(limited.name, limited.key)
    checkRemaining(limited.limit, remaining)
    return this.#link.ask(set(this.#keyOf(limited), limited, remaining))
  }

  /**
   * Forgets both buckets of the key and each other state that this store has used under the name. Rejects with a
   * `StoreUnavailableError` if Redis does not answer.
   */
  async reset(name: string, key: string): Promise<void> {
    checkNamed(name, key)
    this.#fallback.reset(name, key)
    return this.#link.ask(resetOrBlock(this.#layout.seen(name, key), undefined))
  }

  /**
   * Blocks the same states that `reset` forgets. This process also remembers the block, and denies the key while Redis is
   * away. Rejects with a `StoreUnavailableError` if Redis does not answer.
   */
  async block(name: string, key: string, durationUs: number): Promise<void> {
    checkNamed(name, key)
    checkUnits('durationUs', durationUs, LONGEST_DURATION_US)
    this.#fallback.block(name, key, durationUs)
    return this.#link.ask(resetOrBlock(this.#layout.seen(name, key), durationUs))
  }

  overrides(policy: string): RedisOverrides {
    let overrides = this.#overrides.get(policy)
    if (overrides === undefined) {
      const keys = this.#layout.ofOverrides(policy)
      overrides = new RedisOverrides(this.#link, keys, this.#deadlineMs, this.#failures, this.#clock)
      this.#overrides.set(policy, overrides)
    }
    return overrides
  }

  /** Only a group can say how its keys are blocked. */
  #decideAlone(demand: Demand): Promise<Answer> {
    if (demand.blockFor !== undefined && demand.cost > 0) return this.#decideGroup([demand])
    return this.#link.ask(decideOne(this.#keyOf(demand), demand, this.#fallback))
  }

  #decideGroup(demands: readonly Demand[]): Promise<Answer> {
    return this.#link.ask(decideGroup(this.#keysOf(demands), demands, this.#fallback))
  }

  #refund(demand: Demand, taken: Taken | undefined, isUndo: boolean): Promise<Decision> {
    return this.#link.ask(refund(this.#keyOf(demand), demand, taken, isUndo, this.#fallback))
  }

  /** Gives back everything that a part of a request took, once for each state. */
  async #undo(demands: readonly Demand[], answer: Answer): Promise<Answer> {
    const keys = this.#keysOf(demands)
    const refunds: Awaitable<Decision>[] = []
    for (const [i, demand] of demands.entries()) {
      const first = keys.indexOf(keys[i])
      const { allowed, degraded, delayMs } = answer.decisions[i]
      const cost = demands.reduce((sum, other, j) => sum + (keys[j] === keys[i] ? other.cost : 0), 0)
      if (first < i) refunds.push(refunds[first])
      // A shadow that was not met has taken nothing, and neither has an open answer or a cost of 0.
      else if (!allowed || degraded === 'open' || cost === 0) refunds.push(answer.decisions[i])
      else {
        const taken = { atUs: answer.takenUs[i], cost, delayMs, degraded }
        const all = { ...demand, cost }
        refunds.push(degraded === undefined ? this.#refund(all, taken, true) : this.refund(all, taken))
      }
    }
    return { ...answer, decisions: await Promise.all(refunds) }
  }

  /** The demands of each hash slot. */
  #partsOf(demands: readonly Demand[]): readonly Part[] {
    const parts = new Map<number, { places: number[]; demands: Demand[] }>()
    for (const [place, demand] of demands.entries()) {
      const hashSlot = hashSlotOf(this.#keyOf(demand))
      const part = parts.get(hashSlot) ?? { places: [], demands: [] }
      parts.set(hashSlot, part)
      part.places.push(place)
      part.demands.push(demand)
    }
    return [...parts.values()]
  }

  #keyOf({ name, limit, key }: LimitedKey): string {
    return this.#layout.of(name, limit, key)
  }

  #keysOf(demands: readonly Demand[]): readonly string[] {
    return demands.map((demand) => this.#keyOf(demand))
  }
}

function checkNamed(name: string, key: string): void {
  checkKey(name, 'name')
  checkKey(key)
}

/** A demand shares a batch with other callers' demands: a wrong one must not get that far. */
function checkDemand({ name, limit, key, cost, onFailure, blockFor }: Demand): void {
  checkNamed(name, key)
  checkCost(cost)
  arithmeticOf(limit)
  if (onFailure !== undefined) checkOnFailure(onFailure)
  if (blockFor !== undefined) checkBlockRule(blockFor)
}
