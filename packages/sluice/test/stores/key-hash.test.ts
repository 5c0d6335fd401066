import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Fingerprint, KeyHash } from '../../src/stores/memory/key-hash.js'

/** Both halves of a fingerprint as one number. */
function fingerprint(hash: KeyHash, key: string): bigint {
  const { high, low } = halves(hash, key)
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
}

function halves(hash: KeyHash, key: string): Fingerprint {
  const into = { high: 0, low: 0 }
  hash.hash(key, into)
  return into
}

describe('the hash of a key', () => {
  it('is the same for the same key and seed, and differs for another seed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (key) => {
        expect(fingerprint(new KeyHash([1, 2]), key)).toBe(fingerprint(new KeyHash([1, 2]), key))
        expect(fingerprint(new KeyHash([1, 2]), key)).not.toBe(fingerprint(new KeyHash([1, 3]), key))
        expect(fingerprint(new KeyHash([1, 2]), key)).not.toBe(fingerprint(new KeyHash([2, 2]), key))
      }),
    )
  })

  it('differs for any two keys that differ when they are well-formed', () => {
    const hash = new KeyHash([0x12345678, 0x9abcdef0])
    const key = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.string({ maxLength: 9 }))
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(fingerprint(hash, a) === fingerprint(hash, b)).toBe(a.toWellFormed() === b.toWellFormed())
      }),
      { numRuns: 20_000 },
    )
  })

  it('differs for keys that differ by zeros, padding, halves of characters or their encoding', () => {
    const hash = new KeyHash([7, 11])
    const keys = [
      'a',
      'a\0',
      'a\0\0',
      'a\0\0\0',
      'a\0\0\0\0',
      '\0a',
      'é',
      'Ã©',
      '%C3%A9',
      'ключ',
      encodeURIComponent('ключ'),
    ]
    keys.push(
      '\u0100',
      '\u0001\0',
      '\0\u0001',
      'Ā'.repeat(3),
      'x'.repeat(255),
      'x'.repeat(256),
      'x'.repeat(511),
      'x'.repeat(512),
    )
    expect(new Set(keys.map((key) => fingerprint(hash, key))).size).toBe(keys.length)
  })

  it('is never 0, which marks a free entry', () => {
    const hash = new KeyHash([3, 4])
    for (let i = 0; i < 1_000_000; i++) if (halves(hash, `k${i}`).high === 0) expect.fail(`k${i}`)
  })

  it('spreads similar keys evenly over both halves', () => {
    const hash = new KeyHash([123, 456])
    const keys = 1 << 18
    const buckets = 1 << 10
    const high = new Uint32Array(buckets)
    const low = new Uint32Array(buckets)
    for (let i = 0; i < keys; i++) {
      const fingerprint = halves(hash, `user:${i}`)
      high[fingerprint.high >>> 22]++
      low[fingerprint.low >>> 22]++
    }
    // Chi squared of 1,023 degrees of freedom: 1,023 ± 45; beyond 1,250 has a chance of one in a million.
    const chiSquared = (counts: Uint32Array) =>
      counts.reduce((sum, count) => sum + (count - keys / buckets) ** 2 / (keys / buckets), 0)
    expect(chiSquared(high)).toBeLessThan(1_250)
    expect(chiSquared(low)).toBeLessThan(1_250)
  })

  it('changes half of all bits when one bit of the key changes', () => {
    const hash = new KeyHash([99, 77])
    const bits = new Uint32Array(64)
    const trials = 4_000
    for (let i = 0; i < trials; i++) {
      const a = fingerprint(hash, `key:${i}:x`)
      const b = fingerprint(hash, `key:${i}:y`)
      for (let bit = 0; bit < 64; bit++) bits[bit] += Number(((a ^ b) >> BigInt(bit)) & 1n)
    }
    for (const flips of bits) expect(Math.abs(flips / trials - 0.5)).toBeLessThan(0.05)
  })
})
