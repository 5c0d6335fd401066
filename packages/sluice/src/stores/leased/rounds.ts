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
const SHORTEST = 0.85
const LONGEST = 1.2
/** The first time of a further round may be shorter, so that rounds which begin together do not end together. */
const SHORTEST_FIRST = 0.4
/** The most keys of a round: so many calls at once keep a store busy for a few milliseconds, and not beyond its deadline. */
const MOST_KEYS = 256

/**
 * The rounds of a node. Keys whose leases are equally long share rounds, so that they leave in one call. If there are many, they
 * share several rounds, which end at different times. One alarm serves all keys, and there is none while nothing is leased.
 */
export class Rounds {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #ended: (key: LeasedKey) => void
  readonly #rounds = new Set<SharedRound>()
  #alarmMs = Infinity
  #stopAlarm: (() => void) | undefined

  /** `random` gives numbers from 0 to 1. `ended` is told the keys that are no longer worth a lease. */
  constructor(clock: Clock, random: () => number, ended: (key: LeasedKey) => void) {
    this.#clock = clock
    this.#random = random
    this.#ended = ended
  }

  /** Makes a key whose leases are for so long, and ends its rounds from now on. */
  add(leaseMs: number, make: (round: Round) => LeasedKey): LeasedKey {
    const round = this.#withRoom(leaseMs) ?? this.#newRound(leaseMs)
    const key = make(round)
    round.keys.add(key)
    if (round.endsMs < this.#alarmMs) this.#setAlarm()
    return key
  }

  /** Ends no round any more. */
  stop(): void {
    this.#rounds.clear()
    this.#setAlarm()
  }

  #withRoom(leaseMs: number): SharedRound | undefined {
    for (const round of this.#rounds) if (round.leaseMs === leaseMs && round.keys.size < MOST_KEYS) return round
    return undefined
  }

  #newRound(leaseMs: number): SharedRound {
    const shortest = this.#rounds.size === 0 ? SHORTEST : SHORTEST_FIRST
    const round = { endsMs: this.#endOf(leaseMs, shortest), leaseMs, keys: new Set<LeasedKey>() }
    this.#rounds.add(round)
    return round
  }

  #endOf(leaseMs: number, shortest = SHORTEST): number {
    return this.#clock.now() + leaseMs * (shortest + (LONGEST - shortest) * this.#random())
  }

  #ring(): void {
    const nowMs = this.#clock.now()
    for (const round of this.#rounds) {
      if (round.endsMs > nowMs) continue
      round.endsMs = this.#endOf(round.leaseMs)
      for (const key of round.keys) {
        if (key.endRound()) continue
        round.keys.delete(key)
        this.#ended(key)
      }
      if (round.keys.size === 0) this.#rounds.delete(round)
    }
    this.#setAlarm()
  }

  #setAlarm(): void {
    this.#stopAlarm?.()
    this.#stopAlarm = undefined
    this.#alarmMs = Math.min(...[...this.#rounds].map(({ endsMs }) => endsMs))
    if (this.#alarmMs === Infinity) return
    this.#stopAlarm = setQuietAlarm(this.#clock, this.#alarmMs, () => this.#ring())
  }
}
