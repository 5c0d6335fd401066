// The keys of calls, as numbers that are made beforehand. The measured loop makes a fresh string of each.

/** Every key once, in order. */
export function everyId(keys) {
  const ids = new Uint32Array(keys)
  for (let i = 0; i < keys; i++) ids[i] = i
  return ids
}

/** The keys of `calls` calls, drawn at random (xorshift): the same ones for every contender. */
export function randomIds(keys, calls, seed = 1) {
  const ids = new Uint32Array(calls)
  let x = seed
  for (let i = 0; i < calls; i++) {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    ids[i] = ((x >>> 0) / 2 ** 32) * keys
  }
  return ids
}
