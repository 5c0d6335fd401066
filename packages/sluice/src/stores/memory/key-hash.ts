/** Hashed with the key, so that a key of plain characters differs from another key that is encoded to the same text. */
const PLAIN = 0xee
const ENCODED = 0xdd

/** Two signed 32-bit integers, which need no boxing. No key's `high` is 0, which marks a free entry, or `OVERFLOW`. */
export interface Fingerprint {
  high: number
  low: number
}

/** The first half of the fingerprint of a state that keys share because the store is full. */
export const OVERFLOW = 1

const CALLS_UNTIL_KNOWN = 64
const LONGEST_KNOWN = 64

/**
 * Makes keyed 64-bit fingerprints of strings, after HalfSipHash-1-3. Without the seed, an attacker cannot make two keys
 * collide. Keys are compared as well-formed text, so a lone surrogate equals U+FFFD.
 */
export class KeyHash {
  private readonly seed0: number
  private readonly seed1: number
  // One key and its halves, for limiters that are asked for the same key again and again.
  private knownKey: string | undefined
  private readonly known: Fingerprint = { high: 0, low: 0 }
  private callsUntilKnown = 1

  constructor(seed: readonly [number, number]) {
    this.seed0 = seed[0] | 0
    this.seed1 = seed[1] | 0
  }

  /** Writes the fingerprint of a key into a record of the caller's. */
  hash(key: string, into: Fingerprint): void {
    if (key === this.knownKey) {
      into.high = this.known.high
      into.low = this.known.low
      return
    }
    this.digest(key, PLAIN, into)
    // Only every 64th key: remembering one costs more than hashing it.
    if (--this.callsUntilKnown === 0) this.know(key, into)
  }

  private know(key: string, { high, low }: Fingerprint): void {
    this.callsUntilKnown = CALLS_UNTIL_KNOWN
    if (key.length > LONGEST_KNOWN) return
    this.knownKey = key
    this.known.high = high
    this.known.low = low
  }

  /**
   * Each round mixes four characters; the last word also has the length, and three more rounds follow. A key with characters
   * above U+00FF is encoded and hashed again. The code is small on purpose: between requests most code falls out of the
   * processor's cache, and a short loop is back soonest.
   */
  private digest(key: string, kind: number, into: Fingerprint): void {
    const length = key.length
    const last = length >> 2
    let v0 = this.seed0
    let v1 = this.seed1 ^ 0xee
    let v2 = 0x6c796765 ^ this.seed0
    let v3 = 0x74656462 ^ this.seed1
    let seen = 0
    let at = 0
    for (let round = 0; round < last + 4; round++) {
      let word = round === last ? length << 24 : 0
      const end = Math.min(length, at + 4)
      for (let shift = 0; at < end; at++, shift += 8) {
        const character = key.charCodeAt(at)
        seen |= character
        word |= character << shift
      }
      v3 ^= word
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
      if (round === last) v2 ^= kind
    }
    if (seen > 0xff) {
      this.digest(encodeURIComponent(key.toWellFormed()), ENCODED, into)
      return
    }
    const high = v1 ^ v3
    into.high = high === 0 || high === OVERFLOW ? 2 : high
    into.low = v0 ^ v2
  }
}
