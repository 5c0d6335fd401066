import type { LiveKey, LiveTopKeys } from './live-events.js'

/** The first keys of a longer list, the largest count first. */
export interface FirstKeys {
  readonly keys: readonly LiveKey[]
  /** The most that a key can have come that is not among them. 0 if all are there. */
  readonly rest: number
}

/** The top keys of one level, or of all together, that one worker counted. */
export interface KeysOfLevel {
  readonly level: string
  readonly sinceMs: number
  readonly byLoad: FirstKeys
  readonly byDenials: FirstKeys
}

/** How many keys a worker gives, and how many of all workers' are told. */
export const KEYS_OF_A_WORKER = 50
const KEYS_TOLD = 20

/** The top keys of all workers. A key that a worker does not name may have come to it as often as its last key. */
export function mergeKeys(workers: readonly KeysOfLevel[]): LiveTopKeys {
  return {
    sinceMs: Math.min(...workers.map(({ sinceMs }) => sinceMs)),
    byLoad: merged(workers.map(({ byLoad }) => byLoad)),
    byDenials: merged(workers.map(({ byDenials }) => byDenials)),
  }
}

/** The first `most` of these keys. */
export function firstKeys(keys: readonly LiveKey[], most: number, rest = 0): FirstKeys {
  const sorted = [...keys].sort(byCount)
  return { keys: sorted.slice(0, most), rest: Math.max(rest, sorted[most]?.count ?? 0) }
}

function merged(lists: readonly FirstKeys[]): readonly LiveKey[] {
  const restOfAll = lists.reduce((sum, { rest }) => sum + rest, 0)
  const found = new Map<string, LiveKey>()
  for (const { keys, rest } of lists)
    for (const { level, key, count, error } of keys) {
      const id = `${level} ${key}`
      const known = found.get(id) ?? { level, key, count: restOfAll, error: restOfAll }
      found.set(id, { level, key, count: known.count - rest + count, error: known.error - rest + error })
    }
  return firstKeys([...found.values()], KEYS_TOLD).keys
}

/** Keys whose counts are sure come before those whose counts may be inherited. */
function byCount(a: LiveKey, b: LiveKey): number {
  return b.count - a.count || a.error - b.error || (a.key < b.key ? -1 : 1)
}
