/**
 * A bare item of a structured field (RFC 9651), as far as quotas need it: a String or a Token as text, an Integer or a Decimal
 * as number, a Boolean. `null` stands for every other type (bytes, a Date, a Display String, an Inner List).
 */
export type Value = string | number | boolean | null

/** A member of a structured field that is a list or a dictionary. */
export interface Item {
  readonly value: Value
  readonly parameters: ReadonlyMap<string, Value>
}

/** The largest size that Node.js accepts for all fields together. */
const LONGEST = 16_384
const KEY = /[a-z*][a-z\d_.*-]*/y
const BARE = new RegExp(
  [
    /"((?:[ !#-[\]-~]|\\["\\])*)"/, // a String
    /(-?\d{1,12}\.\d{1,3}|-?\d{1,15})/, // a Decimal or an Integer
    /\?([01])/, // a Boolean
    /([A-Za-z*][\w!#$%&'*+.^`|~:/-]*)/, // a Token
    /%"((?:[ !#-$&-~]|%[\da-f]{2})*)"/, // a Display String
    /:[A-Za-z\d+/]*={0,2}:/, // bytes
    /@-?\d{1,15}/, // a Date
  ]
    .map(({ source }) => source)
    .join('|'),
  'y',
)

/** The items of a list. `undefined` if any part of it is malformed: half of a field must not be believed. */
export function parseList(text: string): readonly Item[] | undefined {
  return parseAll(text, (reader) => reader.members(false).map(([, item]) => item))
}

/** The members of a dictionary: `limit=100, remaining=50`. `undefined` if any part of it is malformed. */
export function parseDictionary(text: string): ReadonlyMap<string, Item> | undefined {
  return parseAll(text, (reader) => new Map(reader.members(true)))
}

const MALFORMED = new Error('malformed')

function parseAll<T>(text: string, parse: (reader: FieldReader) => T): T | undefined {
  try {
    return parse(new FieldReader(text))
  } catch (error) {
    if (error === MALFORMED || error instanceof URIError) return undefined
    throw error
  }
}

/** Reads a field from left to right. Every method throws `MALFORMED` if the text does not go on as it must. */
class FieldReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text.trim()
    if (this.#text === '' || this.#text.length > LONGEST) throw MALFORMED
  }

  members(haveKeys: boolean): [string, Item][] {
    const members: [string, Item][] = []
    do {
      const key = haveKeys ? this.#match(KEY)[0] : ''
      const value = haveKeys && !this.#skip('=') ? true : this.#skip('(') ? this.#innerList() : this.#bare()
      members.push([key, { value, parameters: this.#parameters() }])
      if (this.#at === this.#text.length) return members
    } while (this.#match(/[ \t]*,[ \t]*/y))
    return members
  }

  #parameters(): Item['parameters'] {
    const parameters = new Map<string, Value>()
    while (this.#skip(';')) {
      this.#match(/ */y)
      const [key] = this.#match(KEY)
      parameters.set(key, this.#skip('=') ? this.#bare() : true)
    }
    return parameters
  }

  #innerList(): null {
    this.#match(/ */y)
    while (!this.#skip(')')) {
      this.#bare()
      this.#parameters()
      this.#match(/ +|(?=\))/y)
    }
    return null
  }

  #bare(): Value {
    const [, string, number, boolean, token, display] = this.#match(BARE)
    if (number !== undefined) return Number(number)
    if (boolean !== undefined) return boolean === '1'
    // Throws a URIError if the percent signs do not encode UTF-8.
    if (display !== undefined) decodeURIComponent(display)
    return string?.replace(/\\(.)/g, '$1') ?? token ?? null
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null) throw MALFORMED
    this.#at = pattern.lastIndex
    return match
  }
}
