import { arithmeticOf } from './arithmetic-of.js'
import type { TokenBucket } from './limit.js'

/** Units of a lease that come back: `spent` were admitted, `unspent` were not and never will be. */
export interface LeaseReturn {
  /** The round of the lease, as its grant said. */
  readonly roundUs: number
  readonly spent: number
  readonly unspent: number
}

/** What a node asks of a leased bucket: units, and what comes back of earlier leases. */
export interface LeaseTerms {
  /** How many units the node wants. It gets fewer only if the bucket has no more. */
  readonly want: number
  /** How long the node means to hold the units, in microseconds. A round lasts four times as long. */
  readonly leaseUs: number
  readonly returns: readonly LeaseReturn[]
}

/** The answer to `LeaseTerms`. */
export interface LeaseGrant {
  readonly granted: number
  /** Names the lease in a later return: the time at which the bucket stops counting its units as held. */
  readonly roundUs: number
}

/** Units on lease that the bucket counts as held until then. */
interface Lot {
  held: number
  untilUs: number
}

/** A bucket with leases. `tokens` are in parts; below 0 is a debt. */
export interface LeasedState {
  tokens: number
  sinceUs: number
  /** Leases of this round, and of an earlier one. */
  newer: Lot
  older: Lot
}

/** Leases are for at most this long, in microseconds. */
export const LONGEST_LEASE_US = 250_000
/** A lease is for at most this share of the time that a bucket takes to fill, so that held units never stop the refill. */
const SHARE_OF_FILL = 4
/** A round lasts so many lease times. */
const LEASES_A_ROUND = 4

/**
 * A token bucket that lends units to nodes, which spend them without asking:
 *
 *     tokens + held ≤ capacity
 *
 * The refill stops where tokens and held units together reach the capacity. A node spends only what is held and reports it
 * later, so in any interval of length T at most `capacity` + `refill`·T units are admitted, by all nodes together. Example: a
 * bucket of 100 with 30 on lease refills to 70. If a node dies with them, they are lost until their round ends, and then
 * the bucket refills to 100.
 *
 * Rounds are on the bucket's clock. A grant is made for this round and counts until the end of the next, which is at least one
 * whole round away. So two counts of held units are enough, whatever the number of nodes.
 *
 * Refuses to know nodes: what one node holds is that node's to know.
 */
export class LeasedBucket {
  readonly partsPerUnit: number
  readonly partsPerUs: number
  readonly full: number

  constructor(limit: TokenBucket) {
    const [partsPerUnit, partsPerUs, capacity] = arithmeticOf(limit).remote.parameters
    this.partsPerUnit = partsPerUnit
    this.partsPerUs = partsPerUs
    this.full = capacity * partsPerUnit
  }

  /** How long a lease is for: a quarter of the time that the bucket takes to fill, and at most `longestUs`. */
  leaseUs(longestUs: number): number {
    return Math.min(longestUs, Math.floor(this.full / this.partsPerUs / SHARE_OF_FILL))
  }

  start(nowUs: number): LeasedState {
    return { tokens: this.full, sinceUs: nowUs, newer: { held: 0, untilUs: 0 }, older: { held: 0, untilUs: 0 } }
  }

  /** Brings the state up to now: ends rounds that are over, each at its time, and refills in between. */
  advance(state: LeasedState, nowUs: number): void {
    for (const lot of [state.older, state.newer]) {
      if (lot.held === 0 || lot.untilUs > nowUs) continue
      this.#refill(state, lot.untilUs)
      lot.held = 0
    }
    this.#refill(state, nowUs)
  }

  /** Takes back what is returned, and then grants. Advance the state first. */
  exchange(state: LeasedState, nowUs: number, terms: LeaseTerms): LeaseGrant {
    for (const each of terms.returns) this.#takeBack(state, each)
    const granted = Math.min(terms.want, Math.max(0, Math.floor(state.tokens / this.partsPerUnit)))
    const roundUs = LEASES_A_ROUND * terms.leaseUs
    const untilUs = (Math.floor(nowUs / roundUs) + 2) * roundUs
    state.tokens -= granted * this.partsPerUnit
    if (granted > 0) this.#hold(state, granted, untilUs)
    return { granted, roundUs: untilUs }
  }

  /** When the state equals no state, if nothing more happens. */
  wholeUs(state: LeasedState): number {
    const { tokens, sinceUs, newer, older } = state
    const filledUs = sinceUs + Math.ceil((this.full - tokens) / this.partsPerUs)
    const held = newer.held + older.held
    if (held === 0) return filledUs
    const untilUs = newer.held > 0 ? newer.untilUs : older.untilUs
    return Math.max(filledUs, untilUs + Math.ceil((held * this.partsPerUnit) / this.partsPerUs))
  }

  #refill(state: LeasedState, nowUs: number): void {
    const most = this.full - (state.newer.held + state.older.held) * this.partsPerUnit
    const gained = Math.max(0, nowUs - state.sinceUs) * this.partsPerUs
    // After a limit was lowered, more may be held than its capacity: then nothing is left, but that is no debt.
    state.tokens = Math.min(state.tokens + gained, Math.max(most, Math.min(0, state.tokens)))
    state.sinceUs = Math.max(state.sinceUs, nowUs)
  }

  #takeBack(state: LeasedState, { roundUs, spent, unspent }: LeaseReturn): void {
    const lot = [state.newer, state.older].find(({ held, untilUs }) => held > 0 && untilUs === roundUs)
    // The round is over, or was joined with another: the units count until that ends.
    if (lot === undefined) return
    lot.held -= Math.min(spent, lot.held)
    const back = Math.min(unspent, lot.held)
    lot.held -= back
    state.tokens += back * this.partsPerUnit
  }

  #hold(state: LeasedState, units: number, untilUs: number): void {
    const { newer, older } = state
    if (newer.held > 0 && newer.untilUs >= untilUs) {
      // A round of another length may end later: then the units count for longer, and cannot be returned.
      newer.held += units
      return
    }
    if (newer.held > 0) state.older = { held: older.held + newer.held, untilUs: newer.untilUs }
    state.newer = { held: units, untilUs }
  }
}
