/** The things that a store can ask of the script. */
import { type Arithmetic, arithmeticOf, type Decision, type Limit, type Taken } from '../../limits/index.js'
import type { Answer } from '../store.js'
import type { Batch } from './batch.js'
import { Call } from './call.js'
import type { FailureReason } from './diagnostics.js'
import { ForeignState, type Reply } from './reply.js'

/** Who waits for an answer: `degrade` makes one without Redis, or throws. */
export interface Waiter<T> {
  readonly resolve: (answer: T) => void
  readonly reject: (error: unknown) => void
  readonly degrade: (reason: FailureReason, error: unknown) => T
}

/** A demand that knows its Redis key. */
export interface KeyedDemand {
  readonly key: string
  readonly limit: Limit
  readonly cost: number
}

abstract class Waited<T> extends Call {
  protected readonly waiter: Waiter<T>

  constructor(slot: number, key: string, size: number, waiter: Waiter<T>) {
    super(slot, key, size)
    this.waiter = waiter
  }

  fail(reason: FailureReason, error: unknown): void {
    try {
      this.waiter.resolve(this.waiter.degrade(reason, error))
    } catch (thrown) {
      this.waiter.reject(thrown)
    }
  }
}

/** A request of one demand. */
export class DecideOne extends Waited<Answer> {
  readonly #limit: Limit
  readonly #arithmetic: Arithmetic
  readonly #cost: number

  constructor(slot: number, { key, limit, cost }: KeyedDemand, waiter: Waiter<Answer>) {
    super(slot, key, 1, waiter)
    this.#limit = limit
    this.#arithmetic = arithmeticOf(limit)
    this.#cost = cost
  }

  addTo(batch: Batch): void {
    batch.decide(this.key, this.#limit, this.#cost)
  }

  read(reply: Reply): Error | undefined {
    const reported = reply.next(this.#arithmetic)
    if (reported === undefined) return new ForeignState(this.key)
    const decision = reply.decision(reported, this.#cost)
    this.waiter.resolve({ allowed: decision.allowed, decisions: [decision], takenUs: [reply.takenUs(reported)] })
    return undefined
  }
}

/** A demand of a group, with what all demands for the same state ask for together. */
interface GroupDemand extends KeyedDemand {
  readonly takes: boolean
}

/** The demands of one request, all in one slot. */
export class DecideGroup extends Waited<Answer> {
  readonly #demands: readonly GroupDemand[]

  constructor(slot: number, demands: readonly KeyedDemand[], waiter: Waiter<Answer>) {
    super(slot, demands[0].key, demands.length, waiter)
    this.#demands = added(demands)
  }

  addTo(batch: Batch): void {
    batch.group(this.#demands.length)
    for (const { key, limit, cost, takes } of this.#demands) batch.demand(key, limit, cost, takes)
  }

  read(reply: Reply): Error | undefined {
    const reported = this.#demands.map(({ limit }) => reply.next(arithmeticOf(limit)))
    const known = reported.filter((each) => each !== undefined)
    if (known.length < reported.length) return new ForeignState(this.#demands[reported.indexOf(undefined)].key)
    const fits = known.map(({ fits, blockedUs }) => fits && blockedUs <= 0)
    const allowed = !fits.includes(false)
    this.waiter.resolve({
      allowed,
      // Where another demand was refused, this one took nothing.
      decisions: known.map((each, i) => reply.decision(each, fits[i] && !allowed ? 0 : this.#demands[i].cost)),
      takenUs: known.map((each) => reply.takenUs(each)),
    })
    return undefined
  }
}

/** Adds up what is asked of the same state: a Redis key is one algorithm's state of one name and key. */
function added(demands: readonly KeyedDemand[]): readonly GroupDemand[] {
  const sums = new Map<string, number>()
  for (const { key, cost } of demands) sums.set(key, (sums.get(key) ?? 0) + cost)
  const seen = new Set<string>()
  return demands.map(({ key, limit }) => {
    const takes = !seen.has(key)
    seen.add(key)
    return { key, limit, cost: sums.get(key) ?? 0, takes }
  })
}

/** Takes or gives back units, and wants to know how things stand then. */
abstract class Change extends Waited<Decision> {
  protected readonly demand: KeyedDemand

  constructor(slot: number, demand: KeyedDemand, waiter: Waiter<Decision>) {
    super(slot, demand.key, 1, waiter)
    this.demand = demand
  }

  read(reply: Reply): Error | undefined {
    const reported = reply.next(arithmeticOf(this.demand.limit))
    if (reported === undefined) return new ForeignState(this.key)
    this.waiter.resolve(reply.decision(reported, 0))
    return undefined
  }
}

export class Charge extends Change {
  addTo(batch: Batch): void {
    batch.charge(this.key, this.demand.limit, this.demand.cost)
  }
}

export class GiveBack extends Change {
  readonly #taken: Taken | undefined

  constructor(slot: number, demand: KeyedDemand, taken: Taken | undefined, waiter: Waiter<Decision>) {
    super(slot, demand, waiter)
    this.#taken = taken
  }

  addTo(batch: Batch): void {
    batch.giveBack(this.key, this.demand.limit, this.demand.cost, this.#taken)
  }
}

/** Forgets a key, or blocks it for a while: a matter of the states of all algorithms. */
export class ResetOrBlock extends Waited<void> {
  readonly #keys: readonly string[]
  readonly #blockUs: number | undefined

  constructor(slot: number, keys: readonly string[], blockUs: number | undefined, waiter: Waiter<void>) {
    super(slot, keys[0], keys.length, waiter)
    this.#keys = keys
    this.#blockUs = blockUs
  }

  addTo(batch: Batch): void {
    if (this.#blockUs === undefined) batch.reset(this.#keys)
    else batch.block(this.#keys, this.#blockUs)
  }

  read(reply: Reply): Error | undefined {
    reply.skip()
    this.waiter.resolve()
    return undefined
  }
}
