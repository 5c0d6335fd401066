/**
 * Remembers what the last header blocks of a connection said. A client that repeats a call repeats its block byte for byte,
 * because the block refers to its table. Equal bytes mean equal fields only while the table stays the same, so an entry
 * holds for one version of the table, and a block that changes the table is never kept.
 */
export class BlockCache<T> {
  readonly #entries: Entry<T>[] = []
  #next = 0

  /** What was kept for these bytes and this version of the table. */
  find(bytes: Uint8Array, at: number, end: number, version: number): T | undefined {
    for (const entry of this.#entries)
      if (entry.version === version && isEqual(entry.block, bytes, at, end)) return entry.said
    return undefined
  }

  keep(bytes: Uint8Array, at: number, end: number, version: number, said: T): void {
    if (end - at > MOST_BYTES) return
    this.#entries[this.#next] = { version, block: new Uint8Array(bytes.subarray(at, end)), said }
    this.#next = (this.#next + 1) % MOST_ENTRIES
  }
}

interface Entry<T> {
  readonly version: number
  readonly block: Uint8Array
  readonly said: T
}

const MOST_ENTRIES = 4
const MOST_BYTES = 1024

function isEqual(block: Uint8Array, bytes: Uint8Array, at: number, end: number): boolean {
  const length = end - at
  if (block.length !== length) return false
  for (let i = 0; i < length; i++) if (block[i] !== bytes[at + i]) return false
  return true
}
