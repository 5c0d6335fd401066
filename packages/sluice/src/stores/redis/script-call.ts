import { arithmeticOf, type Decision, type Taken } from '../../limits/index.js'
import type { Fallback } from '../fallback.js'
import type { Answer, Awaitable, Demand } from '../store.js'
import { type Batch, decisionOf, type GroupDemand, type Reply } from './batch.js'
import { type FailureReason, ForeignState, unavailable } from './failures.js'

/** One request to the script, for `Link.ask`. */
export interface ScriptCall<T> {
  /** Its Redis keys. In a cluster they share a hash slot. */
  readonly keys: readonly string[]
  /** Adds its steps to a batch. */
  readonly addTo: (batch: Batch) => void
  /** Reads its part of the reply, all of it even if a key holds no state. */
  readonly read: (reply: Reply) => T | ForeignState
  /** Answers without Redis. */
  readonly fail: (reason: FailureReason, error: unknown) => Awaitable<T>
  /** A refund is sent even if too many calls are pending. */
  readonly isUrgent?: boolean
}

/** A request with one demand. */
export function decideOne(key: string, demand: Demand, fallback: Fallback): ScriptCall<Answer> {
  return {
    keys: [key],
    addTo: (batch) => batch.decide(key, demand.limit, demand.cost),
    read: (reply) => {
      const arithmetic = arithmeticOf(demand.limit)
      const report = reply.next(arithmetic)
      if (report === undefined) return new ForeignState([key])
      const decision = decisionOf(arithmetic, report, demand.cost)
      const takenUs = [arithmetic.remote.takenUs(report)]
      return { allowed: decision.allowed || demand.shadow === true, decisions: [decision], takenUs }
    },
    fail: () => fallback.decide([demand]),
  }
}

/** A request with several demands, all in one hash slot. */
export function decideGroup(
  keys: readonly string[],
  demands: readonly Demand[],
  fallback: Fallback,
): ScriptCall<Answer> {
  const added = addedUp(keys, demands)
  return {
    keys,
    addTo: (batch) => batch.decideGroup(added),
    read: (reply) => {
      const answer = readGroup(added, reply, keys)
      if (!(answer instanceof ForeignState)) fallback.keepBlocks(demands, answer)
      return answer
    },
    fail: () => fallback.decide(demands),
  }
}

/** Reads the answer to a group. The costs of demands for the same state are added up, if `added` is from `addedUp`. */
export function readGroup(
  added: readonly Pick<Demand, 'limit' | 'cost' | 'shadow'>[],
  reply: Reply,
  keys: readonly string[] = [],
): Answer | ForeignState {
  const reports = added.map(({ limit }) => reply.next(arithmeticOf(limit)))
  const foreign = reports.indexOf(undefined)
  if (foreign >= 0) return new ForeignState([keys[foreign]])
  const known = reports.filter((report) => report !== undefined)
  const isMet = known.map(({ fits, blockedUs }) => fits && blockedUs <= 0)
  const allowed = added.every(({ shadow }, i) => shadow === true || isMet[i])
  const decisions = known.map((report, i) =>
    // If another demand was denied, this one took nothing: it is described as for a cost of 0.
    decisionOf(arithmeticOf(added[i].limit), report, isMet[i] && !allowed ? 0 : added[i].cost),
  )
  const takenUs = known.map((report, i) => arithmeticOf(added[i].limit).remote.takenUs(report))
  return { allowed, decisions, takenUs }
}

/** Adds up the costs of demands for the same state. Equal states have equal Redis keys. */
export function addedUp(keys: readonly string[], demands: readonly Demand[]): readonly GroupDemand[] {
  return demands.map(({ limit, blockFor }, i) => {
    const key = keys[i]
    const same = demands.filter((_, j) => keys[j] === key)
    const cost = same.reduce((sum, demand) => sum + demand.cost, 0)
    const shadow = same.every((demand) => demand.shadow === true)
    return { key, limit, cost, takes: keys.indexOf(key) === i, shadow, blockFor }
  })
}

/** Charges the cost of a demand. */
export function charge(key: string, demand: Demand, fallback: Fallback): ScriptCall<Decision> {
  return {
    keys: [key],
    addTo: (batch) => batch.charge(key, demand.limit, demand.cost),
    read: (reply) => readChanged(key, demand, reply),
    fail: () => fallback.charge(demand),
  }
}

/**
 * Gives back the cost of a demand: the units of `taken`, or the newest. `isUndo` says that the request never went: then
 * even a slot of a leaky bucket whose time has come is given back.
 */
export function refund(
  key: string,
  demand: Demand,
  taken: Taken | undefined,
  isUndo: boolean,
  fallback: Fallback,
): ScriptCall<Decision> {
  return {
    keys: [key],
    addTo: (batch) => batch.refund(key, demand.limit, demand.cost, taken, isUndo),
    read: (reply) => readChanged(key, demand, reply),
    fail: () => fallback.refund(demand, taken),
    isUrgent: true,
  }
}

/** Answers a charge or refund: describes the state that the next request meets. */
function readChanged(key: string, { limit }: Demand, reply: Reply): Decision | ForeignState {
  const arithmetic = arithmeticOf(limit)
  const report = reply.next(arithmetic)
  return report === undefined ? new ForeignState([key]) : decisionOf(arithmetic, report, 0)
}

/** Forgets states of a key, or blocks them for `blockUs`. Rejects if Redis does not answer. */
export function resetOrBlock(keys: readonly string[], blockUs: number | undefined): ScriptCall<void> {
  const verb = blockUs === undefined ? 'reset' : 'blocked'
  return {
    keys,
    addTo: (batch) => batch.resetOrBlock(keys, blockUs),
    read: (reply) => (reply.isDone() ? undefined : new ForeignState(keys)),
    fail: (reason, error) => Promise.reject(unavailable(`the key may not have been ${verb}`, reason, error)),
  }
}
