import type { Clock } from '../clock.js'
import {
  type Arithmetic,
  arithmeticOf,
  blockedDecision,
  type Decision,
  fullerView,
  type Limit,
  microseconds,
  mixed,
  type Taken,
  withQuota,
} from '../limits/index.js'
import type { Answer, Demand, SyncStore } from '../stores/index.js'

interface Entry {
  readonly arithmetic: Arithmetic
  readonly words: Float64Array
}

/** Of one algorithm, by shape, in the order in which they came; of a portable one there is only one. */
type Views = Map<string, Entry>

/**
 * The store that is right because nothing in it is clever: a map of states that forgets nothing. Other stores are
 * compared with it; nobody should run it.
 */
export class ReferenceStore implements SyncStore {
  readonly synchronous = true
  readonly clock: Clock
  readonly #views = new Map<string, Views>()
  readonly #blocks = new Map<string, number>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  decideOne(name: string, limit: Limit, key: string, cost: number): Decision {
    return this.decide([{ name, limit, key, cost }]).decisions[0]
  }

  decide(demands: readonly Demand[]): Answer {
    const nowUs = microseconds(this.clock.now())
    for (const demand of demands) this.#look(demand, nowUs)
    const costOf = (id: string) => demands.reduce((sum, other) => sum + (idOf(other) === id ? other.cost : 0), 0)
    const fits = demands.map((demand) => this.#fits(demand, nowUs, costOf(idOf(demand))))
    const isShadow = (id: string) => demands.every((other) => idOf(other) !== id || other.shadow === true)
    const allowed = demands.every((demand, i) => fits[i] || isShadow(idOf(demand)))
    const isFirst = (demand: Demand, i: number) => demands.findIndex((other) => idOf(other) === idOf(demand)) === i
    for (const [i, demand] of demands.entries()) {
      const cost = costOf(idOf(demand))
      if (isFirst(demand, i) && allowed && fits[i]) this.#take(demand, nowUs, cost)
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
    const nowUs = microseconds(this.clock.now())
    this.#look(demand, nowUs)
    this.#take(demand, nowUs, demand.cost)
    return this.#describe(demand, nowUs, 0, this.#fits(demand, nowUs, 0))
  }

  refund(demand: Demand, taken: Taken | undefined): Decision {
    const nowUs = microseconds(this.clock.now())
    this.#look(demand, nowUs)
    for (const [shape, entry] of [...this.#viewsOf(demand)]) {
      const isOwn = entry.arithmetic.portable || shape === arithmeticOf(demand.limit).shape
      const { arithmetic, words } = isOwn ? this.#entry(demand, nowUs) : entry
      arithmetic.refund(words, 0, nowUs, demand.cost, taken)
      if (isOwn) this.#keep(demand, { arithmetic, words })
    }
    return this.#describe(demand, nowUs, 0, this.#fits(demand, nowUs, 0))
  }

  reset(name: string, key: string): void {
    this.#views.delete(idOf({ name, key }))
    this.#blocks.delete(idOf({ name, key }))
  }

  block(name: string, key: string, durationUs: number): void {
    this.#blocks.set(idOf({ name, key }), microseconds(this.clock.now()) + durationUs)
  }

  /**
   * The keys of which another store may have forgotten something: a state that is whole, or a block that is over. That
   * is no fault, but it shows when the clock steps back, or when the limit's numbers change.
   */
  forgettable(): readonly { readonly name: string; readonly key: string }[] {
    const nowUs = microseconds(this.clock.now())
    const whole = [...this.#views].filter(([, views]) =>
      [...views.values()].every((entry) => showsNothing(entry, nowUs)),
    )
    const over = [...this.#blocks].filter(([, untilUs]) => untilUs <= nowUs)
    return [...whole, ...over].map(([id]) => JSON.parse(id)).map(([name, key]) => ({ name, key }))
  }

  #viewsOf(demand: Demand): Views {
    const views = this.#views.get(idOf(demand)) ?? new Map<string, Entry>()
    const [first] = views.values()
    return first?.arithmetic.limit.algorithm === demand.limit.algorithm ? views : new Map()
  }

  /** A copy of the state under the demand's limit: of its view, or of what the first view means under it, or fresh. */
  #entry(demand: Demand, nowUs: number): Entry {
    const arithmetic = mixed(arithmeticOf(demand.limit))
    const views = this.#viewsOf(demand)
    const isCopied = arithmetic.portable || this.#hasOtherView(demand, nowUs)
    const stored = views.get(arithmetic.shape) ?? (isCopied ? fullest(views) : undefined)
    if (stored === undefined) {
      const words = new Float64Array(arithmetic.words)
      arithmetic.start(words, 0, nowUs)
      return { arithmetic, words }
    }
    if (stored.arithmetic.shape === arithmetic.shape) return { arithmetic, words: stored.words.slice() }
    const words = new Float64Array(arithmetic.elastic ? stored.words.length : arithmetic.words)
    arithmetic.adopt(words, 0, nowUs, stored.arithmetic, stored.words, 0)
    return { arithmetic, words }
  }

  /**
   * The first look under new numbers makes a view of its own, which from then on knows what came when; a bucket then knows
   * of one more that uses it.
   */
  #look(demand: Demand, nowUs: number): void {
    const { portable, shape } = arithmeticOf(demand.limit)
    const views = this.#viewsOf(demand)
    if (portable && views.size > 0) {
      const entry = this.#entry(demand, nowUs)
      entry.arithmetic.fits(entry.words, 0, nowUs, 0)
      this.#keep(demand, entry)
    }
    if (portable || views.size === 0 || (views.size === 1 && views.has(shape))) return
    if ([...views.values()].every(({ arithmetic, words }) => arithmetic.isWhole(words, 0, nowUs)))
      this.#views.delete(idOf(demand))
    else if (!views.has(shape)) this.#keep(demand, this.#entry(demand, nowUs))
  }

  /** Is there no view of the demand's own, but another that still matters? */
  #hasOtherView(demand: Demand, nowUs: number): boolean {
    const { portable, shape } = arithmeticOf(demand.limit)
    const views = this.#viewsOf(demand)
    return (
      !portable &&
      !views.has(shape) &&
      [...views.values()].some(({ arithmetic, words }) => !arithmetic.isWhole(words, 0, nowUs))
    )
  }

  #keep(demand: Demand, { arithmetic, words }: Entry): void {
    const views = this.#viewsOf(demand)
    const before = views.get(arithmetic.shape)?.arithmetic ?? arithmetic
    // Of several limits that share a view, the one that remembers most takes for those who have another.
    const widest = before.quota > arithmetic.quota ? before : arithmetic
    if (arithmetic.portable) views.clear()
    views.set(arithmetic.shape, { arithmetic: arithmetic.portable ? arithmetic : widest, words })
    this.#views.set(idOf(demand), views)
  }

  #fits(demand: Demand, nowUs: number, cost: number): boolean {
    const { arithmetic, words } = this.#entry(demand, nowUs)
    return this.#blockedUs(demand, nowUs) <= 0 && arithmetic.fits(words, 0, nowUs, cost)
  }

  #take(demand: Demand, nowUs: number, cost: number): void {
    if (cost === 0) return
    const { arithmetic, words } = this.#entry(demand, nowUs)
    // How many of the units are remembered: a log does not remember a debt of more than its quota.
    const taking = arithmetic.elastic
      ? arithmetic.wordsFor(words, 0, nowUs, cost) - arithmetic.wordsFor(words, 0, nowUs, 0)
      : cost
    const own = withRoom({ arithmetic, words }, nowUs, cost)
    arithmetic.take(own.words, 0, nowUs, cost)
    this.#keep(demand, own)
    const views = this.#viewsOf(demand)
    for (const [shape, entry] of views) {
      if (shape === arithmetic.shape) continue
      const isNarrow = arithmetic.elastic && arithmetic.quota > entry.arithmetic.quota
      const wide = isNarrow ? withQuota(entry.arithmetic, arithmetic.quota) : entry.arithmetic
      const other = withRoom({ ...entry, arithmetic: wide }, nowUs, taking)
      other.arithmetic.takeToo(other.words, 0, nowUs, taking)
      views.set(shape, other)
    }
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

function fullest(views: Views): Entry | undefined {
  const arithmetics = [...views.values()].map(({ arithmetic }) => arithmetic)
  return arithmetics.length === 0 ? undefined : views.get(arithmetics.reduce(fullerView).shape)
}

function showsNothing({ arithmetic, words }: Entry, nowUs: number): boolean {
  return arithmetic.decision(words, 0, nowUs, 0, true).resetAfterMs === 0
}

/** A copy of a state that has room for `cost` more. */
function withRoom({ arithmetic, words }: Entry, nowUs: number, cost: number): Entry {
  const roomy = new Float64Array(Math.max(words.length, arithmetic.wordsFor(words, 0, nowUs, cost)))
  if (arithmetic.elastic) arithmetic.adopt(roomy, 0, nowUs, arithmetic, words, 0)
  else roomy.set(words)
  return { arithmetic, words: roomy }
}

function idOf({ name, key }: Pick<Demand, 'name' | 'key'>): string {
  return JSON.stringify([name, key.toWellFormed()])
}
