import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CountedKey, mergedKeys, SpaceSaving } from '../../dist/recorder/space-saving.js'

/** Streams in which some keys are much more frequent than others. */
const streams = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c') },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 20 }).map((id) => `some:${id}`) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 1_000 }).map((id) => `rare:${id}`) },
  ),
  { maxLength: 600 },
)

function sketchOf(stream: readonly string[], capacity: number): SpaceSaving {
  const sketch = new SpaceSaving(capacity)
  for (const key of stream) sketch.add(key)
  return sketch
}

function exactly(stream: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of stream) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** The promises of the sketch, for a stream of this many keys. `most` is the largest error that it may have. */
function checkCounts(found: readonly CountedKey[], exact: Map<string, number>, most: number): void {
  for (const { key, count, error } of found) {
    const truth = exact.get(key) ?? 0
    expect(count).toBeGreaterThanOrEqual(truth)
    expect(count - error).toBeLessThanOrEqual(truth)
    expect(error).toBeLessThanOrEqual(most)
  }
  const keys = new Set(found.map(({ key }) => key))
  for (const [key, count] of exact) if (count > most) expect(keys.has(key), key).toBe(true)
}

describe('a Space-Saving sketch', () => {
  it('is exact as long as it has a counter for every key', () => {
    fc.assert(
      fc.property(streams, (stream) => {
        const exact = exactly(stream)
        const found = sketchOf(stream, Math.max(1, exact.size)).entries()
        expect(new Map(found.map(({ key, count }) => [key, count]))).toEqual(exact)
        expect(found.every(({ error }) => error === 0)).toBe(true)
      }),
    )
  })

  it('states bounds that hold for every key, and misses no frequent key', () => {
    fc.assert(
      fc.property(streams, fc.integer({ min: 1, max: 40 }), (stream, capacity) => {
        const sketch = sketchOf(stream, capacity)
        const found = sketch.entries()
        expect(found.length).toBeLessThanOrEqual(capacity)
        expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(stream.length)
        expect(sketch.total).toBe(stream.length)
        expect(sketch.least).toBe(found.length < capacity ? 0 : Math.min(...found.map(({ count }) => count)))
        checkCounts(found, exactly(stream), stream.length / capacity)
      }),
      { numRuns: 500 },
    )
  })

  it('keeps its promises when two parts of a stream are put together', () => {
    fc.assert(
      fc.property(streams, streams, fc.integer({ min: 1, max: 40 }), (one, other, capacity) => {
        const found = mergedKeys(sketchOf(one, capacity), sketchOf(other, capacity))
        expect(new Set(found.map(({ key }) => key)).size).toBe(found.length)
        checkCounts(found, exactly([...one, ...other]), (one.length + other.length) / capacity)
      }),
      { numRuns: 500 },
    )
  })
})
