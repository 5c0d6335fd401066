/** A key with its count. Its true count is at most `count` and at least `count - error`. */
export interface CountedKey {
  readonly key: string
  readonly count: number
  readonly error: number
}

/**
 * Finds the most frequent keys of a stream in bounded memory: the Space-Saving sketch of Metwally, Agrawal and El Abbadi
 * (2005). It has `capacity` counters. A key without a counter takes over the smallest one, and inherits its count as error.
 *
 * For n keys in the stream, no error exceeds n / capacity, and every key that came more often than that has a counter.
 * Example: of 100,000 requests, with 256 counters, each key with more than 390 is found, and its count is off by at most 390.
 */
export class SpaceSaving {
  readonly #capacity: number
  /** By slot: the key, its hash, its count and its error. */
  readonly #keys: string[] = []
  readonly #hashes: Int32Array
  readonly #counts: Float64Array
  readonly #errors: Float64Array
  /** A binary heap of slots, the smallest count first, and where in it each slot is. */
  readonly #heap: Int32Array
  readonly #places: Int32Array
  /** Slots by hash, with linear probing; -1 is free. A `Map` would take three times as long to forget a key for another. */
  readonly #table: Int32Array
  readonly #mask: number
  #total = 0

  constructor(capacity: number) {
    this.#capacity = capacity
    this.#hashes = new Int32Array(capacity)
    this.#counts = new Float64Array(capacity)
    this.#errors = new Float64Array(capacity)
    this.#heap = new Int32Array(capacity)
    this.#places = new Int32Array(capacity)
    // At most a quarter of it is used.
    const size = 2 ** Math.ceil(Math.log2(4 * capacity))
    this.#table = new Int32Array(size).fill(-1)
    this.#mask = size - 1
  }

  /** How many keys the stream had, with repetitions. */
  get total(): number {
    return this.#total
  }

  /** The most that a key without a counter can have come. */
  get least(): number {
    return this.#keys.length < this.#capacity ? 0 : this.#counts[this.#heap[0]]
  }

  add(key: string): void {
    this.#total++
    const hash = hashOf(key)
    let slot = this.#find(key, hash)
    if (slot < 0) slot = this.#admit(key, hash)
    this.#counts[slot]++
    this.#sink(this.#places[slot])
  }

  /** Every key with a counter, in no order. */
  entries(): readonly CountedKey[] {
    return this.#keys.map((key, slot) => ({ key, count: this.#counts[slot], error: this.#errors[slot] }))
  }

  #find(key: string, hash: number): number {
    for (let i = hash & this.#mask; ; i = (i + 1) & this.#mask) {
      const slot = this.#table[i]
      if (slot < 0 || (this.#hashes[slot] === hash && this.#keys[slot] === key)) return slot
    }
  }

  #admit(key: string, hash: number): number {
    let slot = this.#keys.length
    if (slot < this.#capacity) {
      this.#keys.push(key)
      // Its count is 0, so it belongs to the top.
      this.#rise(slot)
    } else {
      slot = this.#heap[0]
      this.#forget(slot)
      this.#keys[slot] = key
      this.#errors[slot] = this.#counts[slot]
    }
    this.#hashes[slot] = hash
    let i = hash & this.#mask
    while (this.#table[i] >= 0) i = (i + 1) & this.#mask
    this.#table[i] = slot
    return slot
  }

  /** Takes a slot out of the table. Slots behind it move up if their way to their place led over it. */
  #forget(slot: number): void {
    const table = this.#table
    const mask = this.#mask
    let free = this.#hashes[slot] & mask
    while (table[free] !== slot) free = (free + 1) & mask
    for (let i = (free + 1) & mask; table[i] >= 0; i = (i + 1) & mask) {
      const home = this.#hashes[table[i]] & mask
      if (((i - home) & mask) < ((i - free) & mask)) continue
      table[free] = table[i]
      free = i
    }
    table[free] = -1
  }

  /** Puts a new slot with a count of 0 on top of the heap: those above its place move down by one. */
  #rise(slot: number): void {
    const heap = this.#heap
    let place = slot
    while (place > 0) {
      const parent = (place - 1) >> 1
      heap[place] = heap[parent]
      this.#places[heap[place]] = place
      place = parent
    }
    heap[0] = slot
    this.#places[slot] = 0
  }

  /** Moves a slot down until no slot below it has a smaller count. */
  #sink(from: number): void {
    const heap = this.#heap
    const counts = this.#counts
    const size = this.#keys.length
    const slot = heap[from]
    let place = from
    for (let child = 2 * place + 1; child < size; child = 2 * place + 1) {
      if (child + 1 < size && counts[heap[child + 1]] < counts[heap[child]]) child++
      if (counts[heap[child]] >= counts[slot]) break
      heap[place] = heap[child]
      this.#places[heap[place]] = place
      place = child
    }
    heap[place] = slot
    this.#places[slot] = place
  }
}

/** FNV-1a over the code units, and a last mix, because the low bits choose the place in the table. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}

/** The keys of two parts of a stream. A key that one part does not know may have come `least` times in it. */
export function mergedKeys(one: SpaceSaving, other: SpaceSaving): CountedKey[] {
  const merged = new Map<string, CountedKey>()
  for (const { key, count, error } of one.entries())
    merged.set(key, { key, count: count + other.least, error: error + other.least })
  for (const { key, count, error } of other.entries()) {
    const known = merged.get(key)
    if (known === undefined) merged.set(key, { key, count: count + one.least, error: error + one.least })
    else merged.set(key, { key, count: known.count - other.least + count, error: known.error - other.least + error })
  }
  return [...merged.values()]
}
