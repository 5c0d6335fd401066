/**
 * Arrivals that know nothing of each other, `perUs` on average. The same seed gives the same arrivals in every browser, so a
 * link shows everyone the same chart.
 */
export function poissonTimes(perUs: number, lengthUs: number, seed: number): Float64Array {
  const random = seededRandom(seed)
  const times: number[] = []
  for (let at = gapUs(random(), perUs); at < lengthUs; at += gapUs(random(), perUs)) times.push(Math.floor(at))
  return Float64Array.from(times)
}

function gapUs(random: number, perUs: number): number {
  return -Math.log(1 - random) / perUs
}

/** Numbers from 0 to 1 by the generator `mulberry32`: small, and even enough for a chart. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
