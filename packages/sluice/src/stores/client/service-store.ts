import { checkCost, checkKey, checkUnits } from '../../checks/check-value.js'
import { InvalidValueError } from '../../errors.js'
import { LONGEST_DURATION_US } from '../../limits/duration.js'
import {
  arithmeticOf,
  checkBlockRule,
  checkRemaining,
  type Decision,
  type Limit,
  type Taken,
} from '../../limits/index.js'
import { checkOnFailure, Fallback } from '../fallback.js'
import type { Answer, AsyncStore, Demand, LimitedKey, NamedLimit, OnFailure } from '../store.js'
import { chargeCall, decideCall, peekCall, refundCall, resetOrBlockCall, setCall } from './service-call.js'
import { ServiceConnection } from './service-connection.js'
import { type ServiceFailureReason, ServiceFailures } from './service-failures.js'
import { ServiceLink } from './service-link.js'
import { checkServiceStoreOptions, checkServiceUrl, type ServiceStoreOptions } from './service-store-options.js'

/** What a service store has done. Counters only grow. */
export interface ServiceStoreStats {
  /** Calls of the store. */
  readonly calls: number
  /** Calls without an answer yet. */
  readonly pending: number
  /** HTTP requests with calls, and those that are under way. */
  readonly requests: number
  readonly requestsInFlight: number
  /** Calls that were answered without the service, by reason. */
  readonly degraded: Readonly<Record<ServiceFailureReason, number>>
  /** `'open'`: the service did not answer, and is only probed until it does. */
  readonly breaker: 'open' | 'closed'
}

/**
 * A store that keeps all state in a Sluice service, which decides by its own clock. Calls of one turn of the event loop are
 * one HTTP request. The names of limits are kept apart from those of the service's own policy.
 *
 * @example
 * ```ts
 * import { createLimiter, tokenBucket } from 'sluice'
 * import { serviceStore } from 'sluice/client'
 *
 * const store = serviceStore('http://127.0.0.1:8080', { onFailure: 'local' })
 * const search = createLimiter({ name: 'search', limit: tokenBucket({ capacity: 100, refill: '10/s' }), store })
 * ```
 */
export function serviceStore(url: string | URL, options: ServiceStoreOptions = {}): ServiceStore {
  return new ServiceStore(checkServiceUrl(url), options)
}

/** The most characters of names and keys in one call: the service refuses bodies that are too large. */
const MOST_CHARACTERS = 500_000

/** A store that a Sluice service keeps, made by `serviceStore`. */
export class ServiceStore implements AsyncStore {
  readonly synchronous = false
  readonly blocksByRule = true
  readonly onFailure: OnFailure | undefined
  readonly #fallback: Fallback
  readonly #failures: ServiceFailures
  readonly #link: ServiceLink
  readonly #names = new Map<string, KnownLimits>()

  constructor(url: URL, options: ServiceStoreOptions) {
    const { onFailure, instances, maxLocalKeys, headers, ...bounds } = checkServiceStoreOptions(options)
    const rule = onFailure ?? 'open'
    this.onFailure = onFailure
    this.#fallback = new Fallback({ onFailure: rule, instances, maxLocalKeys })
    this.#failures = new ServiceFailures(this, url.origin, rule)
    const connection = new ServiceConnection(url, headers)
    this.#link = new ServiceLink(connection, { ...bounds, onFailure, failures: this.#failures })
  }

