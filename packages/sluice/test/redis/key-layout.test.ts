import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeyLayout } from '../../src/stores/redis/key-layout.js'

const layout = new KeyLayout('sluice:')
const at = (name: string, key: string) => layout.of('token-bucket', name, layout.tagOf(key))

test('a Redis key can be read', () => {
  expect(at('search', 'user:42')).toBe('sluice:t:{user:42}search')
  expect(at('a}b', '{x}%')).toBe('sluice:t:{%7Bx%7D%25}a%7Db')
})

test('long names and keys are kept by their hash, which is no other key', () => {
  const long = at('search', 'k'.repeat(10_000_000))
  expect(long.length).toBeLessThan(80)
  const tag = /\{(.*)\}/.exec(long)?.[1] ?? ''
  expect(at('search', tag)).not.toBe(long)
  expect(at('n'.repeat(500), 'key')).not.toBe(at('n'.repeat(501), 'key'))
})

test('no two names, keys or algorithms share a Redis key', () => {
  const piece = fc.stringMatching(/^[{}%:#ab257BD]{1,8}$/)
  fc.assert(
    fc.property(piece, piece, piece, piece, (name, key, otherName, otherKey) => {
      fc.pre(name !== otherName || key !== otherKey)
      expect(at(name, key)).not.toBe(at(otherName, otherKey))
    }),
    { numRuns: 5_000 },
  )
  expect(new Set(layout.ofAll('name', 'key')).size).toBe(6)
})

test('all of a key is between the first braces, so that its limits share a slot', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.string({ minLength: 1 }), (key, name) => {
      const redisKey = at(name, key)
      const open = redisKey.indexOf('{')
      expect(redisKey.slice(open + 1, redisKey.indexOf('}', open))).toBe(layout.tagOf(key))
      expect(layout.tagOf(key)).not.toBe('')
    }),
  )
})
