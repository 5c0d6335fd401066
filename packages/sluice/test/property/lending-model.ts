/** A store of one key that lends, in the words of its arithmetic: what every store that lends must do, one call after another. */
import {
  arithmeticOf,
  blockedDecision,
  type Decision,
  LeasedBucket,
  LeasedWindow,
  type LeaseGrant,
  type LeaseTerms,
  type Limit,
  quotaOf,
  type Taken,
  type TokenBucket,
} from '../../src/limits/index.js'

/** The limits that can be leased. */
export type LeasableLimit = Extract<Limit, { algorithm: 'token-bucket' | 'fixed-window' | 'sliding-window' }>

/** A request for a lease, of a node that counts its requests. */
export interface ModelRequest extends LeaseTerms {
  readonly node: string
  readonly sequence: number
}

/** The state of the key, opened by a limit at a time. */
interface Opened {
  fits(cost: number): boolean
  take(cost: number): void
  /** Returns false if there are no such units any more. */
  refund(units: number, taken: Taken | undefined): boolean
  exchange(terms: LeaseTerms): LeaseGrant
  describe(cost: number, allowed: boolean): Decision
  /** The words to keep; `undefined` if the state is whole. */
  words(): readonly number[] | undefined
}

/** As many units as there can be: a limit that reads them cuts them. */
const ALL_UNITS = 2 ** 52

export class LendingModel {
  /** What the store keeps. It may keep a state that has become whole. */
  words: readonly number[] | undefined
  nowUs = 0
  readonly #isBucket: boolean
  readonly #guardsEnd: boolean
  #writer: LeasableLimit | undefined
  #blockedUntilUs = 0
  readonly #guards = new Map<string, { readonly sequence: number; readonly untilUs: number }>()

  /** `guardsEnd`: a node's last request is remembered only for as long as it could do harm. */
  constructor(isBucket: boolean, { guardsEnd }: { readonly guardsEnd: boolean }) {
    this.#isBucket = isBucket
    this.#guardsEnd = guardsEnd
  }

  get isBlocked(): boolean {
    return this.#blockedUntilUs > this.nowUs
  }

  decide(limit: LeasableLimit, cost: number): Decision {
    const state = this.#open(limit)
    const fits = state.fits(cost)
    if (fits && !this.isBlocked && cost > 0) {
      state.take(cost)
      this.#save(limit, state)
    }
    return this.#described(state.describe(cost, fits))
  }

  /** What `decide` would say, without taking. */
  peek(limit: LeasableLimit, cost: number): Decision {
    const state = this.#open(limit)
    return this.#described(state.describe(cost, state.fits(cost)))
  }

  charge(limit: LeasableLimit, cost: number): Decision {
    const state = this.#open(limit)
    state.take(cost)
    this.#save(limit, state)
    return this.#changed(state)
  }

  refund(limit: LeasableLimit, units: number, taken: Taken | undefined): Decision {
    const state = this.#open(limit)
    if (this.words !== undefined && state.refund(units, taken)) this.#save(limit, state)
    return this.#changed(state)
  }

  /** Leaves so many units, of which those on lease are a part. */
  set(limit: LeasableLimit, remaining: number): Decision {
    this.#forget()
    if (!this.isBlocked) this.#blockedUntilUs = 0
    const state = this.#open(limit)
    const units = quotaOf(limit) - remaining
    if (units > 0) {
      state.take(units)
      this.#save(limit, state)
    }
    return this.#changed(state)
  }

  exchange(limit: LeasableLimit, { node, sequence, ...terms }: ModelRequest): LeaseGrant {
    const guard = this.#guards.get(node)
    if (guard !== undefined && guard.untilUs > this.nowUs && sequence <= guard.sequence)
      return { granted: 0, roundUs: this.nowUs, isChanged: false }
    this.#guards.set(node, { sequence, untilUs: this.#guardedUntilUs(terms) })
    const state = this.#open(limit)
    const grant = state.exchange({ ...terms, want: this.isBlocked ? 0 : terms.want })
    if (grant.isChanged) this.#save(limit, state)
    return grant
  }

