/** Two ways to make a series of requests: of the pure function, which forgets nothing, and of a store. */
import { type Clock, type Decision, type Limit, type MemoryStore, memoryStore } from 'sluice'
import { evaluate, type LimitState } from 'sluice/limits'
import { type Ask, clockMs, larger, type Series } from './arbitraries.js'

/** A request and its decision. */
export interface Answered extends Ask {
  readonly decision: Decision
}

/** A clock that shows exactly the time it is set to, to a fraction of a microsecond. */
export class ExactClock implements Clock {
  us: bigint
  noiseUs = 0

  constructor(us: bigint) {
    this.us = us
  }

  now(): number {
    return clockMs(this.us, this.noiseUs)
  }
}

/** The answers of the pure function of state, time and cost. */
export function askPure({ given, asks }: Series): readonly Answered[] {
  let state: LimitState | undefined
  return asks.map((ask) => {
    const answer = evaluate(given.limit, state, ask.nowMs, ask.cost)
    state = answer.state
    return { ...ask, decision: answer.decision }
  })
}

/** The answers of a memory store, which forgets whole states. */
export function askStore({ given, asks }: Series): readonly Answered[] {
  let nowMs = 0
  const store = memoryStore({ clock: { now: () => nowMs } })
  return asks.map((ask) => {
    nowMs = ask.nowMs
    return { ...ask, decision: store.decideOne('series', given.limit, 'key', ask.cost) }
  })
}

/** The requests that took units. */
export function admitted(answers: readonly Answered[]): readonly Answered[] {
  return answers.filter(({ decision, cost }) => decision.allowed && cost > 0)
}

/** The answers with the times at which units count: never before units that were admitted earlier. */
export function inOrder(answers: readonly Answered[]): readonly Answered[] {
  let latest = 0n
  return answers.map((answer) => {
    latest = larger(answer.us, latest)
    return { ...answer, us: latest }
  })
}

/** The answers with each time replaced by the distance that the clock has moved forward until then. */
export function wentForward(answers: readonly Answered[]): readonly Answered[] {
  let forward = 0n
  return answers.map((answer, i) => {
    if (i > 0) forward += larger(answer.us - answers[i - 1].us, 0n)
    return { ...answer, us: forward }
  })
}

/** The decision for a cost now, without taking it: the request has a second demand that no limit meets. */
export function probe(store: MemoryStore, name: string, limit: Limit, key: string, cost: number): Decision {
  const impossible = { name: 'impossible', limit, key, cost: Number.MAX_SAFE_INTEGER }
  return store.decide([{ name, limit, key, cost }, impossible]).decisions[0]
}
