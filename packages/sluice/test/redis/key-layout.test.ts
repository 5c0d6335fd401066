import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  arithmeticOf,
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../src/limits/index.js'
import { hashSlotOf, KeyLayout } from '../../src/stores/redis/key-layout.js'

const layout = new KeyLayout('sluice:')
const bucket = tokenBucket({ capacity: 1, refill: '1/s' })
const keyOf = (limit: Limit, name: string, key: string) => layout.of(name, limit, key)
const at = (name: string, key: string) => keyOf(bucket, name, key)

test('a Redis key can be read', () => {
  expect(at('search', 'user:42')).toBe('sluice:t:{user:42}search')
  expect(at('a}b', '{x}%')).toBe('sluice:t:{%7Bx%7D%25}a%7Db')
  const keys = [
    leakyBucket({ capacity: 1, drain: '1/s' }),
    fixedWindow({ quota: 1, window: '1h' }),
    fixedWindow({ quota: 1, window: '1h', align: 'first' }),
    slidingWindow({ quota: 1, window: '1m' }),
    slidingWindow({ quota: 1, window: '1m', slices: 10, align: 'first' }),
    slidingLog({ quota: 1, window: '250ms' }),
    concurrency({ max: 1, ttl: '30s' }),
  ].map((limit) => keyOf(limit, 'n', 'k'))
  expect(keys).toEqual(['l', 'f1h', 'f1h+', 's1m/1', 's1m/10+', 'g250ms', 'c'].map((code) => `sluice:${code}:{k}n`))
})

test('limits share a Redis key if and only if they share a state', () => {
  const limits = (['1s', '60s', '1m', '90s'] as const).flatMap((window) => [
    ...(['epoch', 'first'] as const).flatMap((align) => [
      fixedWindow({ quota: 5, window, align }),
      fixedWindow({ quota: 9, window, align }),
      slidingWindow({ quota: 5, window, align }),
      slidingWindow({ quota: 9, window, align, slices: 1 }),
      slidingWindow({ quota: 5, window, align, slices: 11 }),
    ]),
    slidingLog({ quota: 5, window }),
    slidingLog({ quota: 9, window }),
    concurrency({ max: 5, ttl: window }),
    tokenBucket({ capacity: 5, refill: '1/s' }),
    leakyBucket({ capacity: 5, drain: '2/s' }),
  ])
  for (const one of limits) {
    for (const other of limits) {
      const isSame = arithmeticOf(one).stateId === arithmeticOf(other).stateId
      expect(keyOf(one, 'n', 'k') === keyOf(other, 'n', 'k')).toBe(isSame)
    }
  }
})

test('the guard of a node for a state is in its hash slot, and no other key', () => {
  const window = fixedWindow({ quota: 1, window: '1h' })
  expect(layout.ofGuard('search', bucket, 'user:42', 'node-1')).toBe('sluice:nt:{user:42}search}node-1')
  const piece = fc.stringMatching(/^[{}%:#nt]{1,4}$/)
  fc.assert(
    fc.property(fc.tuple(piece, piece, piece), fc.tuple(piece, piece, piece), (one, other) => {
      const [guard, otherGuard] = [one, other].map(([name, key, node]) => layout.ofGuard(name, bucket, key, node))
      expect(hashSlotOf(guard)).toBe(hashSlotOf(at(one[0], one[1])))
      expect(guard === otherGuard).toBe(one.join(' ') === other.join(' '))
      expect(guard).not.toBe(layout.ofGuard(one[0], window, one[1], one[2]))
      expect(guard).not.toBe(at(other[0], other[1]))
    }),
    { numRuns: 2_000 },
  )
})

test('long names and keys are kept by their hash, which is no other key', () => {
  const long = at('search', 'k'.repeat(10_000_000))
  expect(long.length).toBeLessThan(80)
  const tag = /\{(.*)\}/.exec(long)?.[1] ?? ''
  expect(at('search', tag)).not.toBe(long)
  expect(at('n'.repeat(500), 'key')).not.toBe(at('n'.repeat(501), 'key'))
})

test('no two names or keys share a Redis key', () => {
  const piece = fc.stringMatching(/^[{}%:#ab257BD]{1,8}$/)
  fc.assert(
    fc.property(piece, piece, piece, piece, (name, key, otherName, otherKey) => {
      fc.pre(name !== otherName || key !== otherKey)
      expect(at(name, key)).not.toBe(at(otherName, otherKey))
    }),
    { numRuns: 5_000 },
  )
})

test('both buckets and the block of an unlimited key are listed under any name, and other states once they were used under it', () => {
  const fresh = new KeyLayout('p:')
  expect(fresh.seen('n', 'k')).toEqual(['p:t:{k}n', 'p:l:{k}n', 'p:u:{k}n'])
  fresh.of('n', fixedWindow({ quota: 1, window: '1h' }), 'other')
  fresh.of('n', fixedWindow({ quota: 2, window: '60m' }), 'k')
  fresh.of('m', slidingLog({ quota: 1, window: '1h' }), 'k')
  expect(fresh.seen('n', 'k')).toEqual(['p:t:{k}n', 'p:l:{k}n', 'p:u:{k}n', 'p:f1h:{k}n'])
})

test('all of a key is between the first braces, so that its limits share a hash slot', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.string({ minLength: 1 }), (key, name) => {
      const redisKey = at(name, key)
      const open = redisKey.indexOf('{')
      const close = redisKey.indexOf('}', open)
      expect(close).toBeGreaterThan(open + 1)
      expect(redisKey.slice(0, close + 1)).toBe(at('n', key).slice(0, -1))
    }),
  )
})
