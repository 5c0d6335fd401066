import { arithmeticOf } from './arithmetic-of.js'
import { MOST_PARTS } from './bucket.js'
import { ceilMs, type Decision } from './decision.js'
import type { TokenBucket } from './limit.js'

/** Units of a lease that come back: `spent` were admitted, `unspent` were not and never will be. */
export interface LeaseReturn {
  /** The round of the lease, as its grant said. */
  readonly roundUs: number
  readonly spent: number
  readonly unspent: number
}

/** What a node asks of a leased limit: units, and what comes back of earlier leases. */
export interface LeaseTerms {
  /** How many units the node wants. It gets fewer only if there are no more. */
  readonly want: number
  /** How long the node means to hold the units, in microseconds. A round lasts four times as long. */
  readonly leaseUs: number
  readonly returns: readonly LeaseReturn[]
}

/** The answer to `LeaseTerms`. */
export interface LeaseGrant {
  readonly granted: number
  /** When the lease ends: the units count as held until then. Names the lease in a later return. */
  readonly roundUs: number
  /** False if nothing was granted or taken back: the state is as it was. */
  readonly isChanged: boolean
}

/** Units on lease that the bucket counts as held until then. */
export interface LeaseLot {
  readonly held: number
  readonly untilUs: number
}

/** A bucket with leases. `tokens` are in parts; below 0 is a debt. */
export interface LeasedState {
  tokens: number
  sinceUs: number
  /** Leases of this round, and of an earlier one. If both hold units, the earlier one ends first. */
  newer: LeaseLot
  older: LeaseLot
}

/** Leases are for at most this long, in microseconds. */
export const LONGEST_LEASE_US = 250_000
/** A round lasts so many lease times. */
const LEASES_A_ROUND = 4

const NO_LOT: LeaseLot = { held: 0, untilUs: 0 }

/** How long a round lasts, in microseconds. */
export function roundLengthUs({ leaseUs }: Pick<LeaseTerms, 'leaseUs'>): number {
  return LEASES_A_ROUND * leaseUs
}

