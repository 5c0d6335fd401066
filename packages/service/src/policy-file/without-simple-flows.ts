import { DEEPEST, type MapEntry, type ScalarNode, type SourceNode } from './source-node.js'

/** A mark of the lexer: the next lexeme is the text of a scalar. */
export const SCALAR_NEXT = '\u001f'

const MOST_LEXEMES = 100_000

/** Texts that YAML never reads as a number, boolean or null, and numbers that have only one reading. */
const TEXT = /^(?:[A-Za-z_/]|\d+(?:\.\d+)?(?:\/\d*)?(?:ms|s|m|h|d)$)/
const WORDS = /^(?:true|false|null)$/i
const SIMPLE = /^(?:[[\]{},:]| +|\*[\w.-]+)$/
const NUMBER = /^(?:0|[1-9]\d{0,14})$/

/** Thrown at anything that only the parser can read. */
class NotSimple extends Error {}

/** Marks of the lexer that are not part of the text: a document begins, or a list or map in brackets is cut off. */
const BREAKS_OFF = '\u0018'
const MARKS = ['\u0002', BREAKS_OFF, SCALAR_NEXT]

/**
 * The lexemes of a text, with simple lists and maps in brackets replaced by one scalar each. Simple means: on one line,
 * of plain words and numbers, such as `{ algorithm: token-bucket, capacity: 20, refill: 5/s }`. Their nodes are put into
 * `flows` by offset. Long files consist of these, and the parser takes several times as long to read them.
 */
export function* withoutSimpleFlows(
  text: string,
  lexemes: Iterable<string>,
  flows: Map<number, SourceNode>,
): Iterable<string> {
  let offset = 0
  let depth = 0
  let isText = false
  let start = 0
  let gathered: string[] | undefined
  for (const lexeme of lexemes) {
    const isMark = !isText && MARKS.includes(lexeme)
    const isPunctuation = !isText && !isMark
    if (isPunctuation && (lexeme === '{' || lexeme === '[') && ++depth === 1) {
      gathered = []
      start = offset
    }
    if (isPunctuation && (lexeme === '}' || lexeme === ']')) depth = Math.max(0, depth - 1)
    if (lexeme === BREAKS_OFF && isMark) depth = 0
    if (!isMark) offset += lexeme.length
    if (gathered === undefined) yield lexeme
    else {
      gathered.push(lexeme)
      const isSimple = isText || lexeme === SCALAR_NEXT || (isPunctuation && SIMPLE.test(lexeme))
      if (!isSimple || gathered.length > MOST_LEXEMES) {
        yield* gathered
        gathered = undefined
      } else if (depth === 0) {
        const node = readFlow(gathered, start)
        if (node === undefined) yield* gathered
        else {
          flows.set(start, node)
          yield SCALAR_NEXT
          yield text.slice(start, offset)
        }
        gathered = undefined
      }
    }
    isText = !isText && lexeme === SCALAR_NEXT
  }
  if (gathered !== undefined) yield* gathered
}

/** Reads a list or map in brackets. Returns `undefined` if only the parser can read it. */
function readFlow(lexemes: readonly string[], offset: number): SourceNode | undefined {
  try {
    return new FlowReader(lexemes, offset).value()
  } catch (error) {
    if (!(error instanceof NotSimple)) throw error
    return undefined
  }
}

class FlowReader {
  readonly #lexemes: readonly string[]
  #offset: number
  #at = 0
  #depth = 0

  constructor(lexemes: readonly string[], offset: number) {
    this.#lexemes = lexemes
    this.#offset = offset
  }

  value(): SourceNode {
    const offset = this.#skipSpace()
    const lexeme = this.#take()
    if (lexeme === '{') return { kind: 'map', offset, entries: this.#until('}', () => this.#entry()) }
    if (lexeme === '[') return { kind: 'list', offset, items: this.#until(']', () => this.value()) }
    if (lexeme.startsWith('*')) return { kind: 'alias', offset, name: lexeme.slice(1) }
    return this.#scalar(lexeme, offset)
  }

  #entry(): MapEntry {
    const offset = this.#skipSpace()
    const key = this.#scalar(this.#take(), offset)
    this.#skipSpace()
    this.#expect(':')
    return { key, value: this.value() }
  }

  #until<T>(end: string, each: () => T): T[] {
    const all: T[] = []
    // The parser reports it, with its place.
    if (++this.#depth > DEEPEST) throw new NotSimple()
    for (;;) {
      this.#skipSpace()
      // The list is empty, or has a comma before its end, which YAML allows.
      if (this.#lexemes[this.#at] === end) break
      all.push(each())
      this.#skipSpace()
      if (this.#lexemes[this.#at] === end) break
      this.#expect(',')
    }
    this.#take()
    this.#depth--
    return all
  }

  #scalar(mark: string, offset: number): ScalarNode {
    if (mark !== SCALAR_NEXT) throw new NotSimple()
    const plain = this.#take()
    if (NUMBER.test(plain)) return { kind: 'scalar', offset, value: Number(plain), plain }
    if (TEXT.test(plain) && !WORDS.test(plain)) return { kind: 'scalar', offset, value: plain, plain }
    throw new NotSimple()
  }

  #expect(lexeme: string): void {
    if (this.#take() !== lexeme) throw new NotSimple()
  }

  #take(): string {
    const lexeme = this.#lexemes[this.#at++]
    if (lexeme === undefined) throw new NotSimple()
    if (lexeme !== SCALAR_NEXT) this.#offset += lexeme.length
    return lexeme
  }

  #skipSpace(): number {
    while (this.#lexemes[this.#at]?.startsWith(' ')) this.#take()
    return this.#offset
  }
}
