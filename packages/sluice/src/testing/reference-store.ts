import type { Clock } from '../clock.js'
import { invalidValue } from '../errors.js'
import { withRoom } from '../limits/evaluate.js'
import {
  type Arithmetic,
  arithmeticOf,
  blockedDecision,
  type Decision,
  type KeyBlock,
  type Limit,
  microseconds,
  nextBlock,
  type Taken,
} from '../limits/index.js'
import type { Answer, Demand, LimitedKey, OverrideEntry, SyncOverrides, SyncStore } from '../stores/index.js'

interface Entry {
  /** The arithmetic of the limit that wrote the state last: it says when the state is whole. */
  readonly arithmetic: Arithmetic
  readonly words: Float64Array
}

/**
 * A store that is too simple to be wrong: maps of states, blocks and overrides that forget nothing. Tests compare other
 * stores with it. It is slow, and its memory is not bounded: do not run it in production.
 */
export class ReferenceStore implements SyncStore {
  readonly synchronous = true
  readonly blocksByRule = true
  readonly clock: Clock
  readonly #states = new Map<string, Entry>()
  readonly #blocks = new Map<string, KeyBlock>()
  readonly #overrides = new Map<string, Map<string, OverrideEntry>>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  decideOne(name: string, limit: Limit, key: string, cost: number): Decision {
    return this.decide([{ name, limit, key, cost }]).decisions[0]
  }

  decide(demands: readonly Demand[]): Answer {
    const nowUs = microseconds(this.clock.now())
    const costOf = (demand: Demand) => costOfAll(sameState(demand, demands))
    const offenders = demands.filter((demand) => this.#exceeds(demand, nowUs, costOf(demand)))
    for (const demand of offenders) this.#blockByRule(demand, nowUs)
    const fits = demands.map((demand) => this.#fits(demand, nowUs, costOf(demand)))
    const allowed = demands.every((demand, i) => fits[i] || areShadows(sameState(demand, demands)))
    for (const [i, demand] of demands.entries()) {
      // The first demand for a state takes for all of them. A caller may pass one object twice, so compare indexes.
      const isFirst = demands.findIndex((other) => stateOf(other) === stateOf(demand)) === i
      if (allowed && fits[i] && isFirst) this.#take(demand, nowUs, costOf(demand))
    }
    // If another demand was refused, this one took nothing: describe the state that the next request meets.
    const decisions = demands.map((demand, i) =>
      // A shadow that did not fit may fit after another version of its limit has cut the state.
      fits[i] && !allowed
        ? this.#describe(demand, nowUs, 0, true)
        : this.#describe(demand, nowUs, costOf(demand), fits[i] || this.#fits(demand, nowUs, costOf(demand))),
    )
    const takenUs = demands.map((demand) => {
      const { arithmetic, words } = this.#entry(demand, nowUs)
      return arithmetic.takenUs(words, 0, nowUs)
    })
    return { allowed, decisions, takenUs }
  }

  peekOne(name: string, limit: Limit, key: string, cost: number): Decision {
    return this.peek([{ name, limit, key, cost }]).decisions[0]
  }

  peek(demands: readonly Demand[]): Answer {
    const nowUs = microseconds(this.clock.now())
    const decisions = demands.map((demand) => this.#peeked(demand, nowUs, costOfAll(sameState(demand, demands))))
    const allowed = demands.every((demand, i) => decisions[i].allowed || areShadows(sameState(demand, demands)))
    return { allowed, decisions, takenUs: demands.map(() => nowUs) }
  }

  charge(demand: Demand): Decision {
    const nowUs = microseconds(this.clock.now())
    this.#take(demand, nowUs, demand.cost)
    return this.#peeked(demand, nowUs, 1)
  }

  set(limited: LimitedKey, remaining: number): Decision {
    const nowUs = microseconds(this.clock.now())
    this.#states.delete(stateOf(limited))
    this.#take(limited, nowUs, arithmeticOf(limited.limit).quota - remaining)
    return this.#peeked(limited, nowUs, 1)
  }

  refund(demand: Demand, taken: Taken | undefined): Decision {
    const nowUs = microseconds(this.clock.now())
    // A refund of nothing is a look, and a look changes nothing.
    if (demand.cost > 0 && this.#states.has(stateOf(demand))) {
      const entry = this.#entry(demand, nowUs)
      if (entry.arithmetic.refund(entry.words, 0, nowUs, demand.cost, taken)) this.#states.set(stateOf(demand), entry)
    }
    return this.#peeked(demand, nowUs, 1)
  }

  reset(name: string, key: string): void {
    for (const state of [...this.#states.keys()]) if (keyOf(state) === idOf(name, key)) this.#states.delete(state)
    this.#blocks.delete(idOf(name, key))
  }

  block(name: string, key: string, durationUs: number): void {
    const { lastUs = 0, rememberedUs = 0 } = this.#blocks.get(idOf(name, key)) ?? {}
    const untilUs = microseconds(this.clock.now()) + durationUs
    this.#blocks.set(idOf(name, key), { untilUs, lastUs, rememberedUs })
  }

  overrides(policy: string): SyncOverrides {
    const entries = this.#overrides.get(policy) ?? new Map<string, OverrideEntry>()
    this.#overrides.set(policy, entries)
    const inForce = () => [...entries.values()].filter(({ untilMs }) => untilMs > this.clock.now())
    return {
      get size() {
        return entries.size
      },
      get: (level, key) => inForce().find((entry) => idOf(entry.level, entry.key) === idOf(level, key))?.limits,
      entries: inForce,
      set: (level, key, limits, untilMs = Infinity) => {
        if (untilMs <= this.clock.now()) throw invalidValue('until', 'a time that is still to come', untilMs)
        entries.delete(idOf(level, key))
        if (limits !== undefined) entries.set(idOf(level, key), { level, key: key.toWellFormed(), limits, untilMs })
      },
      refresh: () => true,
    }
  }

  /**
   * The keys that have a whole state or a finished block. Another store may have forgotten these. That is allowed, but it
   * shows if the clock steps back, or if a limit with other numbers reads the state.
   */
  forgettable(): readonly { readonly name: string; readonly key: string }[] {
    const nowUs = microseconds(this.clock.now())
    const whole = [...this.#states].filter(([, entry]) => showsNothing(entry, nowUs)).map(([state]) => keyOf(state))
    const over = [...this.#blocks]
      .filter(([, block]) => Math.max(block.untilUs, block.rememberedUs) <= nowUs)
      .map(([id]) => id)
    return [...new Set([...whole, ...over])].map((id) => JSON.parse(id)).map(([name, key]) => ({ name, key }))
  }

  /** A copy of the state for the demand's limit to count in. A whole state equals no state, so it starts fresh. */
  #entry(demand: LimitedKey, nowUs: number): Entry {
    const arithmetic = arithmeticOf(demand.limit)
    const stored = this.#states.get(stateOf(demand))
    if (stored !== undefined && !stored.arithmetic.isWhole(stored.words, 0, nowUs))
      return { arithmetic, words: stored.words.slice() }
    const words = new Float64Array(arithmetic.words)
    arithmetic.start(words, 0, nowUs)
    return { arithmetic, words }
  }

  #fits(demand: LimitedKey, nowUs: number, cost: number): boolean {
    const { arithmetic, words } = this.#entry(demand, nowUs)
    return this.#blockedUs(demand, nowUs) <= 0 && arithmetic.fits(words, 0, nowUs, cost)
  }

  #exceeds(demand: Demand, nowUs: number, cost: number): boolean {
    if (demand.blockFor === undefined || cost === 0) return false
    return this.#blockedUs(demand, nowUs) <= 0 && !this.#fits(demand, nowUs, cost)
  }

  #blockByRule(demand: Demand, nowUs: number): void {
    const { name, key, blockFor } = demand
    if (blockFor === undefined || this.#blockedUs(demand, nowUs) > 0) return
    this.#blocks.set(idOf(name, key), nextBlock(blockFor, this.#blocks.get(idOf(name, key)), nowUs))
  }

  #take(demand: LimitedKey, nowUs: number, cost: number): void {
    if (cost === 0) return
    const { arithmetic, words } = this.#entry(demand, nowUs)
    const roomy = withRoom(arithmetic, words, nowUs, cost)
    arithmetic.take(roomy, 0, nowUs, cost)
    this.#states.set(stateOf(demand), { arithmetic, words: roomy })
  }

  /** The decision for a cost that is not taken: one that fits leaves the state as it stands. */
  #peeked(demand: LimitedKey, nowUs: number, cost: number): Decision {
    const fits = this.#fits(demand, nowUs, cost)
    return this.#describe(demand, nowUs, fits ? 0 : cost, fits)
  }

  #describe(demand: LimitedKey, nowUs: number, cost: number, allowed: boolean): Decision {
    const { arithmetic, words } = this.#entry(demand, nowUs)
    const blockedUs = this.#blockedUs(demand, nowUs)
    if (blockedUs <= 0) return arithmetic.decision(words, 0, nowUs, cost, allowed)
    const fits = arithmetic.fits(words, 0, nowUs, cost)
    return blockedDecision(arithmetic.decision(words, 0, nowUs, cost, fits), blockedUs)
  }

  #blockedUs({ name, key }: LimitedKey, nowUs: number): number {
    return (this.#blocks.get(idOf(name, key))?.untilUs ?? 0) - nowUs
  }
}

function showsNothing({ arithmetic, words }: Entry, nowUs: number): boolean {
  return arithmetic.decision(words, 0, nowUs, 0, true).resetAfterMs === 0
}

function idOf(name: string, key: string): string {
  return JSON.stringify([name, key.toWellFormed()])
}

function stateOf({ name, key, limit }: LimitedKey): string {
  return `${arithmeticOf(limit).stateId} ${idOf(name, key)}`
}

/** The demands for the state of a demand, itself included. */
function sameState(demand: Demand, demands: readonly Demand[]): readonly Demand[] {
  return demands.filter((other) => stateOf(other) === stateOf(demand))
}

function costOfAll(demands: readonly Demand[]): number {
  return demands.reduce((sum, { cost }) => sum + cost, 0)
}

function areShadows(demands: readonly Demand[]): boolean {
  return demands.every(({ shadow }) => shadow === true)
}

/** The name and key of a state: no state id contains a space. */
function keyOf(state: string): string {
  return state.slice(state.indexOf(' ') + 1)
}
