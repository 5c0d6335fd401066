import type { PolicyProblem, ReadLevel } from 'sluice'

/**
 * Finds overrides whose `when` is that of an earlier override of the same level. The first override that matches applies, so the
 * later one never does. The order of conditions, and of the values in a list, does not matter.
 */
export function findHiddenOverrides(levels: readonly ReadLevel[]): readonly PolicyProblem[] {
  return levels.flatMap(({ name, overrides }, i) => {
    const positions = new Map<string, number>()
    return overrides.flatMap(({ conditions }, j) => {
      const text = whenText(conditions)
      const earlier = positions.get(text)
      if (earlier === undefined) {
        positions.set(text, j)
        return []
      }
      const message = `override ${j + 1} of '${name}' never applies: override ${earlier + 1} has the same when`
      return [{ path: ['levels', i, 'overrides', j, 'when'], message }]
    })
  })
}

/** The same text for conditions that mean the same. */
function whenText(conditions: ReadLevel['conditions']): string {
  const texts = conditions.map(({ attribute, written }) => JSON.stringify([attribute, inOrder(written)]))
  return texts.sort().join()
}

function inOrder(written: unknown): unknown {
  if (Array.isArray(written)) return written.map((each) => JSON.stringify(each)).sort()
  if (typeof written !== 'object' || written === null) return [JSON.stringify(written)]
  return Object.fromEntries(Object.entries(written).map(([word, values]) => [word, inOrder(values)]))
}
