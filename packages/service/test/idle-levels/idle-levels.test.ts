import {
  fixedWindow,
  type Level,
  leakyBucket,
  readPolicy,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
} from 'sluice'
import { describe, expect, it } from 'vitest'
import { findIdleLevels } from '../../src/idle-levels/find-idle-levels.js'

const bucket = (perSecond: number, capacity = perSecond) => tokenBucket({ capacity, refill: `${perSecond}/s` })

/** The warnings, each with its path. */
function warnings(...levels: Level[]): string[] {
  const { problems, levels: read } = readPolicy({ levels })
  expect(problems).toEqual([])
  return findIdleLevels(read).map(({ path, message }) => `${path.join('.')}: ${message}`)
}

/** The names of the levels that are warned about. */
const idle = (...levels: Level[]) =>
  findIdleLevels(readPolicy({ levels }).levels).map(({ path }) => levels[Number(path[1])].name)

describe('a level that can never deny is warned about', () => {
  const global = { name: 'global', limit: bucket(10_000) }
  const merchant = { name: 'merchant', key: 'merchant', limit: bucket(100) }
  const charges = { name: 'charges', key: 'merchant', when: { method: 'POST', path: '/v1/charges' }, limit: bucket(50) }
  const customers = { name: 'customers', key: 'merchant', when: { path: '/v1/customers' }, limit: bucket(100) }
  const ip = { name: 'ip', key: 'ip', when: { merchant: null }, limit: bucket(20) }
  const big = { ...merchant, overrides: [{ when: { merchant: 'acct_big' }, limit: bucket(1000, 2000) }] }

  it('if a level with the same key denies first, as the merchant level of a payment API does', () => {
    expect(warnings(global, merchant, charges, customers, ip)).toEqual([
      "levels.3.limit: 'customers' can never deny: 'merchant' never lets so much through",
    ])
  })

  it('but not if an override of the other level lets a merchant reach it', () => {
    expect(idle(global, big, charges, customers, ip)).toEqual([])
  })

  it('if the override of the other level is no wider', () => {
    const small = { ...merchant, overrides: [{ when: { merchant: 'acct_small' }, limit: bucket(10) }] }
    expect(idle(small, customers)).toEqual(['customers'])
  })

  it('but not if an override of its own makes it narrower', () => {
    const own = { ...customers, overrides: [{ when: { merchant: 'acct_bad' }, limit: bucket(1) }] }
    expect(idle(merchant, own)).toEqual([])
    expect(idle(merchant, { ...customers, overrides: [{ when: { merchant: 'x' }, limit: bucket(200) }] })).toEqual([
      'customers',
    ])
  })

  it('whichever of the two levels comes first', () => {
    expect(idle(customers, merchant)).toEqual(['customers'])
  })

  it('if it is the later of two equal levels', () => {
    expect(idle(merchant, { ...merchant, name: 'again' })).toEqual(['again'])
    expect(idle({ ...merchant, name: 'again' }, merchant)).toEqual(['merchant'])
  })

  it('but not if the other level matches fewer requests', () => {
    const wide = { name: 'wide', key: 'merchant', limit: bucket(100) }
    for (const when of [
      { method: 'POST' },
      { merchant: 'acct_1' },
      { merchant: { not: 'acct_1' } },
      { plan: { present: true } },
    ]) {
      expect(idle({ name: 'narrow', key: 'merchant', when, limit: bucket(50) }, wide)).toEqual([])
    }
    // A level matches only requests that have its key, so a condition on the key's presence changes nothing.
    expect(
      idle({ name: 'same', key: 'merchant', when: { merchant: { present: true } }, limit: bucket(100) }, wide),
    ).toEqual(['wide'])
    expect(
      idle({ name: 'same', key: 'merchant', when: { merchant: { not: null } }, limit: bucket(100) }, wide),
    ).toEqual(['wide'])
  })

  it('if the other level has a coarser key, but not if it has a finer or another key', () => {
    const all = { name: 'all', limit: bucket(10) }
    const one = { name: 'one', key: 'user', limit: bucket(10) }
    const each = { name: 'each', key: ['user', 'path'], limit: bucket(10) }
    expect(idle(all, one)).toEqual(['one'])
    expect(idle(one, each)).toEqual(['each'])
    expect(idle({ ...one, limit: bucket(5) }, all)).toEqual([])
    expect(idle({ ...each, limit: bucket(5) }, one)).toEqual([])
    expect(idle(one, { name: 'ip', key: 'ip', limit: bucket(10) })).toEqual([])
  })

  it('but not if either of the two is a shadow level', () => {
    expect(idle({ ...merchant, shadow: true }, customers)).toEqual([])
    expect(idle(merchant, { ...customers, shadow: true })).toEqual([])
  })

  it('only if the other level costs at least as much', () => {
    const level = (name: string, cost?: number | string): Level => ({
      name,
      limit: bucket(10),
      ...(cost !== undefined && { cost }),
    })
    expect(idle(level('a', 2), level('b', 1))).toEqual(['b'])
    expect(idle(level('a', 1), level('b', 2))).toEqual(['a'])
    expect(idle(level('a', 'bytes'), level('b', 'bytes'))).toEqual(['b'])
    expect(idle(level('a', 'bytes'), level('b', 'tokens'))).toEqual([])
    expect(idle(level('a', 'bytes'), level('b'))).toEqual([])
    // A call may cost anything.
    expect(idle(level('a', 5), level('b'))).toEqual([])
    expect(idle(level('a'), level('b', 1))).toEqual([])
  })

  it('if its cost is 0', () => {
    expect(warnings({ name: 'free', limit: bucket(10), cost: 0 })).toEqual([
      "levels.0.cost: 'free' can never deny: it takes nothing",
    ])
  })

  it('if its when wants an attribute of its key absent', () => {
    const message = "levels.0.when.user: 'a' can never match: its key needs user, which its when wants absent"
    for (const user of [null, [null], { present: false }]) {
      expect(warnings({ name: 'a', key: ['ip', 'user'], when: { user }, limit: bucket(1) })).toEqual([message])
    }
    expect(warnings({ name: 'a', key: 'ip', when: { ip: null }, limit: bucket(1) })).toEqual([
      "levels.0.when.ip: 'a' can never match: its key needs ip, which its when wants absent",
    ])
    expect(warnings({ name: 'a', key: 'user', when: { user: [null, 'x'] }, limit: bucket(1) })).toEqual([])
    expect(warnings({ name: 'a', key: 'ip', when: { user: null }, limit: bucket(1) })).toEqual([])
  })
})

