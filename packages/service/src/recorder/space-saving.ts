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
 * Example: of 100,000 requests, with 128 counters, each key with more than 781 is found, and its count is off by at most 781.
 */
export class SpaceSaving {
  /** By slot: the key, its hash, its count and its error. A slot with a count of 0 has no key yet. */
  readonly #keys: string[]
  readonly #hashes: Int32Array
  readonly #counts: Float64Array
  readonly #errors: Float64Array
  /** All slots in the order of their counts, the smallest first, and where in it each slot is. */
  readonly #order: Int32Array
  readonly #places: Int32Array
  /** Slots of equal counts are a group. By slot its group, by group its last place in the order. */
  readonly #groups: Int32Array
  readonly #lastPlaces: Int32Array
  readonly #freeGroups: Int32Array
  #freeCount: number
  /** Slots by hash, with linear probing; -1 is free. A `Map` takes longer to forget a key for another. */
  readonly #table: Int32Array
  readonly #mask: number
  #total = 0

  constructor(capacity: number) {
    this.#keys = new Array<string>(capacity).fill('')
    this.#hashes = new Int32Array(capacity)
    this.#counts = new Float64Array(capacity)
    this.#errors = new Float64Array(capacity)
    this.#order = Int32Array.from({ length: capacity }, (_, slot) => slot)
    this.#places = Int32Array.from(this.#order)
    // Group 0 has all slots. There are never more groups than slots.
    this.#groups = new Int32Array(capacity)
    this.#lastPlaces = new Int32Array(capacity).fill(capacity - 1)
    this.#freeGroups = Int32Array.from({ length: capacity }, (_, i) => capacity - 1 - i)
    this.#freeCount = capacity - 1
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
    return this.#counts[this.#order[0]]
  }

  /** `hash` is that of the key, if the caller has it: see `hashOf`. */
  add(key: string, hash = hashOf(key)): void {
    this.#total++
    let slot = this.#find(key, hash)
    if (slot < 0) slot = this.#admit(key, hash)
    this.#increment(slot)
  }

  /** Every key with a counter, in no order. */
  entries(): readonly CountedKey[] {
    const all = this.#keys.map((key, slot) => ({ key, count: this.#counts[slot], error: this.#errors[slot] }))
    return all.filter(({ count }) => count > 0)
  }

  #find(key: string, hash: number): number {
    for (let i = hash & this.#mask; ; i = (i + 1) & this.#mask) {
      const slot = this.#table[i]
      if (slot < 0 || (this.#hashes[slot] === hash && this.#keys[slot] === key)) return slot
    }
  }

  /** Gives the slot with the smallest count to a new key. */
  #admit(key: string, hash: number): number {
    const slot = this.#order[0]
    if (this.#counts[slot] > 0) this.#forget(slot)
    this.#keys[slot] = key
    this.#hashes[slot] = hash
    this.#errors[slot] = this.#counts[slot]
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

  /**
   * Adds 1 to a slot's count. The slot goes to the last place of its group, which then belongs to the group of the next
   * count: that of the place behind it, or a new one. So the order stays right with one exchange of places.
   */
  #increment(slot: number): void {
    const order = this.#order
    const groups = this.#groups
    const group = groups[slot]
    const end = this.#lastPlaces[group]
    this.#exchange(slot, end)
    const count = this.#counts[slot] + 1
    this.#counts[slot] = count
    const isAlone = end === 0 || groups[order[end - 1]] !== group
    const next = end + 1 < order.length ? order[end + 1] : -1
    if (next >= 0 && this.#counts[next] === count) {
      groups[slot] = groups[next]
      if (isAlone) this.#freeGroups[this.#freeCount++] = group
      else this.#lastPlaces[group] = end - 1
    } else if (!isAlone) {
      this.#lastPlaces[group] = end - 1
      groups[slot] = this.#freeGroups[--this.#freeCount]
      this.#lastPlaces[groups[slot]] = end
    }
  }

  #exchange(slot: number, place: number): void {
    const other = this.#order[place]
    const from = this.#places[slot]
    this.#order[from] = other
    this.#places[other] = from
    this.#order[place] = slot
    this.#places[slot] = place
  }
}

/** FNV-1a over the code units, and a last mix, because the low bits choose the place in the table. */
export function hashOf(key: string): number {
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
