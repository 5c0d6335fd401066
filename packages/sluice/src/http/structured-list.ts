/** A member of a structured field that is a list of items, or a dictionary of them (RFC 9651). */
export interface Item {
  readonly value: string | number | boolean
  readonly parameters: ReadonlyMap<string, string | number | boolean>
}

/** As much as Node.js takes of all fields together. */
const LONGEST = 16_384
const KEY = /[a-z*][a-z\d_.*-]*/y
const BARE =
  /"((?:[ !#-[\]-~]|\\["\\])*)"|(-?\d{1,12}\.\d{1,3}|-?\d{1,15})|:([a-z\d+/]*={0,2}):|\?([01])|([a-z*][\w!#$%&'*+.^`|~:/-]*)/iy
const NONE: Item['parameters'] = new Map()
const SPACES = / */y
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
      const value = haveKeys && !this.#skip('=') ? true : this.#bare()
      const parameters = value === undefined ? undefined : this.#parameters()
      if (value === undefined || parameters === undefined) return undefined
      members.push([key, { value, parameters }])
      if (this.#at === this.#text.length) return members
      if (this.#match(COMMA) === undefined || this.#at === this.#text.length) return undefined
    }
  }

  #parameters(): Item['parameters'] | undefined {
    if (this.#text[this.#at] !== ';') return NONE
    const parameters = new Map<string, string | number | boolean>()
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

  #bare(): string | number | boolean | undefined {
    const match = this.#match(BARE)
    if (match === undefined) return undefined
    const [, string, number, bytes, boolean, token] = match
    if (number !== undefined) return Number(number)
    if (boolean !== undefined) return boolean === '1'
    return string?.replace(/\\(.)/g, '$1') ?? bytes ?? token
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
