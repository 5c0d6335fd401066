import { createPolicy, fixedWindow, InvalidPolicyError, memoryStore, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../../limits/refusals.js'

const limit = fixedWindow({ quota: 5, window: '1h' })
const levels = [{ name: 'a', key: 'user', limit }] as const

const refused = (options: unknown, ...parts: (string | RegExp)[]) =>
  expectRefusal(() => createPolicy(options as never), ...parts)

describe('createPolicy refuses', () => {
  it('a list of levels without the object around it, and no argument', () => {
    refused(levels, 'createPolicy takes an object, got an array: write createPolicy({ levels })')
    refused(
      Promise.resolve({ levels }),
      'createPolicy takes an object, got a promise: write createPolicy(await …), or createPolicy((await …).policy)',
    )
    refused(
      { file: 'policy.yaml', policy: { levels }, warnings: [] },
      'createPolicy takes an object, got an object with policy: write createPolicy(file.policy)',
    )
    refused(undefined, 'createPolicy takes an object', 'got undefined')
    refused(null, 'got null')
    refused({}, 'levels must be a list, got undefined')
    refused({ levels: undefined }, 'levels must be a list, got undefined')
  })

  it('a misspelt option', () => {
    refused({ level: levels }, "createPolicy has no option 'level'; did you mean levels?")
    refused({ levels, clocks: new ManualClock(0) }, 'did you mean clock?')
    refused({ levels, Store: memoryStore() }, 'did you mean store?')
    refused({ levels, limit }, "createPolicy has no option 'limit'")
  })

  it('a store without a name, because two policies on it would share their states', () => {
    refused(
      { levels, store: memoryStore() },
      "name (which keeps policies on one store apart) must be text such as 'api', got undefined",
    )
  })

  it('a clock beside a store, which has its own clock', () => {
    const clock = new ManualClock(0)
    refused({ name: 'p', levels, store: memoryStore(), clock }, 'clock must be given to the store that keeps time')
    refused({ levels, clock: Date }, 'clock must be')
    refused({ levels, clock: {} }, 'clock must be')
  })

  it('a store that is not a store', () => {
    for (const store of [null, {}, 'redis://localhost', new Map(), memoryStore]) {
      refused({ name: 'p', levels, store }, 'store must be a store such as memoryStore()')
    }
    refused({ name: 'p', levels, store: { evalsha: () => {} } }, 'redisStore(client)')
  })

  it('a limit function that was not called, and the result of calling it twice', () => {
    refused(
      { levels: [{ name: 'a', limit: tokenBucket }] },
      'levels[0].limit: limit must be an object such as { algorithm:',
      'got a function',
    )
    refused({ levels: [{ name: 'a', limit: [[limit]] }] }, 'levels[0].limit[0]: limit must be an object such as')
    refused(
      { levels: [{ name: 'a', limits: limit }] },
      "levels[0].limits: a level has no 'limits'; did you mean 'limit'?",
    )
  })

  it('a level without a name, and an object as key', () => {
    refused({ levels: [{ limit }] }, 'levels[0].name: name must be text of letters, digits', 'got undefined')
    refused(
      { levels: [{ name: 'a', key: { user: true }, limit }] },
      'levels[0].key: an attribute must be a name',
      'got an object',
    )
    refused(
      { levels: [{ name: 'a', key: () => 'user', limit }] },
      'levels[0].key:',
      "got a function: the values come from `attributes` of rateLimit, or from check({ user: 'ann' })",
    )
  })

  it('without leaving anything in the store', () => {
    const store = memoryStore()
    expect(() => createPolicy({ name: 'p', levels: [...levels, { name: 'a', limit }], store })).toThrow(
      InvalidPolicyError,
    )
    expect(store.size).toBe(0)
  })
})

describe('override refuses wrong arguments', () => {
  const policy = () =>
    createPolicy({
      levels: [...levels, { name: 'pair', key: ['user', 'plan'], limit, shadow: true }, { name: 'all', limit }],
    })

  it('and changes nothing', () => {
    const one = policy()
    expectRefusal(() => one.override('users' as never, 'x', limit), "the policy has no level 'users'")
    expectRefusal(() => one.override('__proto__' as never, 'x', limit), "the policy has no level '__proto__'")
    for (const key of ['', null, undefined, [], ['x', 'y'], {}]) {
      expectRefusal(() => one.override('a', key as never, limit), /key must be|the attribute user must be/)
    }
    expectRefusal(() => one.override('pair', 'x', limit), 'key must be a list', '[user, plan]')
    expectRefusal(() => one.override('all', 'x', limit), 'key must be []')
    for (const wrong of [undefined, null, 5, [], {}, '5/s', [limit, {}]]) {
      expect(() => one.override('a', 'x', wrong as never)).toThrow(InvalidPolicyError)
    }
    expectRefusal(() => one.override('a', 'x', limit, { untill: 5 } as never), 'did you mean until?')
    for (const until of ['tomorrow', Number.NaN, new Date('x'), {}, 0]) {
      expectRefusal(() => one.override('a', 'x', limit, { until: until as never }), /^until must be/)
    }
    expect(one.explain({ user: 'x', plan: undefined }).map(({ from }) => from)).toEqual(['level', undefined, 'level'])
  })
})
