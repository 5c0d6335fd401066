// The library's own hash, from its build: it is not part of the public API.
import { KeyHash } from '../../packages/sluice/dist/stores/memory/key-hash.js'

// Read once, because the global is a getter.
const { performance } = globalThis
const originMs = performance.timeOrigin

/** As in the memory store: a fingerprint of 8 bytes and a state of two float64, about two thirds of the entries in use. */
const WORDS_AN_ENTRY = 3
const LOAD = 0.66

/**
 * The least that a decision can cost: hash the key, read the clock, read and write one entry of a typed array, and make a
 * decision object. It has no collisions, arithmetic or checks, and it decides nothing. With many keys the entry's cache
 * line is cold.
 */
export function floor({ capacity }, keys) {
  const hash = new KeyHash([1, 2])
  const fingerprint = { high: 0, low: 0 }
  const entries = Math.ceil(keys / LOAD)
  const words = new Float64Array(entries * WORDS_AN_ENTRY)
  return {
    ask(key) {
      hash.hash(key, fingerprint)
      const { high, low } = fingerprint
      const entry = ((low >>> 0) * entries * 2 ** -32) | 0
      const at = entry * WORDS_AN_ENTRY
      const nowMs = originMs + performance.now()
      const taken = words[at + 1] + 1
      words[at + 1] = taken
      words[at + 2] = nowMs
      return {
        allowed: high !== 0,
        quota: capacity,
        remaining: taken | 0,
        retryAfterMs: 0,
        nextUnitAfterMs: high,
        resetAfterMs: entry,
        delayMs: 0,
      }
    },
    isAllowed: (decision) => decision.allowed,
  }
}
