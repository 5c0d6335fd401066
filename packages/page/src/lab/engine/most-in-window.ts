/**
 * The most units that pass in any interval of a length. An interval is half open: of two requests exactly one length apart,
 * only one is in it.
 *
 * @param atUs when each request passes, in order
 */
export function mostInWindow(atUs: ArrayLike<number>, cost: number, lengthUs: number): number {
  let most = 0
  let first = 0
  for (let last = 0; last < atUs.length; last++) {
    while (atUs[last] - atUs[first] >= lengthUs) first++
    most = Math.max(most, last - first + 1)
  }
  return most * cost
}

/** The length that a limit speaks of: `1m` of a window. Buckets have none. */
export function windowTextOf(limit: object): string | undefined {
  return 'window' in limit && typeof limit.window === 'string' ? limit.window : undefined
}

/** A width of bars that a person can read off: 1, 2 or 5 of a power of ten, so that there are 60 to 150 bars. */
export function barWidthUs(lengthUs: number): number {
  const wanted = lengthUs / 150
  const power = 10 ** Math.floor(Math.log10(wanted))
  const width = [1, 2, 5, 10].find((each) => each * power >= wanted) as number
  return Math.max(1, Math.round(width * power))
}
