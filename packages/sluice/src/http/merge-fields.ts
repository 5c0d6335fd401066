import type { Fields } from './dialects.js'

/** Lists, to which several limiters add. */
const LISTS = ['RateLimit-Policy', 'RateLimit', 'Access-Control-Expose-Headers']
/** Of which there is room for one limiter's only: that of which less is left. */
const SINGLE = ['RateLimit-', 'X-RateLimit-'].map((prefix) => ({
  remaining: `${prefix}Remaining`,
  all: ['Limit', 'Remaining', 'Reset'].map((name) => prefix + name),
}))

/**
 * What to set where another limiter, or whoever else, may have set some of the fields before: nobody's quota is
 * overwritten.
 */
export function mergeFields(fields: Readonly<Fields>, before: (name: string) => string | undefined): Readonly<Fields> {
  let merged: Fields | undefined
  for (const name of LISTS) {
    const [ours, theirs] = [fields[name], fields[name] === undefined ? undefined : before(name)]
    if (theirs === undefined || theirs === '') continue
    merged ??= { ...fields }
    merged[name] = name.startsWith('Access') ? withoutDoubles(`${theirs}, ${ours}`) : `${theirs}, ${ours}`
  }
  for (const { remaining, all } of SINGLE) {
    const theirs = fields[remaining] === undefined ? undefined : before(remaining)
    if (theirs === undefined || Number(theirs) >= Number(fields[remaining])) continue
    merged ??= { ...fields }
    for (const name of all) delete merged[name]
  }
  const retryAfter = fields['Retry-After'] === undefined ? undefined : before('Retry-After')
  if (retryAfter !== undefined && Number(retryAfter) > Number(fields['Retry-After'])) {
    merged ??= { ...fields }
    delete merged['Retry-After']
  }
  return merged ?? fields
}

function withoutDoubles(list: string): string {
  const names = list.split(',').map((name) => name.trim())
  return names
    .filter((name, i) => names.findIndex((each) => each.toLowerCase() === name.toLowerCase()) === i)
    .join(', ')
}
