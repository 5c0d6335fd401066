import { arithmeticOf, type Decision, type Limit, type Taken } from '../../limits/index.js'
import type { Fallback } from '../fallback.js'
import type { Answer, Demand } from '../store.js'
import { type Batch, decisionOf, type Reply, takenUsOf } from './batch.js'
import { type FailureReason, ForeignState, unavailable } from './failures.js'

/** Calls that were made in one turn of the event loop and share a deadline. */
export interface Turn {
  calls: ScriptCall[]
  /** How many calls have no answer yet. */
  open: number
  /** The deadline, by `performance.now()`. */
  endsMs: number
}

/** The Redis keys of a call and the hash slot that they share; 0 if the server is no cluster. */
export interface Place {
  readonly hashSlot: number
  readonly keys: readonly string[]
}

/** One request to the script, and the caller that waits for its answer. */
export abstract class ScriptCall {
  readonly hashSlot: number
  readonly keys: readonly string[]
  turn: Turn | undefined
  /** The batch that it was sent with, once it has been sent. `open` counts its calls that have no answer yet. */
  sent: { open: number } | undefined
  isAnswered = false
  /** A refund is sent even if too many calls are pending. */
  readonly isUrgent: boolean = false

  constructor({ hashSlot, keys }: Place) {
    this.hashSlot = hashSlot
    this.keys = keys
  }

  /** Adds its steps to a batch. */
  abstract addTo(batch: Batch): void
  /** Reads its part of the reply and answers. If its keys hold something else than states, returns an error instead. */
  abstract read(reply: Reply): Error | undefined
  /** Answers without Redis. */
  abstract fail(reason: FailureReason, error: unknown): void
}

/** A request with one demand. */
export class DecideOne extends ScriptCall {
  readonly #demand: Demand
  readonly #resolve: (answer: Answer) => void
  readonly #fallback: Fallback

  constructor(place: Place, demand: Demand, resolve: (answer: Answer) => void, fallback: Fallback) {
    super(place)
    this.#demand = demand
    this.#resolve = resolve
    this.#fallback = fallback
  }

  addTo(batch: Batch): void {
    batch.decide(this.keys[0], this.#demand.limit, this.#demand.cost)
  }

  read(reply: Reply): Error | undefined {
    const { limit, cost, shadow } = this.#demand
    const arithmetic = arithmeticOf(limit)
    const report = reply.next(arithmetic)
    if (report === undefined) return new ForeignState(this.keys)
    const decision = decisionOf(arithmetic, report, cost)
    const takenUs = [takenUsOf(arithmetic, report)]
    this.#resolve({ allowed: decision.allowed || shadow === true, decisions: [decision], takenUs })
    return undefined
  }

  fail(): void {
    this.#resolve(this.#fallback.decide([this.#demand]))
  }
}

/** A demand of a group. The costs of all demands for the same state are added up. */
interface GroupDemand {
  readonly key: string
  readonly limit: Limit
  /** The sum of the costs of all demands for this state. */
  readonly cost: number
  /** The first demand for a state takes the sum; the others take nothing. */
  readonly takes: boolean
  /** A state is a shadow if all demands for it are. */
  readonly shadow: boolean
}

/** A request with several demands, all in one hash slot. */
export class DecideGroup extends ScriptCall {
  readonly #demands: readonly Demand[]
  readonly #added: readonly GroupDemand[]
  readonly #resolve: (answer: Answer) => void
  readonly #fallback: Fallback

  constructor(place: Place, demands: readonly Demand[], resolve: (answer: Answer) => void, fallback: Fallback) {
    super(place)
    this.#demands = demands
    this.#added = added(place.keys, demands)
    this.#resolve = resolve
    this.#fallback = fallback
  }

