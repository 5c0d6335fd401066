/** The known name that a misspelt one is closest to, if any is close. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > 40) return undefined
  const furthest = Math.max(2, Math.floor(name.length / 3))
  const near = known
    .map((each) => ({ each, steps: stepsBetween(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, steps }) => steps <= furthest && steps < each.length)
  return near.sort((one, other) => one.steps - other.steps)[0]?.each
}

/** How many letters must be put in, left out or changed. */
function stepsBetween(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...one].entries()) {
    const row = [i + 1]
    for (let j = 0; j < other.length; j++) {
      row.push(Math.min(above[j + 1] + 1, row[j] + 1, above[j] + (other[j] === letter ? 0 : 1)))
    }
    above = row
  }
  return above[other.length]
}
