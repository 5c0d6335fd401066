import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLimiter, createPolicy, memoryStore, tokenBucket } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import { ALL_LEVELS } from '../../dist/live/live-sample.js'
import { TopKeys } from '../../dist/recorder/top-keys.js'

setFlagsFromString('--expose-gc')
const gc: () => void = runInNewContext('gc')

const open: TopKeys[] = []

function topKeys(nowMs = 0): TopKeys {
  const made = new TopKeys(nowMs)
  open.push(made)
  return made
}

afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

const ample = tokenBucket({ capacity: 1_000_000, refill: '1000/s' })
const three = tokenBucket({ capacity: 3, refill: '1/h' })

function policyOf(name = 'api') {
  return createPolicy({
    name,
    levels: [
      { name: 'global', limit: [ample, tokenBucket({ capacity: 2_000_000, refill: '1000/s' })] },
      { name: 'user', key: ['user'], limit: three },
    ],
    store: memoryStore(),
  })
}

describe('top keys', () => {
  it('are found for each level, by requests and by denials', () => {
    const top = topKeys(1_000)
    const policy = policyOf()
    for (let i = 0; i < 10; i++) policy.check({ user: 'busy' })
    for (let i = 0; i < 5; i++) policy.check({ user: 'calm' })
    policy.check({ user: 'rare' })
    expect(top.read()).toEqual({
      sinceMs: 1_000,
      levels: [
        {
          policy: 'api',
          level: 'global',
          requests: 16,
          denials: 0,
          byLoad: [{ key: '*', count: 16, error: 0 }],
          byDenials: [],
        },
        {
          policy: 'api',
          level: 'user',
          requests: 16,
          denials: 9,
          byLoad: [
            { key: 'busy', count: 10, error: 0 },
            { key: 'calm', count: 5, error: 0 },
            { key: 'rare', count: 1, error: 0 },
          ],
          byDenials: [
            { key: 'busy', count: 7, error: 0 },
            { key: 'calm', count: 2, error: 0 },
          ],
        },
      ],
    })
    expect(top.read(1).levels[1].byLoad).toEqual([{ key: 'busy', count: 10, error: 0 }])
  })

  it('are the keys of the level, also where an override has states of its own', () => {
    const top = topKeys()
    const overrides = [{ when: { plan: 'pro' }, limit: three }]
    const policy = createPolicy({
      name: 'api',
      levels: [{ name: 'account', key: ['account'], limit: ample, overrides }],
      store: memoryStore(),
    })
    for (let i = 0; i < 4; i++) policy.check({ account: 'zed', plan: 'pro' })
    policy.check({ account: 'zed', plan: 'free' })
    const [{ byLoad, byDenials }] = top.read().levels
    expect([...byLoad, ...byDenials]).toEqual([
      { key: 'zed', count: 5, error: 0 },
      { key: 'zed', count: 1, error: 0 },
    ])
  })

  it('are those of the last one to two minutes', () => {
    const top = topKeys(0)
    const policy = policyOf()
    const busiest = () => top.read().levels[1]?.byLoad.map(({ key, count }) => `${key} ${count}`)
    policy.check({ user: 'old' })
    policy.check({ user: 'both' })
    top.turn(59_999)
    expect(busiest()).toEqual(['both 1', 'old 1'])
    top.turn(60_000)
    policy.check({ user: 'both' })
    expect(busiest()).toEqual(['both 2', 'old 1'])
    expect(top.read().sinceMs).toBe(0)
    top.turn(120_000)
    expect(busiest()).toEqual(['both 1'])
    expect(top.read().sinceMs).toBe(60_000)
    top.turn(180_000)
    top.turn(240_000)
    expect(top.read().levels).toEqual([])
  })

  it('leave out limiters, and policies beyond the hundredth level', () => {
    const top = topKeys()
    createLimiter({ name: 'own', limit: ample }).tryAcquire('a')
    for (let i = 0; i < 60; i++) policyOf(`api${i}`).check({ user: 'a' })
    expect(top.read().levels).toHaveLength(100)
  })

  it('follow a level that is wanted even if 100 others are followed, and tell the first keys of it or of all', () => {
    const top = topKeys()
    const names = Array.from({ length: 101 }, (_, i) => `level-${i}`)
    const levels = names.map((name) => ({ name, key: ['user'], limit: ample }))
    const policy = createPolicy({ name: 'wide', levels, store: memoryStore() })
    policy.check({ user: 'early' })
    expect(top.ofLevel('wide', 'level-100').byLoad).toEqual({ keys: [], rest: 0 })
    top.wanted = ['level-100']
    for (let i = 0; i < 3; i++) policy.check({ user: 'late' })
    const late = { level: 'level-100', key: 'late', count: 3, error: 0 }
    expect(top.ofLevel('wide', 'level-100').byLoad).toEqual({ keys: [late], rest: 0 })
    const { keys, rest } = top.ofLevel('wide', ALL_LEVELS).byLoad
    expect(keys).toHaveLength(50)
    expect(keys.every(({ key, count }) => key === 'late' && count === 3)).toBe(true)
    // The 51st key came as often.
    expect(rest).toBe(3)
  })

  it('follow 64 levels beyond the hundredth, however many are wanted, and give up those that are no longer wanted', () => {
    const top = topKeys()
    const names = Array.from({ length: 300 }, (_, i) => `level-${i}`)
    const levels = names.map((name) => ({ name, key: ['user'], limit: ample }))
    const policy = createPolicy({ name: 'wide', levels, store: memoryStore() })
    for (const name of names) {
      top.wanted = [name]
      policy.check({ user: 'a' })
    }
    expect(top.read().levels).toHaveLength(164)
    top.wanted = ['level-299']
    // The first turn ends the window in which all of them were wanted.
    for (const nowMs of [60_000, 120_000]) {
      top.turn(nowMs)
      policy.check({ user: 'a' })
    }
    const followed = top.read().levels.map(({ level }) => level)
    expect(followed).toHaveLength(101)
    expect(followed).toContain('level-299')
  })

  it('cut long keys, and still tell them apart', () => {
    const top = topKeys()
    const policy = policyOf()
    policy.check({ user: `${'x'.repeat(10_000)}1` })
    policy.check({ user: `${'x'.repeat(10_000)}2` })
    const keys = top.read().levels[1].byLoad.map(({ key }) => key)
    expect(new Set(keys).size).toBe(2)
    for (const key of keys) expect(key.length).toBeLessThanOrEqual(256)
  })

  it('do not grow with a million distinct keys, and find the busy ones among them', () => {
    const top = topKeys()
    const policy = createPolicy({
      name: 'flood',
      levels: [{ name: 'user', key: ['user'], limit: three }],
      store: memoryStore({ maxKeys: 1_000 }),
    })
    for (let i = 0; i < 10_000; i++) policy.check({ user: `warm:${i}` })
    gc()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 1_000_000; i++) policy.check({ user: i % 100 === 0 ? 'busy' : `user:${i}` })
    gc()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000)
    const [{ requests, byLoad, byDenials }] = top.read().levels
    expect(requests).toBe(1_010_000)
    const { key, count, error } = byLoad[0]
    expect(key).toBe('busy')
    expect(count).toBeGreaterThanOrEqual(10_000)
    expect(count - error).toBeLessThanOrEqual(10_000)
    expect(error).toBeLessThanOrEqual(1_010_000 / 128)
    expect(byDenials.length).toBeGreaterThan(0)
  })
})