  addTo(batch: Batch): void {
    batch.group(this.#added.length)
    for (const { key, limit, cost, takes, shadow } of this.#added) batch.demand(key, limit, cost, takes, shadow)
  }

  read(reply: Reply): Error | undefined {
    const demands = this.#added.map(({ limit, cost, shadow }) => {
      const arithmetic = arithmeticOf(limit)
      return { arithmetic, cost, shadow, report: reply.next(arithmetic) }
    })
    const decisions: Decision[] = []
    const takenUs: number[] = []
    const allowed = demands.every(({ report, shadow }) => shadow || (report?.fits === true && report.blockedUs <= 0))
    for (const [i, { arithmetic, cost, report }] of demands.entries()) {
      if (report === undefined) return new ForeignState([this.keys[i]])
      // If another demand was denied, this one took nothing: it is described as for a cost of 0.
      const isMet = report.fits && report.blockedUs <= 0
      decisions.push(decisionOf(arithmetic, report, isMet && !allowed ? 0 : cost))
      takenUs.push(takenUsOf(arithmetic, report))
    }
    this.#resolve({ allowed, decisions, takenUs })
    return undefined
  }

  fail(): void {
    this.#resolve(this.#fallback.decide(this.#demands))
  }
}

/** Adds up the costs of demands for the same state. Equal states have equal Redis keys. */
function added(keys: readonly string[], demands: readonly Demand[]): readonly GroupDemand[] {
  const sums = new Map<string, number>()
  for (const [i, key] of keys.entries()) sums.set(key, (sums.get(key) ?? 0) + demands[i].cost)
  return demands.map(({ limit }, i) => {
    const key = keys[i]
    const shadow = demands.every((other, j) => keys[j] !== key || other.shadow === true)
    return { key, limit, cost: sums.get(key) ?? 0, takes: keys.indexOf(key) === i, shadow }
  })
}

/** Charges or refunds units. The answer describes the state afterwards. */
abstract class Change extends ScriptCall {
  protected readonly demand: Demand
  protected readonly resolve: (decision: Decision) => void
  protected readonly fallback: Fallback

  constructor(place: Place, demand: Demand, resolve: (decision: Decision) => void, fallback: Fallback) {
    super(place)
    this.demand = demand
    this.resolve = resolve
    this.fallback = fallback
  }

  read(reply: Reply): Error | undefined {
    const arithmetic = arithmeticOf(this.demand.limit)
    const report = reply.next(arithmetic)
    if (report === undefined) return new ForeignState(this.keys)
    this.resolve(decisionOf(arithmetic, report, 0))
    return undefined
  }
}

export class Charge extends Change {
  addTo(batch: Batch): void {
    batch.charge(this.keys[0], this.demand.limit, this.demand.cost)
  }

  fail(): void {
    this.resolve(this.fallback.charge(this.demand))
  }
}

/** What is refunded: the newest units if `taken` is absent. */
export interface Refunded {
  readonly demand: Demand
  readonly taken: Taken | undefined
  /** The request never went: even a slot of a leaky bucket whose time has come is given back. */
  readonly isUndo: boolean
}

export class Refund extends Change {
  override readonly isUrgent = true
  readonly #refunded: Refunded

  constructor(place: Place, refunded: Refunded, resolve: (decision: Decision) => void, fallback: Fallback) {
    super(place, refunded.demand, resolve, fallback)
    this.#refunded = refunded
  }

  addTo(batch: Batch): void {
    const { taken, isUndo } = this.#refunded
    batch.refund(this.keys[0], this.demand.limit, this.demand.cost, taken, isUndo)
  }

  fail(): void {
    this.resolve(this.fallback.refund(this.demand, this.#refunded.taken))
  }
}

/** Forgets states of a key, or blocks them for `blockUs`. Rejects if Redis does not answer. */
export class ResetOrBlock extends ScriptCall {
  readonly #blockUs: number | undefined
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void

  constructor(place: Place, blockUs: number | undefined, resolve: () => void, reject: (error: unknown) => void) {
    super(place)
    this.#blockUs = blockUs
    this.#resolve = resolve
    this.#reject = reject
  }

  addTo(batch: Batch): void {
    if (this.#blockUs === undefined) batch.reset(this.keys)
    else batch.block(this.keys, this.#blockUs)
  }

  read(reply: Reply): Error | undefined {
    if (!reply.isDone()) return new ForeignState(this.keys)
    this.#resolve()
    return undefined
  }

  fail(reason: FailureReason, error: unknown): void {
    const verb = this.#blockUs === undefined ? 'reset' : 'blocked'
    this.#reject(unavailable(`the key may not have been ${verb}`, reason, error))
  }
}