  stats(): ServiceStoreStats {
    return { degraded: { ...this.#failures.counts }, ...this.#link.stats() }
  }

  /** Lets `reset` and `block` name the state, and makes the limit's share if `'local'` may need it. */
  prepare(named: NamedLimit): void {
    this.#know(named)
    this.#fallback.prepare(named)
  }

  decide(demands: readonly Demand[]): Promise<Answer> {
    try {
      this.#check(demands)
    } catch (error) {
      // Not an async function: its promise around a promise would be a detour for every decision.
      return Promise.reject(error)
    }
    if (demands.length === 0) return Promise.resolve({ allowed: true, decisions: [], takenUs: [] })
    return this.#link.ask(decideCall(demands, this.#fallback))
  }

  async peek(demands: readonly Demand[]): Promise<Answer> {
    this.#check(demands)
    if (demands.length === 0) return { allowed: true, decisions: [], takenUs: [] }
    return this.#link.ask(peekCall(demands, this.#fallback))
  }

  async charge(demand: Demand): Promise<Decision> {
    this.#check([demand])
    return this.#link.ask(chargeCall(demand, this.#fallback))
  }

  /**
   * Units of an answer that was made without the service are not given back to it. A `'local'` answer may be the service's
   * own, made while its Redis was away: if this process has made none itself, the service refunds it.
   */
  async refund(demand: Demand, taken: Taken | undefined): Promise<Decision> {
    this.#check([demand])
    const isLocal = taken?.degraded === 'local'
    if (isLocal && this.#hasFailed()) return this.#fallback.refund(demand, taken)
    const isTaken = taken?.degraded === undefined || isLocal
    const refunded = isTaken ? demand : { ...demand, cost: 0 }
    return this.#link.ask(refundCall(refunded, taken, this.#fallback))
  }

  /** Rejects with a `StoreUnavailableError` if the service does not answer. */
  async set(limited: LimitedKey, remaining: number): Promise<Decision> {
    checkNamed(limited.name, limited.key)
    checkRemaining(limited.limit, remaining)
    this.#know(limited)
    return this.#link.ask(setCall(limited, remaining))
  }

  /**
   * Forgets every state of the key if the service keeps them in memory. On Redis: both buckets, and each window that this
   * process or the service's has used under the name. Rejects with a `StoreUnavailableError` if the service does not answer.
   */
  async reset(name: string, key: string): Promise<void> {
    checkNamed(name, key)
    this.#fallback.reset(name, key)
    return this.#link.ask(resetOrBlockCall({ name, key }, this.#limitsOf(name), undefined))
  }

  /**
   * Blocks the same states that `reset` forgets. This process also remembers the block, and denies the key while the service
   * is away. Rejects with a `StoreUnavailableError` if the service does not answer.
   */
  async block(name: string, key: string, durationUs: number): Promise<void> {
    checkNamed(name, key)
    checkUnits('durationUs', durationUs, LONGEST_DURATION_US)
    this.#fallback.block(name, key, durationUs)
    return this.#link.ask(resetOrBlockCall({ name, key }, this.#limitsOf(name), durationUs))
  }

  /** A call shares a request with other callers' calls: a wrong one must not get that far. */
  #check(demands: readonly Demand[]): void {
    let characters = 0
    for (const demand of demands) {
      const { name, key, cost, onFailure, blockFor } = demand
      checkKey(name, 'name')
      checkKey(key)
      checkCost(cost)
      if (onFailure !== undefined) checkOnFailure(onFailure)
      if (blockFor !== undefined) checkBlockRule(blockFor)
      this.#know(demand)
      characters += name.length + key.length
    }
    checkCharacters(characters)
  }

  /** The limits that this process uses under a name, one for each state id. */
  #limitsOf(name: string): Iterable<Limit> {
    return this.#names.get(name)?.byState.values() ?? []
  }

  /** Remembers the limit under its name. Throws for a value that is no limit. */
  #know({ name, limit }: NamedLimit): void {
    let known = this.#names.get(name)
    if (known === undefined) {
      known = { seen: new WeakSet(), byState: new Map() }
      this.#names.set(name, known)
    }
    if (known.seen.has(limit)) return
    const arithmetic = arithmeticOf(limit)
    known.byState.set(arithmetic.stateId, arithmetic.limit)
    known.seen.add(limit)
  }

  #hasFailed(): boolean {
    return Object.values(this.#failures.counts).some((times) => times > 0)
  }
}

/** The limits that this process uses under one name. */
interface KnownLimits {
  readonly seen: WeakSet<Limit>
  /** One for each state id, because limits of equal state id share their states. */
  readonly byState: Map<string, Limit>
}

function checkNamed(name: string, key: string): void {
  checkKey(name, 'name')
  checkKey(key)
  checkCharacters(name.length + key.length)
}

function checkCharacters(characters: number): void {
  if (characters <= MOST_CHARACTERS) return
  const most = MOST_CHARACTERS.toLocaleString('en')
  throw new InvalidValueError(`the names and keys of a call to a service must have at most ${most} characters`, {
    option: 'key',
  })
}
