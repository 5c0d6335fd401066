import type { LeaseReturn } from '../../limits/index.js'

/** Units of one grant, or of several of the same round. */
interface Lot {
  /** Names the round to the store. */
  readonly roundUs: number
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

/** The store counts a round and the one before it, so older lots need no report. */
const MOST_LOTS = 2

/**
 * The units of one key that this process holds on lease. A unit is spendable until the end of its own lot, promised to a
 * request, spent, or reported; it never moves to another lot, because that would lengthen its life.
 *
 * Refuses to ask for units: `LeasedKey` does that.
 */
export class Hand {
  /** Oldest first. */
  #lots: Lot[] = []

  /** How many units may be spent now. */
  units(nowMs: number): number {
    let units = 0
    for (const lot of this.#lots) if (lot.untilMs > nowMs) units += lot.units
    return units
  }

  /** Spends `cost` if all of it is there: the usual request in one step. */
  take(nowMs: number, cost: number): boolean {
    for (const lot of this.#lots) {
      if (lot.untilMs <= nowMs || lot.units < cost) continue
      lot.units -= cost
      lot.spent += cost
      return true
    }
    const promised = this.promise(nowMs, cost)
    if (promised === undefined) return false
    this.spend(promised)
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
    return promised
  }

  /** The request was admitted. */
  spend(promised: Promised): void {
    for (const { lot, units } of promised) {
      lot.promised -= units
      lot.spent += units
    }
  }

  /** The request was denied elsewhere: the units may be spent again, each until the end of its lot. */
  release(promised: Promised): void {
    for (const { lot, units } of promised) {
      lot.promised -= units
      lot.units += units
    }
  }

  /** Adds the units of a grant. */
  add(units: number, roundUs: number, untilMs: number): void {
    const newest = this.#lots.at(-1)
    // Of two grants of a round, the earlier end holds for both.
    if (newest !== undefined && newest.roundUs === roundUs && newest.untilMs <= untilMs) newest.units += units
    else this.#lots.push({ roundUs, untilMs, units, promised: 0, spent: 0 })
  }

  /**
   * Says what goes back to the store with the next call: all that was spent, units whose time is over, and spendable units
   * beyond `keep`, the oldest first. From now on they are no longer here, whether the call is answered or not.
   */
  returns(nowMs: number, keep: number): readonly LeaseReturn[] {
    let surplus = Math.max(0, this.units(nowMs) - keep)
    const returns: LeaseReturn[] = []
    for (const lot of this.#lots) {
      const unspent = lot.untilMs <= nowMs ? lot.units : Math.min(surplus, lot.units)
      if (lot.untilMs > nowMs) surplus -= unspent
      if (lot.spent > 0 || unspent > 0) returns.push({ roundUs: lot.roundUs, spent: lot.spent, unspent })
      lot.units -= unspent
      lot.spent = 0
    }
    this.#lots = this.#lots.filter((lot) => lot.units > 0 || lot.promised > 0)
    return returns.slice(-MOST_LOTS)
  }

  /** Is there anything to spend or to report? */
  get isEmpty(): boolean {
    return this.#lots.length === 0
  }
}
