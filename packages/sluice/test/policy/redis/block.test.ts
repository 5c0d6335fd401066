import { expect, it } from 'vitest'
import { createPolicy, InvalidTypeError, InvalidValueError, tokenBucket } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const limit = tokenBucket({ capacity: 10, refill: '10/s' })
const LEVELS = [
  { name: 'all', limit: tokenBucket({ capacity: 1_000, refill: '1000/s' }) },
  { name: 'user', key: 'user', limit: [limit, tokenBucket({ capacity: 50, refill: '1/s' })] },
  { name: 'ip', key: 'ip', limit },
  { name: 'trial', key: 'user', limit, shadow: true },
] as const

onBothStores((own) => {
  const create = () => createPolicy({ name: 'api', levels: LEVELS, store: own.store })
  const alice = { user: 'alice', ip: '192.0.2.1' }
  const bob = { user: 'bob', ip: '192.0.2.2' }

  it('a block denies the keys of the request for its duration, and other keys go on', async () => {
    const policy = create()
    expect(await policy.block(alice, { duration: '10s' })).toEqual(['user', 'ip'])
    const denied = await policy.check(alice)
    expect([denied.allowed, denied.deniedBy, denied.retryAfterMs]).toEqual([false, ['user', 'ip'], 10_000])
    expect((await policy.check(bob)).allowed).toBe(true)
    // Each key is blocked for itself.
    expect((await policy.check({ ...bob, ip: alice.ip })).deniedBy).toEqual(['ip'])
    own.clock.advance(9_999)
    expect((await policy.check(alice)).allowed).toBe(false)
    own.clock.advance(1)
    expect((await policy.check(alice)).allowed).toBe(true)
  })

  it('levels chooses what is blocked: one level, the level of all requests, or a shadow', async () => {
    const policy = create()
    expect(await policy.block(alice, { duration: '5s', levels: ['user'] })).toEqual(['user'])
    expect((await policy.check({ ...alice, user: 'carol' })).allowed).toBe(true)
    expect(await policy.block(alice, { duration: '5s', levels: ['trial'] })).toEqual(['trial'])
    expect(await policy.block(bob, { duration: '5s', levels: ['all'] })).toEqual(['all'])
    expect((await policy.check({ user: 'carol', ip: null })).deniedBy).toEqual(['all'])
  })

  it('a later block replaces an earlier one, and reset ends it', async () => {
    const policy = create()
    await policy.block(alice, { duration: '1h', levels: ['user'] })
    await policy.block(alice, { duration: '1s', levels: ['user'] })
    expect((await policy.peek(alice)).retryAfterMs).toBe(1_000)
    await policy.reset(alice, { levels: ['user'] })
    expect((await policy.check(alice)).allowed).toBe(true)
  })

  it('a block reaches the limits of a run-time override, whether it is set before or after', async () => {
    const policy = create()
    await policy.override('user', 'alice', tokenBucket({ capacity: 99, refill: '1/s' }))
    await policy.block(alice, { duration: '1m' })
    expect((await policy.check(alice)).deniedBy).toContain('user')
    await policy.block(bob, { duration: '1m' })
    await policy.override('user', 'bob', tokenBucket({ capacity: 99, refill: '1/s' }))
    expect((await policy.check(bob)).deniedBy).toContain('user')
  })

  const wrong: [string, object, unknown, new (...args: never[]) => Error, RegExp][] = [
    ['no options', alice, undefined, InvalidTypeError, /\{ duration: '10m' \}/],
    ['no duration', alice, {}, InvalidTypeError, /duration/],
    ['a duration of 0', alice, { duration: '0s' }, InvalidValueError, /duration/],
    ['an unknown option', alice, { duration: '1s', level: 'user' }, InvalidTypeError, /level/],
    ['levels that are no list', alice, { duration: '1s', levels: 'user' }, InvalidTypeError, /a list of names/],
    ['an unknown level', alice, { duration: '1s', levels: ['usr'] }, InvalidValueError, /did you mean 'user'/],
    ['an empty list of levels', alice, { duration: '1s', levels: [] }, InvalidValueError, /nothing would be blocked/],
    [
      'a request without any key',
      {},
      { duration: '1s' },
      InvalidValueError,
      /matches all, and only levels that have a key/,
    ],
    [
      'a level that does not match',
      { ip: '192.0.2.1' },
      { duration: '1s', levels: ['user'] },
      InvalidValueError,
      /names user/,
    ],
    ['no request', undefined as never, { duration: '1s' }, InvalidTypeError, /request/],
  ]
  it.each(wrong)(
    '%s is an error that says what is right, and blocks nothing',
    async (_, request, options, type, text) => {
      const policy = create()
      const call = async () => policy.block(request as never, options as never)
      await expect(call()).rejects.toThrow(type)
      await expect(call()).rejects.toThrow(text)
      expect((await policy.check(alice)).allowed).toBe(true)
    },
  )
})
