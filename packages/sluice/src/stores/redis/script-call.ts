import { arithmeticOf, type Decision, type Taken } from '../../limits/index.js'
import type { Fallback } from '../fallback.js'
import type { Answer, Demand } from '../store.js'
import { type Batch, decisionOf, type GroupDemand, type Reply, takenUsOf } from './batch.js'
import { type FailureReason, ForeignState, unavailable } from './failures.js'

/** The Redis keys of a call and the hash slot that they share; 0 if the server is no cluster. */
export interface Place {
  readonly hashSlot: number
  readonly keys: readonly string[]
}

/** Calls that were made in one turn of the event loop and share a deadline. */
export interface Turn {
  calls: ScriptCall[]
  /** How many calls have no answer yet. */
  open: number
  /** The deadline, by `performance.now()`. */
  endsMs: number
}

/** One request to the script. Its functions answer the caller that waits. `Link` calls `read` or `fail` to answer. */
export interface ScriptCall extends Place {
  /** Adds its steps to a batch. */
  readonly addTo: (batch: Batch) => void
  /** Reads its part of the reply and answers. If its keys hold something else than states, returns an error instead. */
  readonly read: (reply: Reply) => Error | undefined
  /** Answers without Redis. */
  readonly fail: (reason: FailureReason, error: unknown) => void
  /** A refund is sent even if too many calls are pending. */
  readonly isUrgent: boolean
  /** Set by `Link`, like the fields below. */
  isAnswered: boolean
  turn: Turn | undefined
  /** The batch that it was sent with, once it has been sent. `open` counts its calls that have no answer yet. */
  sent: { open: number } | undefined
}

/** The functions of a call. */
type Functions = Pick<ScriptCall, 'addTo' | 'read' | 'fail'>

export function scriptCall({ hashSlot, keys }: Place, { addTo, read, fail }: Functions, isUrgent = false): ScriptCall {
  return { hashSlot, keys, addTo, read, fail, isUrgent, isAnswered: false, turn: undefined, sent: undefined }
}

/** A request with one demand. */
export function decideOne(
  place: Place,
  demand: Demand,
  resolve: (answer: Answer) => void,
  fallback: Fallback,
): ScriptCall {
  return scriptCall(place, {
    addTo: (batch) => batch.decide(place.keys[0], demand.limit, demand.cost),
    read: (reply) => {
      const arithmetic = arithmeticOf(demand.limit)
      const report = reply.next(arithmetic)
      if (report === undefined) return new ForeignState(place.keys)
      const decision = decisionOf(arithmetic, report, demand.cost)
      const takenUs = [takenUsOf(arithmetic, report)]
      resolve({ allowed: decision.allowed || demand.shadow === true, decisions: [decision], takenUs })
      return undefined
    },
    fail: () => resolve(fallback.decide([demand])),
  })
}

/** A request with several demands, all in one hash slot. */
export function decideGroup(
  place: Place,
  demands: readonly Demand[],
  resolve: (answer: Answer) => void,
  fallback: Fallback,
): ScriptCall {
  const added = addedUp(place.keys, demands)
  return scriptCall(place, {
    addTo: (batch) => batch.decideGroup(added),
    read: (reply) => {
      const reports = added.map(({ limit }) => reply.next(arithmeticOf(limit)))
      const foreign = reports.indexOf(undefined)
      if (foreign >= 0) return new ForeignState([place.keys[foreign]])
      const known = reports.filter((report) => report !== undefined)
      const isMet = known.map(({ fits, blockedUs }) => fits && blockedUs <= 0)
      const allowed = added.every(({ shadow }, i) => shadow || isMet[i])
      const decisions = known.map((report, i) =>
        // If another demand was denied, this one took nothing: it is described as for a cost of 0.
        decisionOf(arithmeticOf(added[i].limit), report, isMet[i] && !allowed ? 0 : added[i].cost),
      )
      const takenUs = known.map((report, i) => takenUsOf(arithmeticOf(added[i].limit), report))
      resolve({ allowed, decisions, takenUs })
      return undefined
    },
    fail: () => resolve(fallback.decide(demands)),
  })
}

/** Adds up the costs of demands for the same state. Equal states have equal Redis keys. */
function addedUp(keys: readonly string[], demands: readonly Demand[]): readonly GroupDemand[] {
  const sums = new Map<string, number>()
  for (const [i, key] of keys.entries()) sums.set(key, (sums.get(key) ?? 0) + demands[i].cost)
  return demands.map(({ limit }, i) => {
    const key = keys[i]
    const shadow = demands.every((other, j) => keys[j] !== key || other.shadow === true)
    return { key, limit, cost: sums.get(key) ?? 0, takes: keys.indexOf(key) === i, shadow }
  })
}

/** Charges the cost of a demand. */
export function charge(
  place: Place,
  demand: Demand,
  resolve: (decision: Decision) => void,
  fallback: Fallback,
): ScriptCall {
  return scriptCall(place, {
    addTo: (batch) => batch.charge(place.keys[0], demand.limit, demand.cost),
    read: (reply) => readChanged(place, demand, reply, resolve),
    fail: () => resolve(fallback.charge(demand)),
  })
}

/** The units of a refund. */
export interface Refunded {
  readonly demand: Demand
  /** Which units; the newest if absent. */
  readonly taken: Taken | undefined
  /** The request never went: even a slot of a leaky bucket whose time has come is given back. */
  readonly isUndo: boolean
}

export function refund(
  place: Place,
  { demand, taken, isUndo }: Refunded,
  resolve: (decision: Decision) => void,
  fallback: Fallback,
): ScriptCall {
  const functions: Functions = {
    addTo: (batch) => batch.refund(place.keys[0], demand.limit, demand.cost, taken, isUndo),
    read: (reply) => readChanged(place, demand, reply, resolve),
    fail: () => resolve(fallback.refund(demand, taken)),
  }
  return scriptCall(place, functions, true)
}

/** Answers a charge or refund: describes the state that the next request meets. */
function readChanged(
  place: Place,
  demand: Demand,
  reply: Reply,
  resolve: (decision: Decision) => void,
): Error | undefined {
  const arithmetic = arithmeticOf(demand.limit)
  const report = reply.next(arithmetic)
  if (report === undefined) return new ForeignState(place.keys)
  resolve(decisionOf(arithmetic, report, 0))
  return undefined
}

/** Forgets states of a key, or blocks them for `blockUs`. Rejects if Redis does not answer. */
export function resetOrBlock(
  place: Place,
  blockUs: number | undefined,
  resolve: () => void,
  reject: (error: unknown) => void,
): ScriptCall {
  const { keys } = place
  return scriptCall(place, {
    addTo: (batch) => (blockUs === undefined ? batch.reset(keys) : batch.block(keys, blockUs)),
    read: (reply) => {
      if (!reply.isDone()) return new ForeignState(keys)
      resolve()
      return undefined
    },
    fail: (reason, error) => {
      const verb = blockUs === undefined ? 'reset' : 'blocked'
      reject(unavailable(`the key may not have been ${verb}`, reason, error))
    },
  })
}
