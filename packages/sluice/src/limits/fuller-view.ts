import type { Arithmetic } from './arithmetic.js'

/**
 * Of two views of a key, the one that knows more of what was taken: the longer window, then the one with more slices, then
 * the one that begins at the epoch. It is what a new view is a copy of, in every store.
 */
export function fullerView(one: Arithmetic, other: Arithmetic): Arithmetic {
  const [a, b] = [rankOf(one), rankOf(other)]
  const place = a.findIndex((each, i) => each !== b[i])
  return place < 0 || a[place] > b[place] ? one : other
}

/** The window in microseconds, the slices, and whether it begins at the epoch. */
function rankOf({ limit, twin }: Arithmetic): readonly number[] {
  const slices = 'slices' in limit ? (limit.slices ?? 1) : 1
  return [twin.parameters[0], slices, 'align' in limit ? 0 : 1]
}
