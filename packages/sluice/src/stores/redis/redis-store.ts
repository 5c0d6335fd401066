import { checkKey, checkUnits } from '../../checks/check-value.js'
import type { Clock } from '../../clock.js'
import { LONGEST_DURATION_US } from '../../limits/duration.js'
import type { Decision, Taken } from '../../limits/index.js'
import { Fallback } from '../fallback.js'
import type { OnFailure } from '../on-failure.js'
import type { Answer, AsyncStore, Demand, NamedLimit } from '../store.js'
import { decideAcrossSlots, type Part } from './across-slots.js'
import { Charge, DecideGroup, DecideOne, Refund, ResetOrBlock } from './calls.js'
import { checkDemand } from './check-demand.js'
import type { ScriptRunner } from './clients/runner.js'
import { type RedisClient, runnerOf } from './clients/runner-of.js'
import { type FailureReason, publishBreaker, publishReconnect } from './diagnostics.js'
import { Failures } from './failures.js'
import { KeyLayout } from './key-layout.js'
import { Link } from './link.js'
import { checkRedisStoreOptions, type RedisStoreOptions } from './options.js'
import { OverrideSource } from './override-source.js'
import { RedisOverrides } from './redis-overrides.js'
import { slotOf } from './slot.js'
import { redisTime, type TimeSource } from './time-source.js'
import { warnOfCluster, warnOfOptions, warnOfSilence } from './warnings.js'

/** What a Redis store has done. Counters only grow. */
export interface RedisStoreStats {
  /** Calls of the store. */
  readonly calls: number
  /** Those that were answered without Redis, by why. */
  readonly degraded: Readonly<Record<FailureReason, number>>
  /** Replies that came after the deadline: the units were taken, though nobody was told. */
  readonly late: number
  /** Calls of the script: of all that was asked in one turn of the event loop or, in a cluster, asked of one key. */
  readonly batches: number
  /** How often the script's text had to be sent, because Redis did not know it. */
  readonly scriptsSent: number
  /** Calls that wait for an answer now. */
  readonly pending: number
  readonly batchesInFlight: number
  /** How many connections were dropped because nothing came back on them. The client then connected again. */
  readonly reconnects: number
  /** `'open'`: Redis did not answer, and is only probed until it does. In a cluster, if that is so for any part of it. */
  readonly breaker: 'open' | 'closed'
}

