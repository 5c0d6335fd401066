/** Levels that look idle and are not. */
import { fixedWindow, type Level, leakyBucket, readPolicy, slidingWindow, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { Matcher } from '../../../src/policy/matcher.js'
import { readPolicy as read } from '../../../src/policy/reading/read-policy.js'
import { SyncPolicy } from '../../../src/policy/sync-policy.js'
import { memoryStore } from '../../../src/stores/index.js'

const idle = (levels: readonly Level[]) =>
  readPolicy({ levels }).warnings.map(({ path }) => levels[Number(path[1])].name)

function policyOf(levels: readonly Level[]) {
  const clock = new ManualClock(1_745_000_000_000)
  return { clock, policy: new SyncPolicy('p', new Matcher('p', read({ levels })), memoryStore({ clock }), []) }
}

describe('windows that begin at the first request', () => {
  for (const make of [fixedWindow, slidingWindow]) {
    const limit = make({ quota: 10, window: '1s', align: 'first' })
    it(`do not begin together for another key: ${limit.algorithm}`, () => {
      const levels: Level[] = [
        { name: 'all', limit },
        { name: 'user', key: 'user', limit },
      ]
      const { clock, policy } = policyOf(levels)
      expect(policy.check({ user: 'a' }).allowed).toBe(true)
      clock.advance(900)
      for (let i = 0; i < 9; i++) expect(policy.check({ user: 'b' }).allowed).toBe(true)
      // The window of all ends before that of user b, who has taken nine by then.
      const deniers = new Set<string>()
      for (let ms = 0; ms < 1_000; ms += 100) {
        clock.advance(100)
        for (let i = 0; i < 10; i++) deniers.add(policy.check({ user: 'b' }).deniedBy.join())
      }
      expect([...deniers]).toContain('user')
      expect(idle(levels)).toEqual([])
    })
  }

  it('do not begin together where one level sees more requests', () => {
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

it('a level whose override goes by more than the key has two states for one key, and restrains no other', () => {
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
