/** Two ways to put a series of requests to a limit: to the pure function, which forgets nothing, and to a store. */
import { type Clock, type Decision, type Limit, type MemoryStore, memoryStore } from 'sluice'
import { evaluate, type LimitState } from 'sluice/limits'
import { type Ask, clockMs, larger, type Series } from './arbitraries.js'

/** A request and what was decided. */
export interface Answered extends Ask {
  readonly decision: Decision
}

/** A clock that shows exactly what it is told to, to a fraction of a microsecond. */
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

/** Answers by the pure function of state, time and cost. */
export function askPure({ given, asks }: Series): readonly Answered[] {
  let state: LimitState | undefined
  return asks.map((ask) => {
    const answer = evaluate(given.limit, state, ask.nowMs, ask.cost)
    state = answer.state
    return { ...ask, decision: answer.decision }
  })
}

/** Answers by a memory store, which forgets what is whole again. */
export function askStore({ given, asks }: Series): readonly Answered[] {
  let nowMs = 0
  const store = memoryStore({ clock: { now: () => nowMs } })
  return asks.map((ask) => {
    nowMs = ask.nowMs
    return { ...ask, decision: store.decideOne('series', given.limit, 'key', ask.cost) }
  })
}

/** The requests that took something. */
export function admitted(answers: readonly Answered[]): readonly Answered[] {
  return answers.filter(({ decision, cost }) => decision.allowed && cost > 0)
}

/** Never before anything that was admitted earlier: where units count when the clock stepped back in between. */
export function inOrder(answers: readonly Answered[]): readonly Answered[] {
  let latest = 0n
  return answers.map((answer) => {
    latest = larger(answer.us, latest)
    return { ...answer, us: latest }
  })
}

/** Every time replaced by how far the clock has gone forward until then. */
export function wentForward(answers: readonly Answered[]): readonly Answered[] {
  let forward = 0n
  return answers.map((answer, i) => {
    if (i > 0) forward += larger(answer.us - answers[i - 1].us, 0n)
    return { ...answer, us: forward }
  })
}

/** What a cost would be told now. It is asked together with what no limit gives, so that nothing is taken. */
export function probe(store: MemoryStore, name: string, limit: Limit, key: string, cost: number): Decision {
  const impossible = { name: 'impossible', limit, key, cost: Number.MAX_SAFE_INTEGER }
  return store.decide([{ name, limit, key, cost }, impossible]).decisions[0]
}