/**
 * Keeps all state in Redis, for a whole fleet: one script decides by Redis's clock. Takes a client of ioredis, iovalkey,
 * node-redis or valkey-glide, for one server or a cluster, connected or not.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { createLimiter, tokenBucket } from 'sluice'
 * import { ioredisOptions, redisStore } from 'sluice/redis'
 *
 * const store = redisStore(new Redis('redis://localhost:6379', { ...ioredisOptions, lazyConnect: true }))
 * const search = createLimiter({ name: 'search', limit: tokenBucket({ capacity: 100, refill: '10/s' }), store })
 * ```
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): RedisStore {
  const runner = runnerOf(client)
  warnOfOptions(client, runner)
  return new RedisStore(runner, options, redisTime)
}

export class RedisStore implements AsyncStore {
  readonly synchronous = false
  readonly onFailure: OnFailure | undefined
  readonly #cluster: boolean
  readonly #layout: KeyLayout
  readonly #fallback: Fallback
  readonly #failures: Failures
  readonly #link: Link
  readonly #deadlineMs: number
  readonly #clock: Clock
  readonly #overrides = new Map<string, RedisOverrides>()
  #calls = 0

  constructor(runner: ScriptRunner, options: RedisStoreOptions, time: TimeSource) {
    const { prefix, onFailure, instances, maxLocalKeys, ...limits } = checkRedisStoreOptions(options)
    this.onFailure = options.onFailure
    this.#cluster = runner.cluster
    this.#clock = time.clock
    this.#deadlineMs = limits.deadlineMs
    this.#layout = new KeyLayout(prefix)
    this.#fallback = new Fallback({ onFailure, instances, maxLocalKeys })
    this.#failures = new Failures(this, this.#fallback)
    this.#link = new Link(runner, {
      ...limits,
      ...time,
      onBreaker: (state, error) => publishBreaker({ store: this, state, error }),
      onSilence: () => warnOfSilence(this, onFailure),
      onReconnect: () => publishReconnect({ store: this }),
      onRedirection: () => warnOfCluster(this),
    })
  }

  stats(): RedisStoreStats {
    return { calls: this.#calls, degraded: { ...this.#failures.counts }, ...this.#link.stats() }
  }

  /** Makes the limit's share, if `'local'` may need it. */
  prepare(named: NamedLimit): void {
    this.#fallback.prepare(named)
  }

  decide(demands: readonly Demand[]): Promise<Answer> {
    try {
      for (const demand of demands) checkDemand(demand)
    } catch (error) {
      // Not an async function, whose promise around a promise would be a detour for every decision.
      return Promise.reject(error)
    }
    if (demands.length === 1) return this.#decideOne(demands[0])
    if (demands.length === 0) return Promise.resolve({ allowed: true, decisions: [], takenUs: [] })
    const parts = this.#cluster ? this.#partsOf(demands) : []
    if (parts.length <= 1) return this.#decideGroup(demands)
    return decideAcrossSlots(
      parts,
      (each) => (each.length === 1 ? this.#decideOne(each[0]) : this.#decideGroup(each)),
      (each, answer) => this.#undo(each, answer),
      this.#deadlineMs,
    )
  }

  async charge(demand: Demand): Promise<Decision> {
    checkDemand(demand)
    this.#calls++
    return new Promise((resolve) => {
      this.#link.ask(new Charge(this.#slotOf(demand.key), this.#keyOf(demand), demand, resolve, this.#failures))
    })
  }

  async refund(demand: Demand, taken: Taken | undefined): Promise<Decision> {
    checkDemand(demand)
    // What was not taken from Redis, or perhaps not, is not given back to it.
    if (taken?.degraded === 'local') return this.#fallback.refund(demand, taken)
    return this.#refund(taken?.degraded === undefined ? demand : { ...demand, cost: 0 }, taken, false)
  }

  /** Rejects with a `StoreUnavailableError` if Redis does not answer. */
  async reset(name: string, key: string): Promise<void> {
    checkKey(name, 'name')
    checkKey(key)
    this.#fallback.reset(name, key)
    return this.#resetOrBlock(name, key, undefined)
  }

  /**
   * Rejects with a `StoreUnavailableError` if Redis does not answer. This process keeps the block besides, for when Redis
   * is away.
   */
  async block(name: string, key: string, durationUs: number): Promise<void> {
    checkKey(name, 'name')
    checkKey(key)
    checkUnits('durationUs', durationUs, LONGEST_DURATION_US)
    this.#fallback.block(name, key, durationUs)
    return this.#resetOrBlock(name, key, durationUs)
  }

  overrides(policy: string): RedisOverrides {
    let overrides = this.#overrides.get(policy)
    if (overrides === undefined) {
      const keys = this.#layout.ofOverrides(policy)
      const slot = this.#slotOf(policy)
      const source = new OverrideSource(this.#link, slot, keys, this.#deadlineMs, this.#failures, () => {
        this.#calls++
      })
      overrides = new RedisOverrides(source, this.#clock, this.#deadlineMs)
      this.#overrides.set(policy, overrides)
    }
    return overrides
  }

  #decideOne(demand: Demand): Promise<Answer> {
    this.#calls++
    return new Promise((resolve) => {
      this.#link.ask(new DecideOne(this.#slotOf(demand.key), this.#keyOf(demand), demand, resolve, this.#failures))
    })
  }

  #decideGroup(demands: readonly Demand[]): Promise<Answer> {
    this.#calls++
    const keys = demands.map((demand) => this.#keyOf(demand))
    const slot = this.#slotOf(demands[0].key)
    return new Promise((resolve) => {
      this.#link.ask(new DecideGroup(slot, keys, demands, resolve, this.#failures))
    })
  }

  #refund(demand: Demand, taken: Taken | undefined, isUndo: boolean): Promise<Decision> {
    this.#calls++
    const slot = this.#slotOf(demand.key)
    return new Promise((resolve) => {
      this.#link.ask(new Refund(slot, this.#keyOf(demand), demand, taken, isUndo, resolve, this.#failures))
    })
  }

  /** Gives back all that a part of a request took, once for each state. */
  async #undo(demands: readonly Demand[], answer: Answer): Promise<Answer> {
    const keys = demands.map((demand) => this.#keyOf(demand))
    const given = new Map<string, Decision | Promise<Decision>>()
    for (const [i, demand] of demands.entries()) {
      if (given.has(keys[i])) continue
      if (!answer.decisions[i].allowed || answer.decisions[i].degraded === 'open') {
        // A shadow that was not met has taken nothing, and an open answer neither.
        given.set(keys[i], answer.decisions[i])
        continue
      }
      const cost = demands.reduce((sum, other, j) => sum + (keys[j] === keys[i] ? other.cost : 0), 0)
      const { delayMs, degraded } = answer.decisions[i]
      const taken = { atUs: answer.takenUs[i], cost, delayMs, degraded }
      const all = { ...demand, cost }
      given.set(keys[i], degraded === undefined ? this.#refund(all, taken, true) : this.refund(all, taken))
    }
    const decisions = await Promise.all(keys.map((key) => given.get(key) as Decision | Promise<Decision>))
    return { ...answer, decisions }
  }

  #resetOrBlock(name: string, key: string, blockUs: number | undefined): Promise<void> {
    this.#calls++
    const keys = this.#layout.ofAll(name, this.#layout.tagOf(key))
    return new Promise((resolve, reject) => {
      this.#link.ask(new ResetOrBlock(this.#slotOf(key), keys, blockUs, resolve, reject, this.#failures))
    })
  }

  #partsOf(demands: readonly Demand[]): readonly Part[] {
    const parts = new Map<number, { places: number[]; demands: Demand[] }>()
    for (const [place, demand] of demands.entries()) {
      const slot = this.#slotOf(demand.key)
      const part = parts.get(slot) ?? { places: [], demands: [] }
      parts.set(slot, part)
      part.places.push(place)
      part.demands.push(demand)
    }
    return [...parts.values()]
  }

  #keyOf({ name, limit, key }: Demand): string {
    return this.#layout.of(limit.algorithm, name, this.#layout.tagOf(key))
  }

  #slotOf(key: string): number {
    return this.#cluster ? slotOf(this.#layout.tagOf(key)) : 0
  }
}
