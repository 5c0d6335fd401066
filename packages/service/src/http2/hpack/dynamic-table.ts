import type { HeaderField } from './header-field.js'

/**
 * The fields that a peer asked to remember: RFC 7541, section 2.3.2. Index 0 is the newest. The table has at most
 * `mostBytes`, each entry counting 32 more than its text, so `mostBytes / 32` entries.
 */
export class DynamicTable {
  readonly mostBytes: number
  /** Changes when the table changes: what was decoded with one version decodes the same while the version stays. */
  version = 0
  #entries: (HeaderField | undefined)[] = []
  /** Where the newest entry is. `#entries` is a ring, whose size is a power of two. */
  #newest = -1
  #length = 0
  #bytes = 0
  #boundBytes: number

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes
    this.#boundBytes = mostBytes
  }

  get length(): number {
    return this.#length
  }

  get bytes(): number {
    return this.#bytes
  }

  at(index: number): HeaderField | undefined {
    if (index >= this.#length) return undefined
    return this.#entries[(this.#newest - index) & (this.#entries.length - 1)]
  }

  /** Adds a field, and drops the oldest for it. A field that is larger than the table empties it, and is no error. */
  add(field: HeaderField): void {
    this.version++
    this.#dropUntil(this.#boundBytes - field.bytes)
    if (field.bytes > this.#boundBytes) return
    if (this.#length === this.#entries.length) this.#grow()
    this.#newest = (this.#newest + 1) & (this.#entries.length - 1)
    this.#entries[this.#newest] = field
    this.#length++
    this.#bytes += field.bytes
  }

  /** The peer's encoder uses at most this many bytes from now on; the caller checks that it may. */
  resize(bytes: number): void {
    this.version++
    this.#boundBytes = bytes
    this.#dropUntil(bytes)
  }

  #dropUntil(bytes: number): void {
    while (this.#length > 0 && this.#bytes > bytes) {
      const oldest = (this.#newest - --this.#length) & (this.#entries.length - 1)
      this.#bytes -= (this.#entries[oldest] as HeaderField).bytes
      this.#entries[oldest] = undefined
    }
  }

  /** Lays the entries out from the oldest to the newest in a ring of twice the size. */
  #grow(): void {
    const entries = Array.from({ length: this.#length }, (_, i) => this.at(this.#length - 1 - i))
    const size = Math.max(8, 2 * this.#length)
    this.#newest = this.#length - 1
    this.#entries = [...entries, ...new Array<undefined>(size - this.#length).fill(undefined)]
  }
}
