import type { Clock } from '../clock.js'
import {
  type Arithmetic,
  arithmeticOf,
  blockedDecision,
  type Decision,
  type Limit,
  microseconds,
  type Taken,
} from '../limits/index.js'
import type { Answer, Demand, SyncStore } from '../stores/index.js'

interface Entry {
  readonly arithmetic: Arithmetic
  readonly words: Float64Array
}

/**
 * The store that is right because nothing in it is clever: a map of states that forgets nothing. Other stores are
 * compared with it; nobody should run it.
 */
export class ReferenceStore implements SyncStore {
  readonly synchronous = true
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  readonly #blocks = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  decideOne(name: string, limit: Limit, key: string, cost: number): Decision {
    return this.decide([{ name, limit, key, cost }]).decisions[0]
  }

  decide(demands: readonly Demand[]): Answer {
    const nowUs = microseconds(this.#clock.now())
    const costOf = (id: string) => demands.reduce((sum, other) => sum + (idOf(other) === id ? other.cost : 0), 0)
    const fits = demands.map((demand) => this.#fits(demand, nowUs, costOf(idOf(demand))))
    const isShadow = (id: string) => demands.every((other) => idOf(other) !== id || other.shadow === true)
    const allowed = demands.every((demand, i) => fits[i] || isShadow(idOf(demand)))
    const isFirst = (demand: Demand, i: number) => demands.findIndex((other) => idOf(other) === idOf(demand)) === i
    if (allowed) {
      const taking = demands.filter((demand, i) => fits[i] && isFirst(demand, i))
      for (const demand of taking) this.#take(demand, nowUs, costOf(idOf(demand)))
    }
    const decisions = demands.map((demand, i) => {
      const cost = fits[i] && !allowed ? 0 : costOf(idOf(demand))
      return this.#describe(demand, nowUs, cost, fits[i])
    })
    const takenUs = demands
      .map((demand) => this.#entry(demand, nowUs))
      .map(({ arithmetic, words }) => arithmetic.takenUs(words, 0, nowUs))
    return { allowed, decisions, takenUs }
  }

  charge(demand: Demand): Decision {
    const nowUs = microseconds(this.#clock.now())
    this.#take(demand, nowUs, demand.cost)
    return this.#describe(demand, nowUs, 0, this.#fits(demand, nowUs, 0))
  }

  giveBack(demand: Demand, taken: Taken | undefined): Decision {
    const nowUs = microseconds(this.#clock.now())
    const { arithmetic, words } = this.#entry(demand, nowUs)
    arithmetic.giveBack(words, 0, nowUs, demand.cost, taken)
    if (this.#entries.has(idOf(demand))) this.#entries.set(idOf(demand), { arithmetic, words })
    return this.#describe(demand, nowUs, 0, this.#fits(demand, nowUs, 0))
  }

  reset(name: string, key: string): void {
    this.#entries.delete(idOf({ name, key }))
    this.#blocks.delete(idOf({ name, key }))
  }

  block(name: string, key: string, durationUs: number): void {
    this.#blocks.set(idOf({ name, key }), microseconds(this.#clock.now()) + durationUs)
  }

  /**
   * The keys of which another store may have forgotten something: a state that is whole, or a block that is over. That
   * is no fault, but it shows when the clock steps back, or when the limit's numbers change.
   */
  forgettable(): readonly { readonly name: string; readonly key: string }[] {
    const nowUs = microseconds(this.#clock.now())
    const whole = [...this.#entries].filter(
      ([, { arithmetic, words }]) => arithmetic.decision(words, 0, nowUs, 0, true).resetAfterMs === 0,
    )
    const over = [...this.#blocks].filter(([, untilUs]) => untilUs <= nowUs)
    return [...whole, ...over].map(([id]) => JSON.parse(id)).map(([name, key]) => ({ name, key }))
  }

  /** A copy of the state under the demand's limit; a fresh one if there is none of the same algorithm. */
  #entry(demand: Demand, nowUs: number): Entry {
    const arithmetic = arithmeticOf(demand.limit)
    const stored = this.#entries.get(idOf(demand))
    if (stored?.arithmetic.limit.algorithm !== arithmetic.limit.algorithm) {
      const words = new Float64Array(arithmetic.words)
      arithmetic.start(words, 0, nowUs)
      return { arithmetic, words }
    }
    if (stored.arithmetic.shape === arithmetic.shape) return { arithmetic, words: stored.words.slice() }
    const words = new Float64Array(arithmetic.elastic ? stored.words.length : arithmetic.words)
    arithmetic.adopt(words, 0, nowUs, stored.arithmetic, stored.words, 0)
    return { arithmetic, words }
  }

  #fits(demand: Demand, nowUs: number, cost: number): boolean {
    const { arithmetic, words } = this.#entry(demand, nowUs)
    return this.#blockedUs(demand, nowUs) <= 0 && arithmetic.fits(words, 0, nowUs, cost)
  }

  #take(demand: Demand, nowUs: number, cost: number): void {
    if (cost === 0) return
    const { arithmetic, words } = this.#entry(demand, nowUs)
    const roomy = new Float64Array(Math.max(words.length, arithmetic.wordsFor(words, 0, nowUs, cost)))
    if (arithmetic.elastic) arithmetic.adopt(roomy, 0, nowUs, arithmetic, words, 0)
    else roomy.set(words)
    arithmetic.take(roomy, 0, nowUs, cost)
    this.#entries.set(idOf(demand), { arithmetic, words: roomy })
  }

  #describe(demand: Demand, nowUs: number, cost: number, allowed: boolean): Decision {
    const { arithmetic, words } = this.#entry(demand, nowUs)
    const blockedUs = this.#blockedUs(demand, nowUs)
    if (blockedUs <= 0) return arithmetic.decision(words, 0, nowUs, cost, allowed)
    const fits = arithmetic.fits(words, 0, nowUs, cost)
    return blockedDecision(arithmetic.decision(words, 0, nowUs, cost, fits), blockedUs)
  }

  #blockedUs(demand: Demand, nowUs: number): number {
    return (this.#blocks.get(idOf(demand)) ?? 0) - nowUs
  }
}

function idOf({ name, key }: Pick<Demand, 'name' | 'key'>): string {
  return JSON.stringify([name, key.toWellFormed()])
}