  /** Forgets what was taken, but not what a bucket has on lease. */
  reset(): void {
    this.#blockedUntilUs = 0
    this.#forget()
  }

  #forget(): void {
    const [newerHeld = 0, newerUs = 0, olderHeld = 0, olderUs = 0] = this.#isBucket ? (this.words ?? []).slice(2) : []
    const newer = newerUs > this.nowUs ? [newerHeld, newerUs] : [0, 0]
    const older = olderUs > this.nowUs ? [olderHeld, olderUs] : [0, 0]
    this.words = newer[0] + older[0] === 0 ? undefined : [ALL_UNITS, this.nowUs, ...newer, ...older]
  }

  block(durationUs: number): void {
    this.#blockedUntilUs = this.nowUs + durationUs
  }

  /** A store may forget a state that is whole for the limit that wrote it last. */
  forgetIfWhole(): void {
    if (this.#writer !== undefined && this.#open(this.#writer).words() === undefined) this.words = undefined
  }

  /** A block that is over is forgotten with the next change. */
  #save(limit: LeasableLimit, state: Opened): void {
    this.words = state.words()
    this.#writer = limit
    if (!this.isBlocked) this.#blockedUntilUs = 0
  }

  /** For longer than any lease that this request, or an earlier one of the node, can name. */
  #guardedUntilUs({ leaseUs, returns }: LeaseTerms): number {
    if (!this.#guardsEnd) return Infinity
    const roundUs = 4 * leaseUs
    return Math.max(this.nowUs + 2 * roundUs, ...returns.map((each) => each.roundUs)) + roundUs
  }

  /** The answer to a change: what a request of cost 1 would be told. */
  #changed(state: Opened): Decision {
    const fits = state.fits(1)
    return this.#described(state.describe(fits ? 0 : 1, fits))
  }

  #described(decision: Decision): Decision {
    return this.isBlocked ? blockedDecision(decision, this.#blockedUntilUs - this.nowUs) : decision
  }

  #open(limit: LeasableLimit): Opened {
    return limit.algorithm === 'token-bucket'
      ? openBucket(limit, this.words, this.nowUs)
      : openWindow(limit, this.words, this.nowUs)
  }
}

function openBucket(limit: TokenBucket, words: readonly number[] | undefined, nowUs: number): Opened {
  const bucket = new LeasedBucket(limit)
  const state = words === undefined ? bucket.start(nowUs) : bucket.read(words)
  bucket.advance(state, nowUs)
  return {
    fits: (cost) => bucket.fits(state, cost),
    take: (cost) => bucket.take(state, nowUs, cost),
    refund: (units) => {
      // Nothing was taken from a full bucket.
      if (state.tokens === bucket.full) return false
      bucket.refund(state, units)
      return true
    },
    exchange: (terms) => bucket.exchange(state, nowUs, terms),
    describe: (cost, allowed) => bucket.decision(state, nowUs, cost, allowed),
    words: () => (state.tokens === bucket.full ? undefined : bucket.write(state)),
  }
}

function openWindow(
  limit: Exclude<LeasableLimit, TokenBucket>,
  kept: readonly number[] | undefined,
  nowUs: number,
): Opened {
  const arithmetic = arithmeticOf(limit)
  const words = new Float64Array(arithmetic.words)
  if (kept === undefined) arithmetic.start(words, 0, nowUs)
  else words.set(kept)
  return {
    fits: (cost) => arithmetic.fits(words, 0, nowUs, cost),
    take: (cost) => arithmetic.take(words, 0, nowUs, cost),
    refund: (units, taken) => arithmetic.refund(words, 0, nowUs, units, taken),
    exchange: (terms) => new LeasedWindow(limit).exchange(words, 0, nowUs, terms),
    describe: (cost, allowed) => arithmetic.decision(words, 0, nowUs, cost, allowed),
    words: () => (arithmetic.isWhole(words, 0, nowUs) ? undefined : [...words]),
  }
}
