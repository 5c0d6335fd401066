import type { Fields } from './dialects.js'

/** Lists, to which several limiters add. */
const LISTS = ['RateLimit-Policy', 'RateLimit', 'Access-Control-Expose-Headers']
/** Of which there is room for one limiter's only: that of which less is left. */
const SINGLE = ['RateLimit-', 'X-RateLimit-'].map((prefix) => ({
  remaining: `${prefix}Remaining`,
  all: ['Limit', 'Remaining', 'Reset'].map((name) => prefix + name),
}))

/** What is set already, by name in lower case. */
export interface FieldsBefore {
  has(name: string): boolean
  get(name: string): string
}

/**
 * What to set where another limiter, or whoever else, may have set some of the fields before: nobody's quota is
 * overwritten.
 */
export function mergeFields(fields: Readonly<Fields>, before: FieldsBefore): Readonly<Fields> {
  for (const name in fields) if (before.has(lowerCase(name))) return merged(fields, before)
  return fields
}

/** The names are few, and making them small takes longer than looking them up. */
const lowered = new Map<string, string>()

export function lowerCase(name: string): string {
  let lower = lowered.get(name)
  if (lower === undefined) {
    lower = name.toLowerCase()
    lowered.set(name, lower)
  }
  return lower
}

function merged(fields: Readonly<Fields>, before: FieldsBefore): Fields {
  const theirs = (name: string) =>
    fields[name] !== undefined && before.has(lowerCase(name)) ? before.get(lowerCase(name)) : ''
  const all = { ...fields }
  for (const name of LISTS) {
    if (theirs(name) === '') continue
    const list = `${theirs(name)}, ${fields[name]}`
    all[name] = name.startsWith('Access') ? withoutDoubles(list) : list
  }
  for (const { remaining, all: names } of SINGLE) {
    if (theirs(remaining) === '' || Number(theirs(remaining)) >= Number(fields[remaining])) continue
    for (const name of names) delete all[name]
  }
  if (Number(theirs('Retry-After')) > Number(fields['Retry-After'])) delete all['Retry-After']
  return all
}

function withoutDoubles(list: string): string {
  const names = list.split(',').map((name) => name.trim())
  return names
    .filter((name, i) => names.findIndex((each) => each.toLowerCase() === name.toLowerCase()) === i)
    .join(', ')
}

/** The fields of a denial that is answered with a body of somebody else's, who says what it is. */
export function withoutBodyFields(fields: Readonly<Fields>): Readonly<Fields> {
  const { 'Content-Type': _type, ...rest } = fields
  return rest
}
