import { arithmeticOf, type Decision, quotaOf, type Taken } from '../../limits/index.js'
import type { Fallback } from '../fallback.js'
import type { Answer, Awaitable, Demand, LimitedKey } from '../store.js'
import { type Batch, decisionOf, type GroupDemand, isMet, peekedDecision, type Reply } from './batch.js'
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

/** What `decideGroup` would say now. Rules that block keys are not sent. */
export function peekGroup(keys: readonly string[], demands: readonly Demand[], fallback: Fallback): ScriptCall<Answer> {
  const added = addedUp(keys, demands).map((demand) => ({ ...demand, blockFor: undefined }))
  return {
    keys,
    addTo: (batch) => batch.peek(added),
    read: (reply) => readGroup(added, reply, keys, false),
    fail: () => fallback.peek(demands),
  }
}

/**
 * Reads the answer to a group. The costs of demands for the same state are added up, if `added` is from `addedUp`. Without
 * `takes`, the group took nothing even if it is allowed.
 */
export function readGroup(
  added: readonly Pick<Demand, 'limit' | 'cost' | 'shadow'>[],
  reply: Reply,
  keys: readonly string[] = [],
  takes = true,
): Answer | ForeignState {
  const reports = added.map(({ limit }) => reply.next(arithmeticOf(limit)))
  const foreign = reports.indexOf(undefined)
  if (foreign >= 0) return new ForeignState([keys[foreign]])
  const known = reports.filter((report) => report !== undefined)
  const allowed = added.every(({ shadow }, i) => shadow === true || isMet(known[i]))
  // If another demand was denied, this one took nothing.
  const describe = allowed && takes ? decisionOf : peekedDecision
  const decisions = known.map((report, i) => describe(arithmeticOf(added[i].limit), report, added[i].cost))
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

/** Leaves a key `remaining` units. Rejects if Redis does not answer. */
export function set(key: string, limited: LimitedKey, remaining: number): ScriptCall<Decision> {
  const { limit } = limited
  return {
    keys: [key],
    addTo: (batch) => batch.set(key, limit, quotaOf(limit) - remaining),
    read: (reply) => readChanged(key, limited, reply),
    fail: (reason, error) => Promise.reject(unavailable('the key may not have been set', reason, error)),
  }
}

/**
 * Gives back the cost of a demand: the units of `taken`, or the newest. `isUndo` says that the request never went: then
 * even a slot of a leaky bucket whose time has come is given back, and the answer is for a cost of 0.
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
    read: (reply) => readChanged(key, demand, reply, isUndo ? 0 : 1),
    fail: () => fallback.refund(demand, taken),
    isUrgent: true,
  }
}

/** Answers a change of a state: what a peek at `cost` says now. */
function readChanged(key: string, { limit }: LimitedKey, reply: Reply, cost = 1): Decision | ForeignState {
  const arithmetic = arithmeticOf(limit)
  const report = reply.next(arithmetic)
  return report === undefined ? new ForeignState([key]) : peekedDecision(arithmetic, report, cost)
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
