/** The protocol of `POST /v1/store`: `CallsBody` writes it, and the functions below read it. */
import type { Decision, Limit, Taken } from '../../limits/index.js'
import { checkAnswer, checkDecision } from '../check-answer.js'
import type { Answer, Demand, LimitedKey, OnFailure } from '../store.js'

/** Each limit as JSON: remembered, because it is the same in every request. */
const texts = new WeakMap<Limit, string>()

function limitText(limit: Limit): string {
  let text = texts.get(limit)
  if (text === undefined) {
    text = JSON.stringify(limit)
    texts.set(limit, text)
  }
  return text
}

/** The body of one HTTP request: a list of calls, and a list of the limits that they name by number. */
export class CallsBody {
  readonly #onFailure: OnFailure | undefined
  readonly #places = new Map<Limit, number>()
  #limits = ''
  #calls = ''

  /** `onFailure` is the rule of demands that name none. */
  constructor(onFailure: OnFailure | undefined) {
    this.#onFailure = onFailure
  }

  /** Takes all demands or none. */
  decide(demands: readonly Demand[]): void {
    this.#add(`{"decide":[${this.#demands(demands)}]}`)
  }

  /** Asks what `decide` would answer now. */
  peek(demands: readonly Demand[]): void {
    this.#add(`{"peek":[${this.#demands(demands)}]}`)
  }

  charge(demand: Demand): void {
    this.#add(`{"charge":${this.#demand(demand)}}`)
  }

  refund(demand: Demand, taken: Taken | undefined): void {
    const which = taken === undefined ? '' : `,"taken":${JSON.stringify(taken)}`
    this.#add(`{"refund":${this.#demand(demand)}${which}}`)
  }

  /** Leaves a key `remaining` units. */
  set({ name, limit, key }: LimitedKey, remaining: number): void {
    const named = `"name":${JSON.stringify(name)},"limit":${this.#placeOf(limit)},"key":${JSON.stringify(key)}`
    this.#add(`{"set":{${named},"remaining":${remaining}}}`)
  }

  /** Forgets the states of a key, or blocks them for `blockUs`: also those of `limits`, which the service may not know. */
  resetOrBlock(
    { name, key }: Pick<Demand, 'name' | 'key'>,
    limits: Iterable<Limit>,
    blockUs: number | undefined,
  ): void {
    const places = Array.from(limits, (limit) => this.#placeOf(limit))
    const named = `"name":${JSON.stringify(name)},"key":${JSON.stringify(key)},"limits":[${places}]`
    this.#add(blockUs === undefined ? `{"reset":{${named}}}` : `{"block":{${named},"durationUs":${blockUs}}}`)
  }

  text(): string {
    return `{"limits":[${this.#limits}],"calls":[${this.#calls}]}`
  }

  #add(call: string): void {
    this.#calls = this.#calls === '' ? call : `${this.#calls},${call}`
  }

  #demands(demands: readonly Demand[]): string {
    let text = ''
    for (const demand of demands) text += text === '' ? this.#demand(demand) : `,${this.#demand(demand)}`
    return text
  }

  #demand({ name, limit, key, cost, onFailure = this.#onFailure, shadow, blockFor }: Demand): string {
    let text = `{"name":${JSON.stringify(name)},"limit":${this.#placeOf(limit)},"key":${JSON.stringify(key)},"cost":${cost}`
    if (onFailure !== undefined) text += `,"onFailure":"${onFailure}"`
    if (shadow === true) text += ',"shadow":true'
    if (blockFor !== undefined) text += `,"blockFor":${JSON.stringify(blockFor)}`
    return `${text}}`
  }

  #placeOf(limit: Limit): number {
    let place = this.#places.get(limit)
    if (place === undefined) {
      place = this.#places.size
      this.#places.set(limit, place)
      this.#limits = place === 0 ? limitText(limit) : `${this.#limits},${limitText(limit)}`
    }
    return place
  }
}

/** The answers to `calls` calls. Throws if the text is not that. */
export function readAnswers(text: string, calls: number): readonly unknown[] {
  const { answers } = JSON.parse(text) as { answers?: unknown }
  if (Array.isArray(answers) && answers.length === calls) return answers
  throw new Error(`the service did not answer with a list of ${calls} answers`)
}

/** The reason for which the service could not carry out a call; `undefined` if it did. */
export function problemOfAnswer(answer: unknown): Error | undefined {
  const { problem } = (answer ?? {}) as { problem?: { detail?: unknown } }
  if (problem === undefined) return undefined
  return new Error(
    `the service could not carry out the call: ${String(problem?.detail ?? 'no reason given').slice(0, 300)}`,
  )
}

/** Reads the answer to a `decide` or a `peek`. Throws a `MalformedAnswerError` for anything else. */
export function readAnswer(answer: unknown, demands: readonly Demand[]): Answer {
  const { decisions } = (answer ?? {}) as { decisions?: unknown }
  if (Array.isArray(decisions)) for (const decision of decisions) restoreInfinity(decision)
  return checkAnswer(answer as Answer, demands)
}

/** Reads the answer to a `charge`, a `refund` or a `set`. */
export function readDecision(answer: unknown, demand: Pick<Demand, 'limit'>): Decision {
  const { decision } = (answer ?? {}) as { decision?: unknown }
  restoreInfinity(decision)
  return checkDecision(decision as Decision, demand)
}

/** JSON has no `Infinity`: a wait that never ends and a quota without a limit are `null`. */
function restoreInfinity(value: unknown): void {
  const decision = (value ?? {}) as Record<string, unknown>
  if (decision.quota === null) decision.quota = Infinity
  if (decision.remaining === null) decision.remaining = Infinity
  if (decision.retryAfterMs === null) decision.retryAfterMs = Infinity
  if (decision.nextUnitAfterMs === null) decision.nextUnitAfterMs = Infinity
  if (decision.resetAfterMs === null) decision.resetAfterMs = Infinity
}
