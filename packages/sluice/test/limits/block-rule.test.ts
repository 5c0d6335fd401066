import { type BlockFor, createLimiter, createLimiters, createPolicy, fixedWindow, slidingLog } from 'sluice'
import { blockForOf, checkBlockRule, nextBlock, parseBlockFor } from 'sluice/limits'
import { describe, expect, it } from 'vitest'

const DAY_US = 86_400_000_000
const limit = slidingLog({ quota: 5, window: '15m' })

describe('blockFor', () => {
  it('is a duration, or blocks that grow', () => {
    expect(parseBlockFor('15m')).toEqual({ firstUs: 9e8, factor: 1, mostUs: 9e8, forgetUs: 0 })
    expect(parseBlockFor({ first: '1m' })).toEqual({ firstUs: 6e7, factor: 2, mostUs: DAY_US, forgetUs: DAY_US })
    expect(parseBlockFor({ first: '2d' }).mostUs).toBe(2 * DAY_US)
    const all = { first: '1m', factor: 1.5, most: '1h', forget: '2d' } as const
    expect(parseBlockFor(all)).toEqual({ firstUs: 6e7, factor: 1.5, mostUs: 3.6e9, forgetUs: 2 * DAY_US })
    for (const each of ['15m', all] satisfies BlockFor[]) expect(blockForOf(parseBlockFor(each))).toEqual(each)
  })

  it.each([
    ['soon', "blockFor must be a duration such as '250ms'"],
    [true, "blockFor must be a duration such as '15m', or blocks that grow such as { first: '1m' }, got true"],
    [{}, 'blockFor.first must be a duration'],
    [{ first: '1m', facter: 2 }, 'did you mean factor?'],
    [{ first: '1m', factor: 0.5 }, 'blockFor.factor must be a number from 1 to 1,000'],
    [{ first: '1m', factor: '2' }, 'blockFor.factor must be a number from 1 to 1,000'],
    [{ first: '1h', most: '1m' }, "blockFor.most must be at least first, 1h, got '1m'"],
    [{ first: '1m', forget: 'never' }, 'blockFor.forget must be a duration'],
  ])('refuses %j and says what would be right', (value, message) => {
    const blockFor = value as BlockFor
    const level = { name: 'a', limit, blockFor }
    for (const make of [
      () => createLimiter({ limit, blockFor }),
      () => createLimiters({ login: limit }, { blockFor }),
      () => createPolicy({ levels: [level] }),
    ])
      expect(make).toThrow(message)
  })

  it('refuses a store that does not block by rule', () => {
    const never = () => Promise.reject(new Error('not asked'))
    const store = { decide: never, peek: never, charge: never, refund: never, set: never, reset: never, block: never }
    const message = 'blockFor needs a store that blocks by rule, such as memoryStore(), redisStore(client)'
    expect(() => createLimiter({ name: 'a', limit, store, blockFor: '1m' })).toThrow(message)
    expect(() => createLimiters({ a: limit }, { store, blockFor: '1m' })).toThrow(message)
    const levels = [{ name: 'a', limit: fixedWindow({ quota: 1, window: '1m' }), blockFor: '1m' }] as const
    expect(() => createPolicy({ name: 'a', levels, store })).toThrow(message)
  })
})

describe('a rule', () => {
  it('that a store gets from elsewhere is checked', () => {
    const right = { firstUs: 1_000, factor: 2, mostUs: 1_000, forgetUs: 0 }
    expect(checkBlockRule(right)).toBe(right)
    const wrongs = [
      { firstUs: 0 },
      { firstUs: 1_001 },
      { firstUs: 1.5 },
      { factor: 0 },
      { factor: Number.NaN },
      { mostUs: 1e18 },
      { forgetUs: -1 },
      { forgetUs: '1' },
    ]
    for (const wrong of wrongs) expect(() => checkBlockRule({ ...right, ...wrong }), JSON.stringify(wrong)).toThrow()
    for (const wrong of [null, undefined, 5, '15m']) expect(() => checkBlockRule(wrong)).toThrow('blockFor of a demand')
  })

  it('whose numbers change goes on from the last block, within its own bounds', () => {
    const before = nextBlock(parseBlockFor({ first: '10m', forget: '1h' }), undefined, 0)
    const lengthOf = (first: string, most: string) =>
      nextBlock(parseBlockFor({ first, most }), before, 6e8).lastUs / 6e7
    expect(lengthOf('1m', '1d')).toBe(20)
    expect(lengthOf('1m', '15m')).toBe(15)
    expect(lengthOf('30m', '1d')).toBe(30)
  })
})
