/** Levels that look idle but can deny. */
import { createPolicy, fixedWindow, type Level, leakyBucket, readPolicy, slidingWindow, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { findIdleLevels } from '../../src/idle-levels/find-idle-levels.js'

const idle = (levels: readonly Level[]) =>
  findIdleLevels(readPolicy({ levels }).levels).map(({ path }) => levels[Number(path[1])].name)

function policyOf(levels: readonly Level[]) {
  const clock = new ManualClock(1_745_000_000_000)
  return { clock, policy: createPolicy({ levels, clock }) }
}

describe('two levels whose windows begin with the first request are both kept', () => {
  for (const make of [fixedWindow, slidingWindow]) {
    const limit = make({ quota: 10, window: '1s', align: 'first' })
    it(`if they have different keys: ${limit.algorithm}`, () => {
      const levels: Level[] = [
        { name: 'all', limit },
        { name: 'user', key: 'user', limit },
      ]
      const { clock, policy } = policyOf(levels)
      expect(policy.check({ user: 'a' }).allowed).toBe(true)
      clock.advance(900)
      for (let i = 0; i < 9; i++) expect(policy.check({ user: 'b' }).allowed).toBe(true)
      // The window of 'all' ends before that of user b, which has nine units by then.
      const deniers = new Set<string>()
      for (let ms = 0; ms < 1_000; ms += 100) {
        clock.advance(100)
        for (let i = 0; i < 10; i++) deniers.add(policy.check({ user: 'b' }).deniedBy.join())
      }
      expect([...deniers]).toContain('user')
      expect(idle(levels)).toEqual([])
    })
  }

  it('if one level sees more requests', () => {
    const limit = fixedWindow({ quota: 10, window: '1s', align: 'first' })
    const levels: Level[] = [
      { name: 'every', key: 'user', limit },
      { name: 'posts', key: 'user', when: { method: 'POST' }, limit },
    ]
    const { clock, policy } = policyOf(levels)
    policy.check({ user: 'a', method: 'GET' })
    clock.advance(900)
    for (let i = 0; i < 9; i++) policy.check({ user: 'a', method: 'POST' })
    clock.advance(100)
    policy.check({ user: 'a', method: 'POST' })
    expect(policy.check({ user: 'a', method: 'POST' }).deniedBy).toEqual(['posts'])
    expect(idle(levels)).toEqual([])
  })
})

it('a level whose override depends on more than the key has two states for one key, and masks no other level', () => {
  const levels: Level[] = [
    {
      name: 'user',
      key: 'user',
      limit: tokenBucket({ capacity: 10, refill: '1/s' }),
      overrides: [{ when: { method: 'POST' }, limit: leakyBucket({ capacity: 10, drain: '1/s' }) }],
    },
    { name: 'same', key: 'user', limit: tokenBucket({ capacity: 10, refill: '1/s' }) },
  ]
  const { policy } = policyOf(levels)
  for (let i = 0; i < 10; i++) expect(policy.check({ user: 'a', method: 'GET' }).allowed).toBe(true)
  expect(policy.check({ user: 'a', method: 'POST' }).deniedBy).toEqual(['same'])
  expect(idle(levels)).toEqual([])
})

it('a level that blocks keys goes on to deny when the level before it allows again', () => {
  const limit = tokenBucket({ capacity: 1, refill: '1/s' })
  const levels: Level[] = [
    { name: 'first', key: 'user', limit },
    { name: 'blocking', key: 'user', limit, blockFor: '1m' },
  ]
  const { clock, policy } = policyOf(levels)
  policy.check({ user: 'a' })
  expect(policy.check({ user: 'a' }).deniedBy).toEqual(['first', 'blocking'])
  clock.advance(1_000)
  expect(policy.check({ user: 'a' }).deniedBy).toEqual(['blocking'])
  expect(idle(levels)).toEqual([])
  expect(idle([levels[1], levels[0]])).toEqual(['first'])
})