/** When a lease ends that is made now: with the round after this one. */
export function nextRoundEndsUs(nowUs: number, terms: Pick<LeaseTerms, 'leaseUs'>): number {
  const lengthUs = roundLengthUs(terms)
  return (Math.floor(nowUs / lengthUs) + 2) * lengthUs
}

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
  readonly #capacity: number

  constructor(limit: TokenBucket) {
    const [partsPerUnit, partsPerUs, capacity] = arithmeticOf(limit).remote.parameters
    this.partsPerUnit = partsPerUnit
    this.partsPerUs = partsPerUs
    this.full = capacity * partsPerUnit
    this.#capacity = capacity
  }

  start(nowUs: number): LeasedState {
    return { tokens: this.full, sinceUs: nowUs, newer: NO_LOT, older: NO_LOT }
  }

  /**
   * The state that a store keeps as words: tokens in units, since when, and, if units are held, held units and their end, of the
   * newer lot and of the older one. Advance it before use: a limit with other numbers may have written it.
   */
  read(words: readonly number[]): LeasedState {
    const [units, sinceUs, newerHeld = 0, newerUs = 0, olderHeld = 0, olderUs = 0] = words
    return {
      tokens: Math.max(Math.floor(units * this.partsPerUnit + 0.5), -MOST_PARTS),
      sinceUs,
      newer: { held: newerHeld, untilUs: newerUs },
      older: { held: olderHeld, untilUs: olderUs },
    }
  }

  /** The words of a state. */
  write({ tokens, sinceUs, newer, older }: LeasedState): readonly number[] {
    const words = [tokens / this.partsPerUnit, sinceUs]
    return newer.held + older.held === 0 ? words : [...words, newer.held, newer.untilUs, older.held, older.untilUs]
  }

  /** Brings the state up to now: ends rounds that are over, each at its time, and refills in between. */
  advance(state: LeasedState, nowUs: number): void {
    if (state.older.held > 0 && state.older.untilUs <= nowUs) {
      this.#refill(state, state.older.untilUs)
      state.older = NO_LOT
    }
    if (state.newer.held > 0 && state.newer.untilUs <= nowUs) {
      this.#refill(state, state.newer.untilUs)
      state.newer = NO_LOT
    }
    this.#refill(state, nowUs)
  }

  /** Would `cost` be allowed now? Advance the state first, here and below. */
  fits(state: LeasedState, cost: number): boolean {
    return cost <= this.#capacity && state.tokens >= cost * this.partsPerUnit
  }

  /** Takes `cost`, whether it fits or not. */
  take(state: LeasedState, nowUs: number, cost: number): void {
    // A full bucket equals no bucket, so it starts now, even if it has seen a later time.
    if (state.tokens === this.full) state.sinceUs = nowUs
    state.tokens = Math.max(state.tokens - cost * this.partsPerUnit, -MOST_PARTS)
  }

  /** Adds units, but none in the place of those that are held. */
  refund(state: LeasedState, units: number): void {
    state.tokens = Math.min(state.tokens + units * this.partsPerUnit, this.#most(state))
  }

  /** Takes back what is returned, and then grants. */
  exchange(state: LeasedState, nowUs: number, terms: LeaseTerms): LeaseGrant {
    let isChanged = false
    for (const each of terms.returns) isChanged = this.#takeBack(state, each) || isChanged
    const granted = Math.min(terms.want, Math.max(0, Math.floor(state.tokens / this.partsPerUnit)))
    if (granted === 0) return { granted, roundUs: nowUs, isChanged }
    this.take(state, nowUs, granted)
    return { granted, roundUs: this.#hold(state, granted, nextRoundEndsUs(nowUs, terms)), isChanged: true }
  }

  /** When the state equals no state, if nothing more happens. */
  wholeUs(state: LeasedState): number {
    return this.#reachesUs(state, this.full)
  }

  /**
   * Describes the state after `cost` was taken from it or, if not `allowed`, was refused. Waits count held units as away until
   * their round ends; if nodes report sooner, units come sooner.
   */
  decision(state: LeasedState, nowUs: number, cost: number, allowed: boolean): Decision {
    const { tokens } = state
    const isWhole = tokens === this.full
    const remaining = Math.max(0, Math.floor(tokens / this.partsPerUnit))
    const waitMs = (parts: number) => ceilMs(this.#reachesUs(state, parts) - nowUs)
    return {
      allowed,
      quota: this.#capacity,
      remaining,
      retryAfterMs: allowed ? 0 : cost > this.#capacity ? Infinity : waitMs(cost * this.partsPerUnit),
      nextUnitAfterMs: isWhole ? 0 : waitMs((remaining + 1) * this.partsPerUnit),
      resetAfterMs: isWhole ? 0 : waitMs(this.full),
      delayMs: 0,
    }
  }

  /** When there are so many tokens, if nothing more happens. */
  #reachesUs({ tokens, sinceUs, newer, older }: LeasedState, parts: number): number {
    let [reached, us, held] = [tokens, sinceUs, newer.held + older.held]
    for (const lot of [older, newer]) {
      const most = this.#mostBeside(held)
      if (lot.held === 0 || parts <= most) continue
      // There is no room for so many before the lot ends.
      reached = Math.min(reached + Math.max(0, lot.untilUs - us) * this.partsPerUs, most)
      us = Math.max(us, lot.untilUs)
      held -= lot.held
    }
    return us + Math.max(0, Math.ceil((parts - reached) / this.partsPerUs))
  }

  #most({ newer, older }: LeasedState): number {
    return this.#mostBeside(newer.held + older.held)
  }

  /** The most tokens beside so many held units. After a limit was lowered, more may be held than its capacity. */
  #mostBeside(held: number): number {
    return Math.max(0, this.full - held * this.partsPerUnit)
  }

  #refill(state: LeasedState, nowUs: number): void {
    const gained = Math.max(0, nowUs - state.sinceUs) * this.partsPerUs
    state.tokens = Math.min(state.tokens + gained, this.#most(state))
    state.sinceUs = Math.max(state.sinceUs, nowUs)
  }

  /** A return for a round that is over, or that was joined with another, changes nothing: the units count until that ends. */
  #takeBack(state: LeasedState, { roundUs, spent, unspent }: LeaseReturn): boolean {
    const place = (['newer', 'older'] as const).find((each) => state[each].held > 0 && state[each].untilUs === roundUs)
    if (place === undefined) return false
    const unspentOnes = Math.min(unspent, Math.max(0, state[place].held - spent))
    const held = Math.max(0, state[place].held - spent) - unspentOnes
    state[place] = held === 0 ? NO_LOT : { held, untilUs: roundUs }
    this.refund(state, unspentOnes)
    return true
  }

  /** Returns when the units stop counting. A round of another length may end later: then they count until its end. */
  #hold(state: LeasedState, units: number, untilUs: number): number {
    if (state.newer.held === 0) {
      state.newer = state.older
      state.older = NO_LOT
    }
    const { newer, older } = state
    if (newer.held > 0 && newer.untilUs >= untilUs) {
      state.newer = { held: newer.held + units, untilUs: newer.untilUs }
      return newer.untilUs
    }
    if (newer.held > 0) state.older = { held: older.held + newer.held, untilUs: newer.untilUs }
    state.newer = { held: units, untilUs }
    return untilUs
  }
}
