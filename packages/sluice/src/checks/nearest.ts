/**
 * The known name that a misspelt one is closest to, if any is close: `nearest('capasity', ['capacity', 'refill'])` is
 * `'capacity'`.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > 40) return undefined
  let best: string | undefined
  let bestDistance = largestDistance(name.length) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** How many letters may differ. Short names allow fewer, because almost any name is close to a short one. */
function largestDistance(length: number): number {
  return length > 3 ? Math.max(2, Math.floor(length / 3)) : Math.min(1, length - 1)
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}
