/** Of a text longer than this only the ends are looked at. */
const LONGEST = 64

/**
 * Knows of most texts that they are not in a large set, without touching the set: some bits for each text that is in it
 * (a Bloom filter). A map of a hundred thousand texts lies far apart in memory; these bits do not. Who aims texts at it
 * gains nothing but a look at the set.
 */
export class TextFilter {
  readonly capacity: number
  readonly #bits: Int32Array
  readonly #mask: number

  constructor(capacity: number) {
    this.capacity = capacity
    // Sixteen bits a text, of which it sets two: about one in seventy is looked up in vain.
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
  // The low bits of a product know nothing of the high ones.
  return hash ^ (hash >>> 15)
}

/** Another hash of the same. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return mixed ^ (mixed >>> 13)
}
