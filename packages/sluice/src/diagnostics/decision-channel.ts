/**
 * The channel `sluice:decision`: every decision of a limiter or policy, for metrics and logs. While no subscriber listens,
 * a decision pays for one look at the channel and nothing else. Nothing here changes a decision.
 */
import { type Channel, channel } from 'node:diagnostics_channel'
import type { Decision, Limit } from '../limits/index.js'
import {
  type Answer,
  type Awaitable,
  type Degraded,
  type Demand,
  type PromptStore,
  type Store,
  type SyncStore,
  worseOf,
} from '../stores/index.js'

/** A demand that was decided. `level` is there if a policy made it. */
export interface DecidedDemand extends Demand {
  readonly level?: string
  /** The key of the level. Absent if it is `key`, which differs if an override has states of its own. */
  readonly levelKey?: string | undefined
}

/** The methods that wait for units. */
export type WaitingMethod = 'acquire' | 'acquireLease'

/** The methods whose decisions are published. */
export type DecisionMethod = 'tryAcquire' | 'reserve' | 'lease' | 'check' | WaitingMethod

/**
 * Published on the channel `sluice:decision` for each decision. The object and its lists are used again for the next
 * decision: a subscriber that keeps anything must copy it before it returns.
 *
 * @example
 * ```ts
 * import { subscribe } from 'node:diagnostics_channel'
 * import type { DecisionEvent } from 'sluice'
 *
 * subscribe('sluice:decision', (message) => {
 *   const { kind, name, allowed, durationMs } = message as DecisionEvent
 *   if (!allowed) console.log(`${kind} ${name} denied after ${durationMs} ms`)
 * })
 * ```
 */
export interface DecisionEvent {
  readonly kind: 'limiter' | 'policy'
  readonly method: DecisionMethod
  /** The name of the limiter or policy. */
  readonly name: string
  /** The attributes that the caller of a policy passed: the caller's object, not a copy. */
  readonly request: object | undefined
  /** The cost of the call. A level of a policy may count another cost: see `demands`. */
  readonly cost: number
  /** May the request go? False if the store failed with an error. */
  readonly allowed: boolean
  /** How long the store took to answer. For a method that waits, how long the caller waited. */
  readonly durationMs: number
  /** One for each limit that the request had to pass. A level with several limits has several, one after the other. */
  readonly demands: readonly DecidedDemand[]
  /** One for each demand, in their order. Empty if there is an error. */
  readonly decisions: readonly Decision[]
  /** Set if the store did not decide: see `Verdict.degraded`. */
  readonly degraded: Degraded | undefined
  /** The failure of the store, or the `WaitTooLongError` or `QueueFullError` of a caller that waited in vain. */
  readonly error: unknown
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

const NONE: readonly never[] = Object.freeze([])
// Kept in a variable, because the global is a getter.
const { performance } = globalThis

/** Look at `hasSubscribers` before anything is measured. */
export const decisionChannel: Channel = channel('sluice:decision')

const sharedEvent = blankEvent()
/** The demand and the decision of a call of `decideOne`, which makes neither list. */
const oneDemand: [Mutable<DecidedDemand>] = [{ name: '', limit: undefined as unknown as Limit, key: '', cost: 0 }]
const oneDecision: [Decision] = [undefined as unknown as Decision]
/** True while subscribers run. If one of them decides something itself, that decision gets an event of its own. */
let isPublishing = false

/** The limiter or policy that asks. */
export interface Asker {
  readonly kind: DecisionEvent['kind']
  readonly name: string
}

/** Asks the store as `decideOne` does, and publishes the decision of `tryAcquire`. */
export function decideOneObserved(store: SyncStore, asker: Asker, limit: Limit, key: string, cost: number): Decision {
  const startMs = performance.now()
  const demands: [Mutable<DecidedDemand>] = isPublishing ? [{ ...oneDemand[0] }] : oneDemand
  const decisions: [Decision] = isPublishing ? [oneDecision[0]] : oneDecision
  const demand = demands[0]
  demand.name = asker.name
  demand.limit = limit
  demand.key = key
  demand.cost = cost
  let decision: Decision
  try {
    decision = store.decideOne(asker.name, limit, key, cost)
  } catch (error) {
    publishError(asker, 'tryAcquire', startMs, demands, error)
    throw error
  }
  decisions[0] = decision
  publishDecision(decision, asker, startMs, demands, decisions)
  return decision
}

/** Asks the store as `decideNow` does, and publishes the decision of `tryAcquire` if there is one. */
export function decideNowObserved(store: PromptStore, asker: Asker, demand: Demand): Decision | undefined {
  const startMs = performance.now()
  const decision = store.decideNow(demand)
  if (decision !== undefined) publishDecision(decision, asker, startMs, [demand], [decision])
  return decision
}

/**
 * Asks the store as `decide` does, and publishes the answer. `isKnown`: all run-time overrides were known. A policy says
 * what it was asked. These are arguments and no object, so that a decision in memory allocates nothing.
 */
export function decideObserved(
  store: Pick<Store, 'decide' | 'synchronous'>,
  asker: Asker,
  method: DecisionMethod,
  demands: readonly DecidedDemand[],
  isKnown = true,
  request?: object,
  cost = demands[0]?.cost ?? 0,
): Awaitable<Answer> {
  const startMs = performance.now()
  let answer: Awaitable<Answer>
  try {
    answer = store.decide(demands)
  } catch (error) {
    publishError(asker, method, startMs, demands, error, request, cost)
    throw error
  }
  if (store.synchronous !== true)
    return publishLater(answer, asker, method, startMs, demands, undefined, isKnown, request, cost)
  publishAnswer(answer as Answer, asker, method, startMs, demands, isKnown, request, cost)
  return answer
}

/** Waits, and publishes the outcome. A caller that gave up by its signal is not published: no limit denied it. */
export function waitObserved(
  wait: () => Promise<Answer>,
  asker: Asker,
  method: WaitingMethod,
  demand: Demand,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const startMs = performance.now()
  return publishLater(wait(), asker, method, startMs, [demand], signal)
}

async function publishLater(
  later: Awaitable<Answer>,
  asker: Asker,
  method: DecisionMethod,
  startMs: number,
  demands: readonly DecidedDemand[],
  signal: AbortSignal | undefined,
  isKnown = true,
  request?: object,
  cost?: number,
): Promise<Answer> {
  let answer: Answer
  try {
    answer = await later
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason)
      publishError(asker, method, startMs, demands, error, request, cost)
    throw error
  }
  publishAnswer(answer, asker, method, startMs, demands, isKnown, request, cost)
  return answer
}

