/**
 * A keyed 64-bit fingerprint of a string, after HalfSipHash-1-3: nobody who does not know the seed can aim two keys at
 * the same place. Keys are compared as well-formed text, so a lone surrogate is U+FFFD.
 *
 * The two halves are signed 32-bit integers: that is what a typed array and a small integer hold without boxing. The
 * first half is returned and never 0, which marks an empty slot; the second is in `low` until the next call.
 */
export class KeyHash {
  low = 0
  readonly #seed0: number
  readonly #seed1: number

  constructor(seed: readonly [number, number]) {
    this.#seed0 = seed[0] | 0
    this.#seed1 = seed[1] | 0
  }

  /** Four characters a word while all are below U+0100, which nearly every key is; else two. */
  of(key: string): number {
    const length = key.length
    const whole = length & ~3
    let v0 = this.#seed0
    let v1 = this.#seed1 ^ 0xee
    let v2 = 0x6c796765 ^ this.#seed0
    let v3 = 0x74656462 ^ this.#seed1
    let seen = 0
    for (let i = 0; i <= length; i += 4) {
      let word: number
      if (i < whole) {
        const a = key.charCodeAt(i)
        const b = key.charCodeAt(i + 1)
        const c = key.charCodeAt(i + 2)
        const d = key.charCodeAt(i + 3)
        seen |= a | b | c | d
        word = a | (b << 8) | (c << 16) | (d << 24)
      } else {
        // The last word holds what is left and the length.
        word = length << 24
        for (let j = i; j < length; j++) {
          const a = key.charCodeAt(j)
          seen |= a
          word |= a << ((j - i) << 3)
        }
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
    }
    return seen > 0xff ? this.#wide(key.toWellFormed()) : this.#finish(v0, v1, v2 ^ 0xee, v3)
  }

  #wide(key: string): number {
    const length = key.length
    let v0 = this.#seed0
    let v1 = this.#seed1 ^ 0xee
    let v2 = 0x6c796765 ^ this.#seed0
    let v3 = 0x74656462 ^ this.#seed1
    for (let i = 0; i <= length; i += 2) {
      const word =
        i + 1 < length
          ? key.charCodeAt(i) | (key.charCodeAt(i + 1) << 16)
          : (length << 16) | (i < length ? key.charCodeAt(i) : 0)
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
    }
    // Another constant than above: a wide key and a narrow one with the same words are not the same key.
    return this.#finish(v0, v1, v2 ^ 0xdd, v3)
  }

  #finish(v0: number, v1: number, v2: number, v3: number): number {
    for (let round = 0; round < 3; round++) {
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
    }
    this.low = v0 ^ v2
    return v1 ^ v3 || 1
  }
}
