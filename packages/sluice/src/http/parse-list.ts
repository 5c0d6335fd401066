/**
 * A bare item of a structured field (RFC 9651), as far as quotas are told by it: a String or a Token as text, an Integer or
 * a Decimal, a Boolean. `null` is another type (bytes, a Date, a Display String, an Inner List) that was read and says
 * nothing about quotas.
 */
export type Value = string | number | boolean | null

/** A member of a structured field that is a list or a dictionary. */
export interface Item {
  readonly value: Value
  readonly parameters: ReadonlyMap<string, Value>
}

/** As much as Node.js takes of all fields together. */
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
const NONE: Item['parameters'] = new Map()
const SPACES = / */y
const SPACE_OR_END = / +|(?=\))/y
const COMMA = /[ \t]*,[ \t]*/y

/** The items of a list. Nothing, if it is not one as a whole: half of a field is not to be believed. */
export function parseList(text: string): readonly Item[] | undefined {
  return new Parser(text).members(false)?.map(([, item]) => item)
}

/** The members of a dictionary: `limit=100, remaining=50`. */
export function parseDictionary(text: string): ReadonlyMap<string, Item> | undefined {
  const members = new Parser(text).members(true)
  return members && new Map(members)
}

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text.trim()
  }

  members(haveKeys: boolean): [string, Item][] | undefined {
    if (this.#text === '' || this.#text.length > LONGEST) return undefined
    const members: [string, Item][] = []
    for (;;) {
      const key = haveKeys ? this.#match(KEY)?.[0] : ''
      if (key === undefined) return undefined
      const item = this.#item(haveKeys && !this.#skip('=') ? () => true : () => this.#bareOrInnerList())
      if (item === undefined) return undefined
      members.push([key, item])
      if (this.#at === this.#text.length) return members
      if (this.#match(COMMA) === undefined || this.#at === this.#text.length) return undefined
    }
  }

  #item(read: () => Value | undefined): Item | undefined {
    const value = read()
    const parameters = value === undefined ? undefined : this.#parameters()
    return value === undefined || parameters === undefined ? undefined : { value, parameters }
  }

  #parameters(): Item['parameters'] | undefined {
    if (this.#text[this.#at] !== ';') return NONE
    const parameters = new Map<string, Value>()
    while (this.#skip(';')) {
      this.#match(SPACES)
      const key = this.#match(KEY)?.[0]
      if (key === undefined) return undefined
      const value = this.#skip('=') ? this.#bare() : true
      if (value === undefined) return undefined
      parameters.set(key, value)
    }
    return parameters
  }

  #bareOrInnerList(): Value | undefined {
    if (!this.#skip('(')) return this.#bare()
    this.#match(SPACES)
    while (!this.#skip(')')) {
      const item = this.#item(() => this.#bare())
      if (item === undefined || this.#match(SPACE_OR_END) === undefined) return undefined
    }
    return null
  }

  #bare(): Value | undefined {
    const match = this.#match(BARE)
    if (match === undefined) return undefined
    const [, string, number, boolean, token, display] = match
    if (number !== undefined) return Number(number)
    if (boolean !== undefined) return boolean === '1'
    if (display !== undefined && !isUtf8(display)) return undefined
    return string?.replace(/\\(.)/g, '$1') ?? token ?? null
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null) return undefined
    this.#at = pattern.lastIndex
    return match
  }
}

/** Do the percent signs of a text stand for UTF-8? */
function isUtf8(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