function publishDecision(
  { allowed, degraded }: Decision,
  asker: Asker,
  startMs: number,
  demands: readonly DecidedDemand[],
  decisions: readonly Decision[],
): void {
  const event = beginEvent(asker, 'tryAcquire', startMs, demands)
  event.decisions = decisions
  event.allowed = allowed
  event.degraded = degraded
  publish(event)
}

/** Publishes an answer of the store. */
export function publishAnswer(
  { allowed, decisions }: Answer,
  asker: Asker,
  method: DecisionMethod,
  startMs: number,
  demands: readonly DecidedDemand[],
  isKnown: boolean,
  request: object | undefined,
  cost: number | undefined,
): void {
  let degraded: Degraded | undefined = isKnown ? undefined : 'overrides'
  for (let i = 0; i < decisions.length; i++) {
    const rule = decisions[i].degraded
    if (rule !== undefined) degraded = worseOf(degraded, rule)
  }
  const event = beginEvent(asker, method, startMs, demands, request, cost)
  event.decisions = decisions
  event.allowed = allowed
  event.degraded = degraded
  publish(event)
}

/** Publishes a failure of the store. */
export function publishError(
  asker: Asker,
  method: DecisionMethod,
  startMs: number,
  demands: readonly DecidedDemand[],
  error: unknown,
  request?: object,
  cost?: number,
): void {
  const event = beginEvent(asker, method, startMs, demands, request, cost)
  event.error = error
  publish(event)
}

/** An event that says what was asked and how long it took. Its outcome is blank. */
function beginEvent(
  { kind, name }: Asker,
  method: DecisionMethod,
  startMs: number,
  demands: readonly DecidedDemand[],
  request?: object,
  cost = demands[0].cost,
): Mutable<DecisionEvent> {
  const event = isPublishing ? blankEvent() : sharedEvent
  event.kind = kind
  event.method = method
  event.name = name
  event.durationMs = performance.now() - startMs
  event.demands = demands
  event.request = request
  event.cost = cost
  return event
}

/** A subscriber that throws does not reach the caller: Node.js turns that into an uncaught exception. */
function publish(event: Mutable<DecisionEvent>): void {
  const wasPublishing = isPublishing
  isPublishing = true
  decisionChannel.publish(event)
  isPublishing = wasPublishing
  event.allowed = false
  event.demands = NONE
  event.decisions = NONE
  event.degraded = undefined
  event.error = undefined
  event.request = undefined
}

function blankEvent(): Mutable<DecisionEvent> {
  return {
    kind: 'limiter',
    method: 'tryAcquire',
    name: '',
    request: undefined,
    cost: 0,
    allowed: false,
    durationMs: 0,
    demands: NONE,
    decisions: NONE,
    degraded: undefined,
    error: undefined,
  }
}
