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
const KEY = '[a-z*][a-z\\d_.*-]*'
/** Each type begins with other characters, so a text has one reading at most. */
const BARE = [
  /"(?:[ !#-[\]-~]|\\["\\])*"/, // a String
  /-?\d{1,12}\.\d{1,3}|-?\d{1,15}/, // a Decimal or an Integer
  /\?[01]/, // a Boolean
  /[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/, // a Token
  /%"(?:[ !#-$&-~]|%[\da-f]{2})*"/, // a Display String
  /:[A-Za-z\d+/]*={0,2}:/, // bytes
  /@-?\d{1,15}/, // a Date
]
  .map(({ source }) => source)
  .join('|')
const PARAMETERS = `(?:; *${KEY}(?:=(?:${BARE}))?)*`
const INNER_LIST = `\\( *(?:(?:${BARE})${PARAMETERS}(?: +|(?=\\))))*\\)`
const VALUE_AND_PARAMETERS = `(?<value>${BARE}|${INNER_LIST})(?<parameters>${PARAMETERS})`
/** The end of the field, or a comma with another member behind it. */
const END = '(?:$|[ \\t]*,[ \\t]*(?!$))'

const BARE_ITEM = new RegExp(BARE, 'g')
const PARAMETER = new RegExp(`; *(${KEY})(?:=(${BARE}))?`, 'g')
const LIST_MEMBER = new RegExp(VALUE_AND_PARAMETERS + END, 'gy')
const DICTIONARY_MEMBER = new RegExp(`(?<key>${KEY})(?:=${VALUE_AND_PARAMETERS}|${PARAMETERS})${END}`, 'gy')

/** The items of a list. `undefined` if any part of it is malformed: half of a field must not be believed. */
export function parseList(text: string): readonly Item[] | undefined {
  return parseMembers(text, LIST_MEMBER)?.map(([, item]) => item)
}

/** The members of a dictionary: `limit=100, remaining=50`. `undefined` if any part of it is malformed. */
export function parseDictionary(text: string): ReadonlyMap<string, Item> | undefined {
  const members = parseMembers(text, DICTIONARY_MEMBER)
  return members && new Map(members)
}

function parseMembers(text: string, member: RegExp): (readonly [key: string, Item])[] | undefined {
  const field = text.trim()
  if (field.length > LONGEST) return undefined
  const matches = [...field.matchAll(member)]
  if (matches.map(([matched]) => matched).join('') !== field) return undefined
  try {
    return matches.map(({ groups = {} }) => {
      const pairs = [...(groups.parameters ?? '').matchAll(PARAMETER)]
      const parameters = new Map(pairs.map(([, name, bare]) => [name, readBare(bare)]))
      return [groups.key, { value: readBare(groups.value), parameters }]
    })
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** The value of a well-formed item. A key without a value is true. */
function readBare(text: string | undefined): Value {
  if (text === undefined || text === '?1') return true
  if (text === '?0') return false
  if (text.startsWith('"')) return text.slice(1, -1).replace(/\\(.)/g, '$1')
  if (/^[A-Za-z*]/.test(text)) return text
  if (/^[-\d]/.test(text)) return Number(text)
  for (const [bare] of text.startsWith('(') ? text.matchAll(BARE_ITEM) : []) readBare(bare)
  // Throws a URIError if the percent signs of a Display String do not encode UTF-8.
  if (text.startsWith('%')) decodeURIComponent(text.slice(1))
  return null
}
