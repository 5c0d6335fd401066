import type { PolicyProblem, ReadLevel } from 'sluice'

/** An attribute that a policy names, and where it does so first. */
interface Named {
  readonly path: PolicyProblem['path']
  times: number
}

/** Attributes that mean the same in every policy. */
const KNOWN = ['method', 'path', 'ip']

/**
 * Finds names of attributes that look like a misspelling of another one in the file: `usr` beside `user`, `tenantId` beside
 * `tenant_id`. Requests have one of the two, so a level that asks about the other never matches. The name that is rarer in the file,
 * or later, gets the warning. Names that differ in digits only, such as `tier1` and `tier2`, are meant to differ.
 */
export function findMisspeltAttributes(levels: readonly ReadLevel[]): readonly PolicyProblem[] {
  const named = namesIn(levels)
  const names = [...named.keys()]
  return names.flatMap((name, i) => {
    if (KNOWN.includes(name)) return []
    const { path, times } = named.get(name) as Named
    const isRarer = (other: string, j: number) => {
      const others = named.get(other)?.times ?? 0
      return times < others || (times === others && j < i)
    }
    const meant =
      KNOWN.find((known) => isMisspelling(name, known)) ??
      names.find((other, j) => isMisspelling(name, other) && isRarer(other, j))
    if (meant === undefined) return []
    const message = `'${name}' looks like a misspelling of '${meant}': requests that have only '${meant}' do not match here`
    return [{ path, message }]
  })
}

function namesIn(levels: readonly ReadLevel[]): ReadonlyMap<string, Named> {
  const named = new Map<string, Named>()
  const note = (name: string, path: PolicyProblem['path']) => {
    const known = named.get(name)
    if (known === undefined) named.set(name, { path, times: 1 })
    else known.times++
  }
  for (const [i, { conditions, key, cost, overrides }] of levels.entries()) {
    for (const { attribute } of conditions) note(attribute, ['levels', i, 'when', attribute])
    for (const [k, attribute] of key.entries()) note(attribute, ['levels', i, 'key', k])
    if (typeof cost === 'string') note(cost, ['levels', i, 'cost'])
    for (const [j, override] of overrides.entries())
      for (const { attribute } of override.conditions) note(attribute, ['levels', i, 'overrides', j, 'when', attribute])
  }
  return named
}

/** Do two names differ in capitals and separators only, or in one letter, or in two neighbours that changed places? */
function isMisspelling(name: string, other: string): boolean {
  if (name === other || withoutDigits(name) === withoutDigits(other)) return false
  const [one, two] = [plain(name), plain(other)]
  if (one === two) return true
  const [short, long] = one.length < two.length ? [one, two] : [two, one]
  // Names of three letters are often one letter apart: `app` and `api`.
  if (short.length < 3 || (short.length === 3 && long.length === 3)) return false
  const start = [...short].findIndex((letter, i) => letter !== long[i])
  const from = start < 0 ? short.length : start
  const rest = (text: string, after: number) => text.slice(from + after)
  if (long.length === short.length + 1) return rest(short, 0) === rest(long, 1)
  if (long.length !== short.length) return false
  const isSwapped = short[from] === long[from + 1] && short[from + 1] === long[from]
  return rest(short, 1) === rest(long, 1) || (isSwapped && rest(short, 2) === rest(long, 2))
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_.]/g, '')
}

function withoutDigits(name: string): string {
  return name.replace(/\d+/g, '')
}
