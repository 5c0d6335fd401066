import type { LeaseReturn } from '../../limits/index.js'
import type { LeaseAnswer } from '../leases.js'

/** Units of one grant, or of several of the same round. */
interface Lot {
  /** Names the round to the store. */
  readonly roundUs: number
  /** When the units count as taken, by the store's clock. */
  readonly takenUs: number
  /** The units may be spent until then, by the clock of this process. */
  readonly untilMs: number
  /** Units that may be spent. */
  units: number
  /** Units that were promised to a request which is not decided yet. */
  promised: number
  /** Units that were spent and not reported. */
  spent: number
}

/** Units that a request was promised, lot by lot. Ends with `spend` or `release`. */
export type Promised = readonly { readonly lot: Lot; readonly units: number }[]

/** What goes back to the store: the returns, how many of the units may still be of use there, and how many came too late. */
export interface Returned {
  readonly returns: readonly LeaseReturn[]
  readonly inTime: number
  readonly tooLate: number
}

type Grant = Pick<LeaseAnswer, 'granted' | 'roundUs' | 'lastsMs'>

/** Clocks of this process and of the store may differ in speed by one in a hundred. */
const SURE = 0.99
/** The store counts a round of a bucket and the one before it, so spent units of older lots need no report. */
const REPORTED_LOTS = 2

/**
 * The units of one key that this process holds on lease. A unit is spendable until the end of its own lot, promised to a
 * request, spent, or reported; it never moves to another lot, because that would lengthen its life.
 *
 * Times must never step back. Refuses to ask for units: `LeasedKey` does that.
 */
export class Hand {
  /** Oldest first. */
  #lots: Lot[] = []
  /** The first lot with units that may be spent, and the units of all such lots. Both are right until `#countedUntilMs`. */
  #first: Lot | undefined
  #units = 0
  #countedUntilMs = Infinity
  /** When the units that were spent last count as taken, by the store's clock. */
  takenUs = 0

  /** How many units may be spent now. */
  units(nowMs: number): number {
    if (nowMs >= this.#countedUntilMs) this.#count(nowMs)
    return this.#units
  }

  /** Units that are neither spent nor returned, also those whose time is over. */
  get held(): number {
    return this.#lots.reduce((sum, { units, promised }) => sum + units + promised, 0)
  }

  /** Spends `cost` if all of it is there: the usual request in one step. */
  take(nowMs: number, cost: number): boolean {
    if (nowMs >= this.#countedUntilMs) this.#count(nowMs)
    if (cost > this.#units) return false
    const first = this.#first
    if (first === undefined || first.units < cost) {
      this.spend(this.promise(nowMs, cost) ?? [])
      return true
    }
    first.units -= cost
    first.spent += cost
    this.#units -= cost
    this.takenUs = first.takenUs
    return true
  }

  /** Sets `cost` aside if all of it is there. */
  promise(nowMs: number, cost: number): Promised | undefined {
    if (this.units(nowMs) < cost) return undefined
    const promised: { lot: Lot; units: number }[] = []
    let left = cost
    for (const lot of this.#lots) {
      const units = lot.untilMs > nowMs ? Math.min(left, lot.units) : 0
      if (units === 0) continue
      lot.units -= units
      lot.promised += units
      left -= units
      promised.push({ lot, units })
    }
    this.#count(nowMs)
    return promised
  }

  /** Are some of these units over? Then they must be released, and not spent. */
  isOver(promised: Promised, nowMs: number): boolean {
    return promised.some(({ lot }) => lot.untilMs <= nowMs)
  }

  /** The request was admitted. */
  spend(promised: Promised): void {
    for (const { lot, units } of promised) {
      lot.promised -= units
      lot.spent += units
    }
    // Of units of several lots, those of the oldest are the first to be of no use to a refund.
    if (promised.length > 0) this.takenUs = promised[0].lot.takenUs
  }

  /** The request was denied elsewhere: the units may be spent again, each until the end of its lot. */
  release(promised: Promised, nowMs: number): void {
    for (const { lot, units } of promised) {
      lot.promised -= units
      lot.units += units
    }
    this.#count(nowMs)
  }

  /**
   * Adds the units of a grant, which was asked for at `sentMs`. Returns false if they are over already: then they go back with the
   * next call.
   */
  add({ granted, roundUs, lastsMs }: Grant, sentMs: number, nowMs: number): boolean {
    const untilMs = sentMs + SURE * lastsMs
    const newest = this.#lots.at(-1)
    const isSameLot = newest?.roundUs === roundUs && newest.untilMs <= untilMs && newest.untilMs > nowMs
    // Of two grants of a round, the earlier end holds for both.
    if (isSameLot) newest.units += granted
    else {
      const takenUs = Math.round(roundUs - lastsMs * 1_000)
      this.#lots.push({ roundUs, takenUs, untilMs, units: granted, promised: 0, spent: 0 })
    }
    this.#count(nowMs)
    return untilMs > nowMs
  }

  /**
   * Says what goes back to the store with the next call: all that was spent, units whose time is over, and spendable units
   * beyond `keep`, the oldest first. From now on they are no longer here, whether the call is answered or not.
   */
  takeReturns(nowMs: number, keep: number): Returned {
    let surplus = Math.max(0, this.units(nowMs) - keep)
    let inTime = 0
    let tooLate = 0
    const returns: LeaseReturn[] = []
    for (const [i, lot] of this.#lots.entries()) {
      const isOver = lot.untilMs <= nowMs
      const unspent = isOver ? lot.units : Math.min(surplus, lot.units)
      if (isOver) tooLate += unspent
      else {
        inTime += unspent
        surplus -= unspent
      }
      const isReported = lot.spent > 0 && i >= this.#lots.length - REPORTED_LOTS
      if (unspent > 0 || isReported) returns.push({ roundUs: lot.roundUs, spent: lot.spent, unspent })
      lot.units -= unspent
      lot.spent = 0
    }
    this.#lots = this.#lots.filter((lot) => lot.units > 0 || lot.promised > 0)
    this.#count(nowMs)
    return { returns, inTime, tooLate }
  }

  /** Is there nothing to spend and nothing to report? */
  get isEmpty(): boolean {
    return this.#lots.length === 0
  }

  #count(nowMs: number): void {
    this.#first = undefined
    this.#units = 0
    this.#countedUntilMs = Infinity
    for (const lot of this.#lots) {
      if (lot.untilMs <= nowMs || lot.units === 0) continue
      this.#first ??= lot
      this.#units += lot.units
      this.#countedUntilMs = Math.min(this.#countedUntilMs, lot.untilMs)
    }
  }
}
