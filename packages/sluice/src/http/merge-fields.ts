import type { ReadField } from './client-address.js'
import type { Fields } from './dialect.js'

/** Fields that are lists. Each limiter appends to them. */
const LISTS = ['RateLimit-Policy', 'RateLimit', 'Access-Control-Expose-Headers']
/** Fields with room for one limiter. The limiter with fewer units left writes them. */
const SINGLE = ['RateLimit-', 'X-RateLimit-'].map((prefix) => ({
  remaining: `${prefix}Remaining`,
  all: ['Limit', 'Remaining', 'Reset'].map((name) => prefix + name),
}))

/**
 * Merges the fields of a limiter with those that the response has already, and returns the fields to set. The quota of another
 * limiter is never overwritten. `before` reads a field of the response by its name in lower case.
 */
export function mergeFields(fields: Readonly<Fields>, before: ReadField): Readonly<Fields> {
  const theirs: Fields = {}
  let isFirst = true
  for (const name in fields) {
    theirs[name] = before(name.toLowerCase()) ?? ''
    if (theirs[name] !== '') isFirst = false
  }
  return isFirst ? fields : merged(fields, theirs)
}

/**
 * The fields to set when a limiter has written `told` and has newer numbers, `now`. The quotas of other limiters stay as they
 * are: of a list only the limiter's own part is replaced.
 */
export function renewedFields(told: Readonly<Fields>, now: Readonly<Fields>, read: ReadField): Fields {
  const renewed: Fields = {}
  for (const name of LISTS) {
    const text = read(name.toLowerCase()) ?? ''
    if (told[name] && now[name]) renewed[name] = text.replace(told[name], () => now[name])
  }
  for (const { all: names } of SINGLE) {
    const isOwn = names.every((name) => told[name] !== undefined && read(name.toLowerCase()) === told[name])
    if (isOwn) for (const name of names) renewed[name] = now[name]
  }
  return renewed
}

function merged(fields: Readonly<Fields>, theirs: Readonly<Fields>): Fields {
  const all = { ...fields }
  for (const name of LISTS) {
    if (!theirs[name]) continue
    const list = `${theirs[name]}, ${fields[name]}`
    all[name] = name.startsWith('Access') ? withoutDuplicates(list) : list
  }
  for (const { remaining, all: names } of SINGLE) {
    if (!theirs[remaining] || Number(theirs[remaining]) >= Number(fields[remaining])) continue
    for (const name of names) delete all[name]
  }
  if (Number(theirs['Retry-After']) > Number(fields['Retry-After'])) delete all['Retry-After']
  return all
}

function withoutDuplicates(list: string): string {
  const names = list.split(',').map((name) => name.trim())
  return names
    .filter((name, i) => names.findIndex((each) => each.toLowerCase() === name.toLowerCase()) === i)
    .join(', ')
}