describe('one of several limits of a level', () => {
  it('is warned about if another one always denies first', () => {
    expect(warnings({ name: 'a', limit: [bucket(10), fixedWindow({ quota: 10_000_000, window: '1d' })] })).toEqual([
      "levels.0.limit.1: limit 2 of 'a' can never deny: limit 1 never lets so much through",
    ])
    expect(warnings({ name: 'a', limit: [bucket(20), bucket(10)] })).toEqual([
      "levels.0.limit.0: limit 1 of 'a' can never deny: limit 2 never lets so much through",
    ])
    expect(warnings({ name: 'a', limit: [bucket(10), bucket(10)] })).toEqual([
      "levels.0.limit.1: limit 2 of 'a' can never deny: limit 1 never lets so much through",
    ])
  })

  it('is warned about in an override, too', () => {
    const overrides = [{ when: { user: 'x' }, limit: [bucket(10), bucket(20)] }]
    expect(warnings({ name: 'a', key: 'user', limit: bucket(1), overrides })).toEqual([
      "levels.0.overrides.0.limit.1: limit 2 of 'a' can never deny: limit 1 never lets so much through",
    ])
  })

  it('is not warned about if both can deny: ten a second and 250 a day', () => {
    const day = fixedWindow({ quota: 250, window: '1d' })
    for (const second of [
      bucket(10),
      leakyBucket({ capacity: 10, drain: '10/s' }),
      slidingLog({ quota: 10, window: '1s' }),
    ]) {
      expect(warnings({ name: 'a', key: 'user', limit: [second, day] })).toEqual([])
    }
    expect(warnings({ name: 'a', limit: [slidingWindow({ quota: 10, window: '1s' }), day] })).toEqual([])
  })

  it('counts when levels are compared: each limit of one level needs a mask in the other level', () => {
    const both = { name: 'both', limit: [bucket(10), slidingLog({ quota: 250, window: '1d' })] }
    expect(idle(both, { name: 'b', key: 'user', limit: bucket(10) })).toEqual(['b'])
    expect(
      idle(both, { name: 'b', key: 'user', limit: [bucket(10), slidingLog({ quota: 250, window: '1d' })] }),
    ).toEqual(['b'])
    expect(
      idle(both, { name: 'b', key: 'user', limit: [bucket(10), slidingLog({ quota: 249, window: '1d' })] }),
    ).toEqual([])
  })
})

