import { StoreUnavailableError } from '../../errors.js'
import type { Decision, Taken } from '../../limits/index.js'
import type { Answer, AsyncStore, Demand } from '../store.js'
import { decideAcrossSlots, type Part } from './across-slots.js'
import type { Call } from './call.js'
import { Charge, DecideGroup, DecideOne, GiveBack, type KeyedDemand, ResetOrBlock, type Waiter } from './calls.js'
import type { ScriptRunner } from './clients/runner.js'
import { type RedisClient, runnerOf } from './clients/runner-of.js'
import { type FailureReason, publishBreaker, publishDegraded } from './diagnostics.js'
import { Fallback } from './fallback.js'
import { KeyLayout } from './key-layout.js'
import { Link } from './link.js'
import { checkRedisStoreOptions, type RedisStoreOptions } from './options.js'
import { slotOf } from './slot.js'
import { redisTime, type TimeSource } from './time-source.js'

/** What a Redis store has done. Counters only grow. */
export interface RedisStoreStats {
  /** Calls of the store. */
  readonly calls: number
  /** Those that were answered without Redis, by why. */
  readonly degraded: Readonly<Record<FailureReason, number>>
  /** Replies that came after the deadline: the units were taken, though nobody was told. */
  readonly late: number
  /** Calls of the script, each with all that was asked in one turn of the event loop. */
  readonly batches: number
  /** How often the script's text had to be sent, because Redis did not know it. */
  readonly scriptsSent: number
  /** Calls that wait for an answer now. */
  readonly pending: number
  readonly batchesInFlight: number
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
  warnOnce(client, runner.unsafeOptions)
  return new RedisStore(runner, options, redisTime)
}

const warned = new WeakSet<object>()

function warnOnce(client: object, unsafe: readonly string[]): void {
  if (unsafe.length === 0 || warned.has(client)) return
  warned.add(client)
  process.emitWarning(
    `In an outage this Redis client may keep decisions waiting or send them twice. Give it the options ${unsafe.join(', ')}.`,
    { type: 'SluiceWarning', code: 'SLUICE_REDIS_CLIENT_OPTIONS' },
  )
}

export class RedisStore implements AsyncStore {
  readonly synchronous = false
  readonly #cluster: boolean
  readonly #layout: KeyLayout
  readonly #fallback: Fallback
  readonly #link: Link
  readonly #degraded = { deadline: 0, error: 0, breaker: 0, overload: 0, foreign: 0 }
  #calls = 0

  constructor(runner: ScriptRunner, options: RedisStoreOptions, time: TimeSource) {
    const { prefix, onFailure, instances, ...limits } = checkRedisStoreOptions(options)
    this.#cluster = runner.cluster
    this.#layout = new KeyLayout(prefix)
    this.#fallback = new Fallback(onFailure, instances)
    this.#link = new Link(runner, {
      ...limits,
      ...time,
      onBreaker: (state, error) => publishBreaker({ store: this, state, error }),
    })
  }

  stats(): RedisStoreStats {
    return { calls: this.#calls, degraded: { ...this.#degraded }, ...this.#link.stats() }
  }

  decide(demands: readonly Demand[]): Promise<Answer> {
    if (demands.length === 0) return Promise.resolve({ allowed: true, decisions: [], takenUs: [] })
    if (demands.length === 1 || !this.#cluster) return this.#decideInSlot(demands)
    const parts = this.#partsOf(demands)
    if (parts.length === 1) return this.#decideInSlot(demands)
    return decideAcrossSlots(
      parts,
      (each) => this.#decideInSlot(each),
      (each, answer) => this.#giveBackAll(each, answer),
    )
  }

  charge(demand: Demand): Promise<Decision> {
    return this.#ask(
      () => this.#fallback.charge(demand),
      (waiter) => new Charge(this.#slotOf(demand.key), this.#keyed(demand), waiter),
    )
  }

  giveBack(demand: Demand, taken: Taken | undefined): Promise<Decision> {
    // What was not taken from Redis, or perhaps not, is not given back to it.
    if (taken?.degraded === 'local') return Promise.resolve(this.#fallback.giveBack(demand, taken))
    const units = taken?.degraded === undefined ? demand.cost : 0
    return this.#ask(
      () => this.#fallback.giveBack(demand, taken),
      (waiter) => new GiveBack(this.#slotOf(demand.key), { ...this.#keyed(demand), cost: units }, taken, waiter),
    )
  }

  /** Rejects with a `StoreUnavailableError` if Redis does not answer. */
  reset(name: string, key: string): Promise<void> {
    this.#fallback.reset(name, key)
    return this.#resetOrBlock(name, key, undefined)
  }

  /** Rejects with a `StoreUnavailableError` if Redis does not answer; this process keeps the block in any case. */
  block(name: string, key: string, durationUs: number): Promise<void> {
    this.#fallback.block(name, key, durationUs)
    return this.#resetOrBlock(name, key, durationUs)
  }

  #decideInSlot(demands: readonly Demand[]): Promise<Answer> {
    return this.#ask<Answer>(
      () => this.#fallback.decide(demands),
      (waiter) => {
        const slot = this.#slotOf(demands[0].key)
        return demands.length === 1
          ? new DecideOne(slot, this.#keyed(demands[0]), waiter)
          : new DecideGroup(
              slot,
              demands.map((demand) => this.#keyed(demand)),
              waiter,
            )
      },
    )
  }

  /** Gives back all that a part of a request took, once for each state. */
  async #giveBackAll(demands: readonly Demand[], answer: Answer): Promise<Answer> {
    const given = new Map<string, Promise<Decision>>()
    for (const [i, demand] of demands.entries()) {
      const { key } = this.#keyed(demand)
      if (given.has(key)) continue
      const cost = demands.reduce((sum, other) => sum + (this.#keyed(other).key === key ? other.cost : 0), 0)
      const { delayMs, degraded } = answer.decisions[i]
      given.set(key, this.giveBack({ ...demand, cost }, { atUs: answer.takenUs[i], cost, delayMs, degraded }))
    }
    const decisions = demands.map((demand) => given.get(this.#keyed(demand).key) as Promise<Decision>)
    return { ...answer, decisions: await Promise.all(decisions) }
  }

  #resetOrBlock(name: string, key: string, blockUs: number | undefined): Promise<void> {
    const keys = this.#layout.ofAll(name, this.#layout.tagOf(key))
    return this.#ask<void>(
      (reason, cause) => {
        const what = blockUs === undefined ? 'reset' : 'blocked'
        throw new StoreUnavailableError(`Redis did not answer (${reason}); the key may not have been ${what}`, {
          cause,
        })
      },
      (waiter) => new ResetOrBlock(this.#slotOf(key), keys, blockUs, waiter),
    )
  }

  #ask<T>(answer: (reason: FailureReason, error: unknown) => T, callFor: (waiter: Waiter<T>) => Call): Promise<T> {
    this.#calls++
    return new Promise((resolve, reject) => {
      const degrade = (reason: FailureReason, error: unknown) => {
        this.#degraded[reason]++
        publishDegraded({ store: this, reason, error })
        return answer(reason, error)
      }
      this.#link.ask(callFor({ resolve, reject, degrade }))
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

  #keyed({ name, limit, key, cost }: Demand): KeyedDemand {
    return { key: this.#layout.of(limit.algorithm, name, this.#layout.tagOf(key)), limit, cost }
  }

  #slotOf(key: string): number {
    return this.#cluster ? slotOf(this.#layout.tagOf(key)) : 0
  }
}
