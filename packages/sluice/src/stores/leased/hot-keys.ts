import { type Fingerprint, KeyHash } from '../memory/key-hash.js'

/** A key that is asked for so often in a lease time is worth a lease, if few keys are leased. */
const HOT = 3
/** An exchange of leases costs as much as several plain decisions, so with many leased keys a further one must be busier. */
const FEW_KEYS = 512
const HOT_AMONG_MANY = 8
/** Counters of a row: a power of two. */
const COUNTERS = 2 ** 16
/** After so many requests the counters start again, so that a crowd of keys that come once does not look like hot keys. */
const MOST_REQUESTS = COUNTERS / 4

/**
 * Finds keys that are asked for often, in a fixed amount of memory: two rows of counters, by two halves of a hash. A key
 * was asked for at most as often as the smaller of its counters says. They start again after each lease time.
 *
 * Example: of a million keys that come once each, at most about 150 look hot, and 3 if 20 of them come in a millisecond.
 */
export class HotKeys {
  readonly #leaseMs: number
  readonly #hash: KeyHash
  readonly #rows = new Uint8Array(2 * COUNTERS)
  readonly #print: Fingerprint = { high: 0, low: 0 }
  #requests = 0
  #endsMs = -Infinity

  /** `random` gives numbers from 0 to 1, for the seed of the hash. */
  constructor(leaseMs: number, random: () => number) {
    const seed = () => Math.floor(random() * 2 ** 32)
    this.#leaseMs = leaseMs
    this.#hash = new KeyHash([seed(), seed()])
  }

  /** Counts a request. Returns whether its key is worth a lease beside so many others. */
  count(name: string, key: string, nowMs: number, leasedKeys: number): boolean {
    if (nowMs >= this.#endsMs || this.#requests >= MOST_REQUESTS) this.#startAgain(nowMs)
    this.#requests++
    this.#hash.hash(name, this.#print)
    const { high, low } = this.#print
    this.#hash.hash(key, this.#print)
    const one = this.#add((this.#print.high ^ high) & (COUNTERS - 1))
    const other = this.#add(COUNTERS + ((this.#print.low ^ low) & (COUNTERS - 1)))
    return Math.min(one, other) >= (leasedKeys < FEW_KEYS ? HOT : HOT_AMONG_MANY)
  }

  #add(at: number): number {
    const count = Math.min(255, this.#rows[at] + 1)
    this.#rows[at] = count
    return count
  }

  #startAgain(nowMs: number): void {
    this.#rows.fill(0)
    this.#requests = 0
    this.#endsMs = nowMs + this.#leaseMs
  }
}

/** A number from 0 to 1. A client that could guess the seed could choose keys that look busy. */
export function secretRandom(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32
}
