/**
 * A WebAssembly module of five functions on the 64-bit cells of an imported shared memory. JavaScript has the same
 * operations for BigInts only, which are allocated for every call. `at` is an address in bytes.
 *
 *     compareExchange(at, hi, lo, newHi, newLo) → 1 if the cell held hi:lo and now holds newHi:newLo, else 0
 *     holds(at, hi, lo)                         → 1 if the cell holds hi:lo, else 0
 *     increment(at)                               adds 1 to the cell
 *
 * Two functions are for an entry at `at`: a cell with a tag, and a cell with a word after it.
 *
 *     entryHolds(at, tagHi, tagLo, hi, lo)                    → 1 if tag, word and again tag are these, else 0
 *     exchangeEntry(at, tagHi, tagLo, hi, lo, newHi, newLo)   → 1 if the tag was this one, the word was changed, and the
 *                                                               tag is still this one, else 0
 */
export function cellsProgram(memory: ThreadMemory): CellsProgram {
  compiled ??= new WebAssembly.Module(
    Uint8Array.from([...HEADER, ...TYPES, ...IMPORTS, ...FUNCTIONS, ...EXPORTS, ...CODE]),
  )
  return new WebAssembly.Instance(compiled, { shared: { memory } }).exports
}

/** Compiled for the first store of a thread. */
let compiled: object | undefined

export interface CellsProgram {
  readonly compareExchange: (at: number, hi: number, lo: number, newHi: number, newLo: number) => number
  readonly holds: (at: number, hi: number, lo: number) => number
  readonly increment: (at: number) => void
  readonly entryHolds: (at: number, tagHi: number, tagLo: number, hi: number, lo: number) => number
  readonly exchangeEntry: (
    at: number,
    tagHi: number,
    tagLo: number,
    hi: number,
    lo: number,
    newHi: number,
    newLo: number,
  ) => number
}

/** A `WebAssembly.Memory` that threads share. */
export interface ThreadMemory {
  readonly buffer: SharedArrayBuffer
}

/** As much of WebAssembly as is used here: the types of Node.js do not have it. */
interface WebAssemblyUsed {
  readonly Memory: new (size: { initial: number; maximum: number; shared: true }) => ThreadMemory
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: CellsProgram }
}

const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyUsed }

const PAGE_BYTES = 65_536

/** Memory of so many bytes, all 0, that threads share. The system provides a page when it is first used. */
export function threadMemory(bytes: number): ThreadMemory {
  const pages = Math.ceil(bytes / PAGE_BYTES)
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
}

export function isThreadMemory(value: unknown): value is ThreadMemory {
  return value instanceof WebAssembly.Memory && value.buffer instanceof SharedArrayBuffer
}

// Opcodes and types, by their names in the WebAssembly text format.
const I32 = 0x7f
const LOCAL_GET = 0x20
const I32_OF_EQUAL_I64 = 0x51
const I64_OR = 0x84
const I64_SHL = 0x86
const I64_CONST = 0x42
const I64_EXTEND_I32_U = 0xad
const I32_AND = 0x71
const I32_CONST = 0x41
const IF_I32 = [0x04, I32]
const ELSE = 0x05
/** The prefix of atomic operations, and those used: each is followed by the alignment, 2^3 bytes, and an offset in bytes. */
const ATOMIC = 0xfe
const LOAD = [ATOMIC, 0x11, 3, 0]
const ADD = [ATOMIC, 0x1f, 3, 0]
const COMPARE_EXCHANGE = [ATOMIC, 0x49, 3, 0]
const LOAD_WORD = [ATOMIC, 0x11, 3, 8]
const COMPARE_EXCHANGE_WORD = [ATOMIC, 0x49, 3, 8]
const DROP = 0x1a
const END = 0x0b

/** The most pages that a memory may have: 4 GiB. */
const MOST_PAGES = [0x80, 0x80, 0x04]

/** A 64-bit number from the parameters `hi` and `lo`. */
function joined(hi: number, lo: number): readonly number[] {
  const upper = [LOCAL_GET, hi, I64_EXTEND_I32_U, I64_CONST, 32, I64_SHL]
  return [...upper, LOCAL_GET, lo, I64_EXTEND_I32_U, I64_OR]
}

/** 1 if the cell at parameter 0 holds the parameters 1 and 2, else 0. */
const HOLDS = [LOCAL_GET, 0, ...LOAD, ...joined(1, 2), I32_OF_EQUAL_I64]
/** The same for the word of an entry, with the parameters 3 and 4. */
const WORD_HOLDS = [LOCAL_GET, 0, ...LOAD_WORD, ...joined(3, 4), I32_OF_EQUAL_I64]
const WORD_CHANGED = [
  ...[LOCAL_GET, 0, ...joined(3, 4), ...joined(5, 6), ...COMPARE_EXCHANGE_WORD],
  ...[...joined(3, 4), I32_OF_EQUAL_I64],
]

const HEADER = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
const TYPES = section(1, [
  [0x60, 5, I32, I32, I32, I32, I32, 1, I32],
  [0x60, 3, I32, I32, I32, 1, I32],
  [0x60, 1, I32, 0],
  [0x60, 7, I32, I32, I32, I32, I32, I32, I32, 1, I32],
])
/** A shared memory (flag 3) of at least 0 and at most 65,536 pages. */
const IMPORTS = section(2, [[...text('shared'), ...text('memory'), 2, 3, 0, ...MOST_PAGES]])
const FUNCTIONS = section(3, [[0], [1], [2], [0], [3]])
const EXPORTS = section(7, [
  [...text('compareExchange'), 0, 0],
  [...text('holds'), 0, 1],
  [...text('increment'), 0, 2],
  [...text('entryHolds'), 0, 3],
  [...text('exchangeEntry'), 0, 4],
])
const CODE = section(10, [
  body([LOCAL_GET, 0, ...joined(1, 2), ...joined(3, 4), ...COMPARE_EXCHANGE, ...joined(1, 2), I32_OF_EQUAL_I64]),
  body(HOLDS),
  body([LOCAL_GET, 0, I64_CONST, 1, ...ADD, DROP]),
  body([...HOLDS, ...WORD_HOLDS, I32_AND, ...HOLDS, I32_AND]),
  body([...HOLDS, ...IF_I32, ...WORD_CHANGED, ...HOLDS, I32_AND, ELSE, I32_CONST, 0, END]),
])

/** A section: its number, its length, and how many items it has. */
function section(id: number, items: readonly (readonly number[])[]): readonly number[] {
  const content = [items.length, ...items.flat()]
  return [id, ...length(content.length), ...content]
}

/** A number below 2^14, 7 bits in a byte. */
function length(bytes: number): readonly number[] {
  return bytes < 128 ? [bytes] : [(bytes & 0x7f) | 0x80, bytes >> 7]
}

/** A function without local variables, of at most 125 bytes. */
function body(code: readonly number[]): readonly number[] {
  return [code.length + 2, 0, ...code, END]
}

function text(characters: string): readonly number[] {
  return [characters.length, ...Array.from(characters, (character) => character.charCodeAt(0))]
}
