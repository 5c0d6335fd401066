/** Of a longer text, only the first and the last 32 characters are hashed. */
const LONGEST = 64

/**
 * A Bloom filter: says of most texts that are not in a large set that they are not, without touching the set. A map of
 * 100,000 texts is spread over memory; these bits are not. A text that passes the filter by accident, or by an attack,
 * costs one look-up in the set.
 */
export class TextFilter {
  readonly capacity: number
  readonly #bits: Int32Array
  readonly #mask: number

  constructor(capacity: number) {
    this.capacity = capacity
    // Sixteen bits for each text, two of them set: about one look-up in seventy is in vain.
    const size = 2 ** Math.ceil(Math.log2(Math.max(64, capacity * 16)))
    this.#bits = new Int32Array(size / 32)
    this.#mask = size - 1
  }

  add(text: string): void {
    const hash = hashOf(text)
    for (const bit of [hash & this.#mask, spread(hash) & this.#mask]) this.#bits[bit >>> 5] |= 1 << (bit & 31)
  }

  mayHave(text: string): boolean {
    const hash = hashOf(text)
    const first = hash & this.#mask
    if ((this.#bits[first >>> 5] & (1 << (first & 31))) === 0) return false
    const second = spread(hash) & this.#mask
    return (this.#bits[second >>> 5] & (1 << (second & 31))) !== 0
  }
}

/** FNV-1a over the characters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5 ^ text.length
  const { length } = text
  const head = length > LONGEST ? LONGEST / 2 : length
  for (let i = 0; i < head; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  for (let i = Math.max(head, length - LONGEST / 2); i < length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  }
  // The low bits of a product do not depend on the high bits of its factors.
  return hash ^ (hash >>> 15)
}

/** A second hash, made from the first. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return mixed ^ (mixed >>> 13)
}
