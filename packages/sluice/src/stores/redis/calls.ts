/** The things that a store can ask of the script. */
import { arithmeticOf, type Decision, type Limit, type Taken } from '../../limits/index.js'
import type { Answer, Demand } from '../store.js'
import type { Batch } from './batch.js'
import { Call } from './call.js'
import type { FailureReason } from './diagnostics.js'
import type { Failures } from './failures.js'
import { decisionOf, ForeignState, type Reply, takenUsOf } from './reply.js'

/** A request of one demand. */
export class DecideOne extends Call {
  readonly #demand: Demand
  readonly #resolve: (answer: Answer) => void
  readonly #failures: Failures

  constructor(slot: number, key: string, demand: Demand, resolve: (answer: Answer) => void, failures: Failures) {
    super(slot, key, 1)
    this.#demand = demand
    this.#resolve = resolve
    this.#failures = failures
  }

  addTo(batch: Batch): void {
    batch.decide(this.key, this.#demand.limit, this.#demand.cost)
  }

  read(reply: Reply): Error | undefined {
    const reported = reply.next(arithmeticOf(this.#demand.limit))
    if (reported === undefined) return new ForeignState(this.key)
    const decision = decisionOf(reported, this.#demand.cost)
    const allowed = decision.allowed || this.#demand.shadow === true
    this.#resolve({ allowed, decisions: [decision], takenUs: [takenUsOf(reported)] })
    return undefined
  }

  fail(reason: FailureReason, error: unknown): void {
    this.#resolve(this.#failures.decide([this.#demand], reason, error))
  }
}

/** A demand of a group, with what all demands for the same state ask for together. */
interface GroupDemand {
  readonly key: string
  readonly limit: Limit
  readonly cost: number
  /** The first of those, which takes for all of them. */
  readonly takes: boolean
  /** Are all of them? */
  readonly shadow: boolean
}

/** The demands of one request, all in one slot. */
export class DecideGroup extends Call {
  readonly #demands: readonly Demand[]
  readonly #added: readonly GroupDemand[]
  readonly #resolve: (answer: Answer) => void
  readonly #failures: Failures

  constructor(
    slot: number,
    keys: readonly string[],
    demands: readonly Demand[],
    resolve: (answer: Answer) => void,
    failures: Failures,
  ) {
    super(slot, keys[0], keys.length)
    this.#demands = demands
    this.#added = added(keys, demands)
    this.#resolve = resolve
    this.#failures = failures
  }

  override get together(): string {
    return this.#added.map(({ key }) => key).join(' ')
  }

  addTo(batch: Batch): void {
    batch.group(this.#added.length)
    for (const { key, limit, cost, takes, shadow } of this.#added) batch.demand(key, limit, cost, takes, shadow)
  }

  read(reply: Reply): Error | undefined {
    const reported = this.#added.map(({ limit }) => reply.next(arithmeticOf(limit)))
    const known = reported.filter((each) => each !== undefined)
    if (known.length < reported.length) return new ForeignState(this.#added[reported.indexOf(undefined)].key)
    const fits = known.map(({ fits, blockedUs }) => fits && blockedUs <= 0)
    const allowed = this.#added.every(({ shadow }, i) => shadow || fits[i])
    this.#resolve({
      allowed,
      // Where another demand was refused, this one took nothing.
      decisions: known.map((each, i) => decisionOf(each, fits[i] && !allowed ? 0 : this.#added[i].cost)),
      takenUs: known.map((each) => takenUsOf(each)),
    })
    return undefined
  }

  fail(reason: FailureReason, error: unknown): void {
    this.#resolve(this.#failures.decide(this.#demands, reason, error))
  }
}

/** Adds up what is asked of the same state: a Redis key is one algorithm's state of one name and key. */
function added(keys: readonly string[], demands: readonly Demand[]): readonly GroupDemand[] {
  const sums = new Map<string, number>()
  for (const [i, key] of keys.entries()) sums.set(key, (sums.get(key) ?? 0) + demands[i].cost)
  return demands.map(({ limit }, i) => {
    const key = keys[i]
    const shadow = demands.every((other, j) => keys[j] !== key || other.shadow === true)
    return { key, limit, cost: sums.get(key) ?? 0, takes: keys.indexOf(key) === i, shadow }
  })
}

/** Takes or gives back units, and wants to know how things stand then. */
abstract class Change extends Call {
  protected readonly demand: Demand
  protected readonly resolve: (decision: Decision) => void
  protected readonly failures: Failures

  constructor(slot: number, key: string, demand: Demand, resolve: (decision: Decision) => void, failures: Failures) {
    super(slot, key, 1)
    this.demand = demand
    this.resolve = resolve
    this.failures = failures
  }

  read(reply: Reply): Error | undefined {
    const reported = reply.next(arithmeticOf(this.demand.limit))
    if (reported === undefined) return new ForeignState(this.key)
    this.resolve(decisionOf(reported, 0))
    return undefined
  }
}

export class Charge extends Change {
  addTo(batch: Batch): void {
    batch.charge(this.key, this.demand.limit, this.demand.cost)
  }

  fail(reason: FailureReason, error: unknown): void {
    this.resolve(this.failures.charge(this.demand, reason, error))
  }
}

export class Refund extends Change {
  override readonly isUrgent = true
  readonly #taken: Taken | undefined
  readonly #isUndo: boolean

  /** To undo is to give back what was never used: even a leaky bucket's slot whose time has come. */
  constructor(
    slot: number,
    key: string,
    demand: Demand,
    taken: Taken | undefined,
    isUndo: boolean,
    resolve: (decision: Decision) => void,
    failures: Failures,
  ) {
    super(slot, key, demand, resolve, failures)
    this.#taken = taken
    this.#isUndo = isUndo
  }

  addTo(batch: Batch): void {
    batch.refund(this.key, this.demand.limit, this.demand.cost, this.#taken, this.#isUndo)
  }

  fail(reason: FailureReason, error: unknown): void {
    this.resolve(this.failures.refund(this.demand, this.#taken, reason, error))
  }
}

/** Forgets a key, or blocks it for a while: a matter of the states of all algorithms. */
export class ResetOrBlock extends Call {
  readonly #keys: readonly string[]
  readonly #blockUs: number | undefined
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void
  readonly #failures: Failures

  constructor(
    slot: number,
    keys: readonly string[],
    blockUs: number | undefined,
    resolve: () => void,
    reject: (error: unknown) => void,
    failures: Failures,
  ) {
    super(slot, keys[0], keys.length)
    this.#keys = keys
    this.#blockUs = blockUs
    this.#resolve = resolve
    this.#reject = reject
    this.#failures = failures
  }

  override get together(): string {
    return this.#keys.join(' ')
  }

  addTo(batch: Batch): void {
    if (this.#blockUs === undefined) batch.reset(this.#keys)
    else batch.block(this.#keys, this.#blockUs)
  }

  read(reply: Reply): Error | undefined {
    if (!reply.isDone()) return new ForeignState(this.#keys.join(' or '))
    this.#resolve()
    return undefined
  }

  fail(reason: FailureReason, error: unknown): void {
    const what = `the key may not have been ${this.#blockUs === undefined ? 'reset' : 'blocked'}`
    this.#reject(this.#failures.unavailable(what, reason, error))
  }
}
