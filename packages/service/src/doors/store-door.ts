import type { Answer, AsyncStore, Awaitable, Decision, SyncStore } from 'sluice'
import type { Door } from '../server/door.js'
import { problemOf } from '../server/problem.js'
import { ClientLimits } from './client-limits.js'
import { readStoreCalls, type StoreCall } from './read-store-calls.js'
import { decisionText } from './verdict-text.js'

const MAX_BYTES = 4 * 1024 * 1024

/**
 * `POST /v1/store`: the store itself, for clients that bring their own limits, such as `serviceStore` of `sluice/client`.
 * A request has many calls. They are carried out in their order, and each stands for itself: one that the store cannot
 * carry out does not stop the others.
 *
 * In the store the names of clients begin with `#client/`, so that no client reaches the states of the service's policy.
 * `onBatch` hears how many calls each request has.
 */
export function storeDoor(store: SyncStore | AsyncStore, onBatch: (calls: number) => void = () => {}): Door {
  const limits = new ClientLimits(store)
  const answer = (call: StoreCall) => answered(() => carryOut(store, limits, call))
  return {
    name: 'store',
    routes: {
      'POST /v1/store': (exchange) =>
        exchange.readObject(MAX_BYTES, (body) => {
          // Every call is read before the first is carried out, so that a mistake in one changes nothing.
          const calls = readStoreCalls(body, limits)
          onBatch(calls.length)
          const texts = calls.map(answer)
          if (!texts.some((text) => text instanceof Promise)) return exchange.json(answersText(texts as string[]))
          return Promise.all(texts).then((all) => exchange.json(answersText(all)))
        }),
    },
  }
}

function answersText(texts: readonly string[]): string {
  return `{"answers":[${texts.join(',')}]}`
}

/** Carries out a call. Returns its answer as JSON, or the promise of it. */
function carryOut(store: SyncStore | AsyncStore, limits: ClientLimits, call: StoreCall): Awaitable<string> {
  switch (call.method) {
    case 'decide':
      for (const demand of call.demands) limits.admit(demand)
      return then(store.decide(call.demands), answerText)
    case 'peek':
      for (const demand of call.demands) limits.admit(demand)
      return then(store.peek(call.demands), answerText)
    case 'charge':
      limits.admit(call.demand)
      return then(store.charge(call.demand), changedText)
    case 'refund':
      limits.admit(call.demand)
      return then(store.refund(call.demand, call.taken), changedText)
    case 'set':
      limits.admit(call.limited)
      return then(store.set(call.limited, call.remaining), changedText)
    case 'reset':
      for (const limit of call.limits) limits.admit({ name: call.name, limit })
      return then(store.reset(call.name, call.key), () => '{}')
    case 'block':
      for (const limit of call.limits) limits.admit({ name: call.name, limit })
      return then(store.block(call.name, call.key, call.durationUs), () => '{}')
  }
}

function then<T>(value: Awaitable<T>, text: (value: T) => string): Awaitable<string> {
  return value instanceof Promise ? value.then(text) : text(value)
}

function answerText({ allowed, decisions, takenUs }: Answer): string {
  const texts = decisions.length === 1 ? decisionText(decisions[0]) : decisions.map(decisionText).join(',')
  return `{"allowed":${allowed},"decisions":[${texts}],"takenUs":[${takenUs.join(',')}]}`
}

function changedText(decision: Decision): string {
  return `{"decision":${decisionText(decision)}}`
}

/** The answer to a call, or the problem of a store that could not carry it out. */
function answered(run: () => Awaitable<string>): Awaitable<string> {
  try {
    const text = run()
    return text instanceof Promise ? text.catch(problemText) : text
  } catch (error) {
    return problemText(error)
  }
}

/** The answer to a call that failed. A fault of the service itself is thrown, so that it is logged. */
function problemText(error: unknown): string {
  const problem = problemOf(error)
  if (problem.status === 500) throw error
  return `{"problem":${problem.body}}`
}
