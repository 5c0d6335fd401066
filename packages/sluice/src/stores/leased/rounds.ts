import { type Clock, setQuietAlarm } from '../../clock.js'
import type { LeasedKey } from './leased-key.js'
import type { Round } from './lender.js'

/** A round of keys whose leases are equally long. */
interface SharedRound extends Round {
  endsMs: number
  readonly leaseMs: number
  readonly keys: Set<LeasedKey>
}

/** A round lasts between these shares of the lease time, so that no node is always the last to ask. */
const SHORTEST = 0.8
const LONGEST = 1.2

/**
 * The rounds of a node. Keys whose leases are equally long end their rounds together, so that they leave in one call. One
 * alarm serves all keys, and there is none while nothing is leased.
 */
export class Rounds {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #ended: (key: LeasedKey) => void
  readonly #rounds = new Map<number, SharedRound>()
  #alarmMs = Infinity
  #stopAlarm: (() => void) | undefined

  /** `random` gives numbers from 0 to 1. `ended` is told the keys that are no longer worth a lease. */
  constructor(clock: Clock, random: () => number, ended: (key: LeasedKey) => void) {
    this.#clock = clock
    this.#random = random
    this.#ended = ended
  }

  /** The round of keys whose leases are for so long. */
  of(leaseMs: number): Round {
    const known = this.#rounds.get(leaseMs)
    if (known !== undefined) return known
    const round: SharedRound = { endsMs: this.#endOf(leaseMs), leaseMs, keys: new Set() }
    this.#rounds.set(leaseMs, round)
    return round
  }

  /** Ends the rounds of a key from now on. */
  add(key: LeasedKey): void {
    const round = this.of(key.limit.leaseUs / 1_000) as SharedRound
    round.keys.add(key)
    if (round.endsMs < this.#alarmMs) this.#setAlarm()
  }

  /** Ends no round any more. */
  stop(): void {
    this.#rounds.clear()
    this.#setAlarm()
  }

  #endOf(leaseMs: number): number {
    return this.#clock.now() + leaseMs * (SHORTEST + (LONGEST - SHORTEST) * this.#random())
  }

  #ring(): void {
    const nowMs = this.#clock.now()
    for (const [leaseMs, round] of this.#rounds) {
      if (round.endsMs > nowMs) continue
      round.endsMs = this.#endOf(leaseMs)
      for (const key of round.keys) {
        if (key.endRound()) continue
        round.keys.delete(key)
        this.#ended(key)
      }
      if (round.keys.size === 0) this.#rounds.delete(leaseMs)
    }
    this.#setAlarm()
  }

  #setAlarm(): void {
    this.#stopAlarm?.()
    this.#stopAlarm = undefined
    this.#alarmMs = Math.min(...[...this.#rounds.values()].map(({ endsMs }) => endsMs))
    if (this.#alarmMs === Infinity) return
    this.#stopAlarm = setQuietAlarm(this.#clock, this.#alarmMs, () => this.#ring())
  }
}
