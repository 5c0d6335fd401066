import {
  DEEPEST,
  type Fault,
  type MapEntry,
  MOST_VALUES,
  type ReadText,
  type SourceNode,
  TOO_DEEP,
  TOO_MANY,
} from './source-node.js'

/** Thrown at the first fault: JSON cannot be read beyond it. */
class JsonFault extends Error implements Fault {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

const OR_YAML = 'or name the file .yaml'
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /[\w$.+-]+/y
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** Reads strict JSON. Not by `JSON.parse`, which gives no positions and hides duplicate keys. */
export function readJson(text: string): ReadText {
  try {
    return { node: new JsonReader(text).read(), faults: [] }
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault
    return { node: undefined, faults: [{ offset: fault.offset, message: fault.message }] }
  }
}

class JsonReader {
  readonly #text: string
  #at = 0
  #depth = 0
  #values = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): SourceNode | undefined {
    if (this.#next() === undefined) return undefined
    const node = this.#value()
    if (this.#next() !== undefined) throw this.#unexpected('the end of the file, because the policy ends before this')
    return node
  }

  #value(): SourceNode {
    this.#values++
    if (this.#values > MOST_VALUES) throw this.#fault(TOO_MANY)
    const offset = this.#at
    switch (this.#next()) {
      case '{':
        return { kind: 'map', offset, entries: this.#inside('}', () => this.#entry()) }
      case '[':
        return { kind: 'list', offset, items: this.#inside(']', () => this.#value()) }
      case '"':
        return { kind: 'scalar', offset, value: this.#string() }
      default:
        return this.#plain()
    }
  }

  #entry(): MapEntry {
    const offset = this.#at
    if (this.#next() !== '"') throw this.#unexpected('a key in double quotes')
    const key: SourceNode = { kind: 'scalar', offset, value: this.#string() }
    if (this.#next() !== ':') throw this.#unexpected("':' after the key")
    this.#at++
    this.#next()
    return { key, value: this.#value() }
  }

  #inside<T>(end: string, each: () => T): T[] {
    const all: T[] = []
    if (++this.#depth > DEEPEST) throw this.#fault(TOO_DEEP)
    this.#at++
    if (this.#next() !== end) {
      for (;;) {
        all.push(each())
        if (this.#next() === end) break
        if (this.#next() !== ',') throw this.#unexpected(`',' or '${end}'`)
        const comma = this.#at++
        if (this.#next() === end)
          throw new JsonFault(comma, `JSON has no comma before '${end}': leave it out, ${OR_YAML}`)
      }
    }
    this.#at++
    this.#depth--
    return all
  }

  #string(): string {
    const begin = this.#at
    for (let at = begin + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at)
      if (code === 34) {
        this.#at = at + 1
        return this.#unescaped(begin, at + 1)
      }
      if (code === 92) at++
      else if (code < 32)
        throw new JsonFault(at, "a text has a line break or control character: write '\\n' or the like")
    }
    throw this.#fault('this text has no closing quote')
  }

  #unescaped(begin: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(begin, end)) as string
    } catch {
      throw new JsonFault(begin, 'this text has an escape that JSON does not know')
    }
  }

  #plain(): SourceNode {
    const offset = this.#at
    WORD.lastIndex = offset
    const word = WORD.exec(this.#text)?.[0] ?? ''
    NUMBER.lastIndex = offset
    const isNumber = word !== '' && NUMBER.exec(this.#text)?.[0] === word
    const value = isNumber ? Number(word) : WORDS.get(word)
    if (value === undefined) throw this.#unexpected('a value')
    this.#at += word.length
    return { kind: 'scalar', offset, value, plain: word }
  }

  /** Skips white space. Returns the next character, or `undefined` at the end. */
  #next(): string | undefined {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? '!')) this.#at++
    return this.#text[this.#at]
  }

  #fault(message: string): JsonFault {
    return new JsonFault(this.#at, message)
  }

  #unexpected(wanted: string): JsonFault {
    const found = this.#text[this.#at]
    if (found === undefined) return this.#fault(`${wanted} is missing: the file ends here`)
    if (found === '/' || found === '#') return this.#fault(`JSON has no comments: leave it out, ${OR_YAML}`)
    if (found === "'") return this.#fault(`texts in JSON are in double quotes: write them so, ${OR_YAML}`)
    WORD.lastIndex = this.#at
    const word = WORD.exec(this.#text)?.[0].slice(0, 40)
    const advice = word !== undefined && /^[a-z_]/i.test(word) ? ` (texts are in double quotes in JSON: "${word}")` : ''
    return this.#fault(
      `expected ${wanted}, found '${word ?? String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)}'${advice}`,
    )
  }
}