describe('the requests of two levels are compared condition by condition', () => {
  const wide = (when: Level['when'] & object): Level => ({ name: 'wide', key: 'k', when, limit: bucket(10) })
  const narrow = (when: Level['when'] & object): Level => ({ name: 'narrow', key: 'k', when, limit: bucket(20) })
  const covers = (a: Level['when'] & object, b: Level['when'] & object) => idle(wide(a), narrow(b)).includes('narrow')

  it.each([
    [{ plan: ['a', 'b'] }, { plan: 'a' }],
    [{ plan: ['a', null] }, { plan: null }],
    [{ plan: ['a', null] }, { plan: [null, 'a'] }],
    [{ plan: { present: true } }, { plan: 'a' }],
    [{ plan: { present: true } }, { plan: { not: [null, 'a'] } }],
    [{ plan: { not: 'a' } }, { plan: 'b' }],
    [{ plan: { not: 'a' } }, { plan: [null, 'b'] }],
    [{ plan: { not: 'a' } }, { plan: { not: ['a', 'b'] } }],
    [{ plan: 5 }, { plan: '5' }],
    [{ method: 'get' }, { method: 'GET' }],
    [{ path: '/v1/**' }, { path: '/v1/charges' }],
    [{ path: '/v1/**' }, { path: ['/v1/charges/:id', '/v1/**'] }],
    [{ path: '/v1/:x' }, { path: '/v1/:y' }],
    [{ ip: '10.0.0.0/8' }, { ip: ['10.1.0.0/16', '10.2.3.4'] }],
    [{ ip: '0.0.0.0/0' }, { ip: '::ffff:10.0.0.0/104' }],
    [{ plan: 'a' }, { plan: 'a', method: 'GET' }],
    [{}, { plan: 'a' }],
  ])('%j holds whenever %j holds', (a, b) => {
    expect(covers(a, b)).toBe(true)
  })

  it.each([
    [{ plan: 'a' }, { plan: ['a', 'b'] }],
    [{ plan: 'a' }, { plan: ['a', null] }],
    [{ plan: { present: true } }, { plan: ['a', null] }],
    [{ plan: { present: true } }, { plan: { not: 'a' } }],
    // A HEAD request also meets a condition for GET.
    [{ method: { not: 'HEAD' } }, { method: 'GET' }],
    [{ plan: { not: 'a' } }, { plan: ['a', 'b'] }],
    [{ plan: { not: null } }, { plan: null }],
    [{ plan: { not: ['a', 'b'] } }, { plan: { not: 'a' } }],
    [{ plan: 'a' }, { plan: { not: 'b' } }],
    [{ plan: 'a' }, { method: 'GET' }],
    [{ plan: null }, {}],
    [{ path: '/v1/charges' }, { path: '/v1/**' }],
    [{ path: '/v1/:x' }, { path: '/v1/**' }],
    [{ path: '/v1/:x' }, { path: '/v1' }],
    [{ path: '/v1/x' }, { path: '/v1/:x' }],
    [{ path: '/v1/**' }, { path: '/:x/**' }],
    [{ path: '/v1/**' }, { path: { not: '/v2' } }],
    [{ ip: '10.1.0.0/16' }, { ip: '10.0.0.0/8' }],
    [{ ip: '::/0' }, { ip: '10.0.0.0/8' }],
    [{ ip: { not: '10.0.0.0/8' } }, { ip: '10.1.2.3' }],
  ])('%j does not hold whenever %j holds', (a, b) => {
    expect(covers(a, b)).toBe(false)
  })
})

describe('unlimited levels and limits of 0', () => {
  const merchant = { name: 'merchant', key: 'merchant', limit: bucket(100) }
  const narrow = { name: 'narrow', key: 'merchant', limit: bucket(50) }
  const exempt = { when: { merchant: 'acct_partner' }, limit: unlimited() }

  it('a level that is unlimited for all can never deny, even with blockFor, and the warning says why', () => {
    const message = "levels.0.limit: 'free' can never deny: it is unlimited"
    const free = { name: 'free', key: 'merchant', limit: unlimited() }
    expect(warnings(free, merchant)).toEqual([message])
    expect(warnings({ ...free, blockFor: '1m' })).toEqual([message])
    expect(warnings({ ...free, overrides: [exempt] })).toEqual([message])
    expect(warnings({ ...free, shadow: true })).toEqual([])
  })

  it('a level that is unlimited but for some is not idle', () => {
    const abusers = { when: { merchant: 'acct_bad' }, limit: bucket(1) }
    expect(warnings({ name: 'free', key: 'merchant', limit: unlimited(), overrides: [abusers] })).toEqual([])
  })

  it('an override that exempts a customer is not warned about', () => {
    expect(warnings({ ...merchant, overrides: [exempt] })).toEqual([])
    expect(warnings({ ...merchant, overrides: [{ ...exempt, limit: bucket(1, 0) }] })).toEqual([])
  })

  it('a level that exempts a customer does not make a wider level idle, because that customer reaches it', () => {
    expect(idle({ ...narrow, overrides: [exempt] }, merchant)).toEqual([])
    expect(idle(narrow, { ...merchant, overrides: [exempt] })).toEqual(['merchant'])
  })

  it('a level of 0 makes every level behind it idle, and is not idle itself', () => {
    const closed = { name: 'closed', limit: fixedWindow({ quota: 0, window: '1s' }) }
    expect(idle(merchant, closed)).toEqual(['merchant'])
    expect(idle(merchant, { ...closed, when: { merchant: 'acct_gone' } })).toEqual([])
    expect(idle(merchant, { ...closed, overrides: [exempt] })).toEqual([])
  })

  it('an unlimited limit beside another limit of its level can never deny', () => {
    expect(warnings({ ...merchant, limit: [bucket(100), unlimited()] })).toEqual([
      "levels.0.limit.1: limit 2 of 'merchant' can never deny: limit 1 never lets so much through",
    ])
  })
})
