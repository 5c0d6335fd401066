import { expect, it } from 'vitest'
import { createPolicy, fixedWindow, InvalidTypeError, InvalidValueError, type Verdict } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const day = (quota: number) => fixedWindow({ quota, window: '1d' })
const remaining = ({ levels }: Verdict) => levels.map(({ decision }) => decision.remaining)

const LEVELS = [
  { name: 'all', limit: day(100) },
  { name: 'user', key: 'user', limit: [day(50), day(60)] },
  { name: 'fixed', key: 'user', limit: day(10), cost: 2 },
  { name: 'tokens', key: 'user', limit: day(1_000), cost: 'tokens' },
] as const
const u = { user: 'u', tokens: 500 }
const WHOLE = [100, 50, 60, 10, 1_000]

onBothStores((own) => {
  const create = () => createPolicy({ name: 'test', levels: LEVELS, store: own.store })

  it('check takes the cost of the call, of the level, or of the attribute that says it', async () => {
    const policy = create()
    expect(remaining(await policy.check(u, { cost: 3 }))).toEqual([97, 47, 57, 8, 500])
    expect(remaining(await policy.check({ user: 'u', tokens: null }, { cost: 3 }))).toEqual([94, 44, 54, 6, 497])
    expect(remaining(await policy.check({ user: 'u', tokens: '7' }))).toEqual([93, 43, 53, 4, 490])
  })

  it('peek takes nothing, and says so of every level', async () => {
    const policy = create()
    for (let i = 0; i < 3; i++) expect(remaining(await policy.peek(u))).toEqual(WHOLE)
    await policy.check(u)
    const peeked = await policy.peek(u)
    expect(peeked).toMatchObject({ allowed: true, deniedBy: [], retryAfterMs: 0 })
    expect(remaining(peeked)).toEqual([99, 49, 59, 8, 500])
  })

  it('peek gives the verdict that check then gives, and is denied by a level that is used up', async () => {
    const policy = create()
    for (const cost of [50, 1, 0]) {
      const { allowed, deniedBy, retryAfterMs } = await policy.peek(u, { cost })
      expect(await policy.check(u, { cost })).toMatchObject({ allowed, deniedBy })
      expect(allowed).toBe(cost !== 1)
      expect(retryAfterMs > 0).toBe(cost === 1)
    }
    const light = { user: 'u', tokens: 0 }
    expect((await policy.peek(light)).deniedBy).toEqual(['user'])
    expect((await policy.peek(light, { cost: 0 })).deniedBy).toEqual([])
    await policy.charge(light, { cost: 1 })
    expect((await policy.peek(light, { cost: 0 })).deniedBy).toEqual(['user'])
  })

  it('set leaves the keys of the request so many units, in the levels that it names', async () => {
    const policy = create()
    await policy.check(u, { cost: 3 })
    const { levels } = await policy.set(u, { remaining: 2, levels: ['user'] })
    expect(levels.map(({ name, decision }) => [name, decision.allowed, decision.remaining])).toEqual([
      ['user', true, 2],
      ['user', true, 2],
    ])
    expect(remaining(await policy.peek(u))).toEqual([97, 2, 2, 8, 500])
    expect((await policy.peek(u, { cost: 3 })).deniedBy).toEqual(['user'])
    expect(remaining(await policy.peek({ ...u, user: 'other' }))[1]).toBe(50)
  })

  it('set changes nothing if one of the levels cannot have so many units, or if no level is meant', async () => {
    const policy = create()
    await policy.check(u)
    const wrong = [
      [{ remaining: 11 }, "level 'fixed': remaining must be a whole number from 0 to 10, the quota, got 11"],
      [{ remaining: 1, levels: [] }, 'nothing would be set: the request matches all, user, fixed, tokens'],
      [{ remaining: 1, levels: ['usr'] }, "did you mean 'user'?"],
      [{ remaning: 1 }, "set has no option 'remaning'; did you mean remaining?"],
      [3, 'set takes an object such as { remaining: 0 }, got 3'],
    ] as const
    for (const [options, message] of wrong)
      await expect(async () => await policy.set(u, options as never)).rejects.toThrow(message)
    expect(remaining(await policy.peek(u))).toEqual([99, 49, 59, 8, 500])
    // By default every level that has a key is set, with the limits in force.
    expect(remaining(await policy.set(u, { remaining: 10 }))).toEqual([10, 10, 10, 10])
    await policy.override('fixed', 'u', day(30))
    expect(remaining(await policy.set(u, { remaining: 25, levels: ['fixed'] }))).toEqual([25])
  })

  it('charge takes from every level, there or not, and refund gives back to every level', async () => {
    const policy = create()
    const charged = await policy.charge(u, { cost: 55 })
    expect(remaining(charged)).toEqual([45, 0, 5, 8, 500])
    expect(charged.deniedBy).toEqual(['user'])
    expect(remaining(await policy.refund(u, { cost: 5 }))).toEqual([50, 0, 10, 10, 1_000])
    expect(remaining(await policy.refund(u, { cost: 1_000 }))).toEqual(WHOLE)
  })

  it('a reservation that settles with a number gives the difference back; levels with a cost of their own keep it', async () => {
    const policy = create()
    const reservation = await policy.reserve(u, { cost: 10 })
    expect(remaining(reservation.verdict)).toEqual([90, 40, 50, 8, 500])
    await reservation.settle(4)
    expect(remaining(await policy.peek(u))).toEqual([96, 46, 56, 8, 500])
  })

  it('a reservation that settles with more charges the difference, even into debt', async () => {
    const policy = create()
    await (await policy.reserve(u, { cost: 10 })).settle(55)
    const peeked = await policy.peek(u)
    expect(remaining(peeked)).toEqual([45, 0, 5, 8, 500])
    expect(peeked.deniedBy).toEqual(['user'])
  })

  it('a reservation that settles with attributes changes the levels that take their cost from them, and no other', async () => {
    const policy = create()
    await (await policy.reserve(u, { cost: 10 })).settle({ tokens: 380 })
    expect(remaining(await policy.peek(u))).toEqual([90, 40, 50, 8, 620])
    await (await policy.reserve(u, { cost: 10 })).settle({ tokens: 580 })
    expect(remaining(await policy.peek(u))).toEqual([80, 30, 40, 6, 40])
    await (await policy.reserve({ user: 'u', tokens: 40 }, { cost: 1 })).settle({ user: 'another' })
    expect(remaining(await policy.peek(u))).toEqual([79, 29, 39, 4, 0])
    expect(remaining(await policy.peek({ ...u, user: 'another' }))).toEqual([79, 50, 60, 10, 1_000])
  })

  it('a reservation that settles with what it took changes nothing', async () => {
    const policy = create()
    await (await policy.reserve(u, { cost: 10 })).settle(10)
    expect(remaining(await policy.peek(u))).toEqual([90, 40, 50, 8, 500])
  })

  it('a cancelled reservation gives everything back, what levels take of their own included', async () => {
    const policy = create()
    const reservation = await policy.reserve(u, { cost: 10 })
    await reservation.cancel()
    expect(remaining(await policy.peek(u))).toEqual(WHOLE)
  })

  it('only the first of settle and cancel counts, however often and in whatever order they are called', async () => {
    const policy = create()
    await policy.check(u, { cost: 5 })
    const first = await policy.reserve(u, { cost: 10 })
    await Promise.all([first.settle(9), first.settle(0), first.cancel(), first.settle({ tokens: 0 })])
    await first.cancel()
    expect(remaining(await policy.peek(u))).toEqual([86, 36, 46, 6, 0])
    const second = await policy.reserve({ user: 'u', tokens: 0 }, { cost: 10 })
    await second.cancel()
    await second.cancel()
    await second.settle(0)
    await second.settle(50)
    expect(remaining(await policy.peek(u))).toEqual([86, 36, 46, 6, 0])
  })

  it('a denied reservation does nothing, whatever becomes of it', async () => {
    const policy = create()
    await policy.check(u, { cost: 45 })
    const denied = await policy.reserve({ user: 'u', tokens: 0 }, { cost: 10 })
    expect(denied.verdict).toMatchObject({ allowed: false, deniedBy: ['user'] })
    await denied.cancel()
    await denied.settle(0)
    await denied.settle(99)
    await denied.settle({ tokens: 900 })
    expect(remaining(await policy.peek(u))).toEqual([55, 5, 15, 8, 500])
  })

  it('a wrong real cost is an error, and the reservation is still there to be settled', async () => {
    const policy = create()
    const reservation = await policy.reserve(u, { cost: 10 })
    const settle = async (actual: unknown) => reservation.settle(actual as number)
    for (const wrong of [undefined, null, 'text', [3], true]) {
      await expect(settle(wrong)).rejects.toThrow(InvalidTypeError)
    }
    for (const wrong of [-1, 1.5, Number.NaN, Infinity, { tokens: -1 }, { tokens: 'many' }]) {
      await expect(settle(wrong)).rejects.toThrow(InvalidValueError)
    }
    expect(remaining(await policy.peek(u))).toEqual([90, 40, 50, 8, 500])
    await reservation.cancel()
    expect(remaining(await policy.peek(u))).toEqual(WHOLE)
  })

  it('a wrong cost is an error before anything is taken from any level', async () => {
    const policy = create()
    const call = async (tokens: unknown, cost: unknown) =>
      policy.check({ user: 'u', tokens } as never, { cost } as never)
    await expect(call('12.5', 1)).rejects.toThrow(InvalidValueError)
    await expect(call('-1', 1)).rejects.toThrow(InvalidValueError)
    await expect(call('0x10', 1)).rejects.toThrow(InvalidValueError)
    await expect(call(5, -1)).rejects.toThrow(InvalidValueError)
    await expect(call({}, 1)).rejects.toThrow(InvalidTypeError)
    expect(remaining(await policy.peek(u))).toEqual(WHOLE)
  })

  it('reset forgets the keys of all levels that match, the key that all requests share included', async () => {
    const policy = create()
    await policy.check(u, { cost: 5 })
    await policy.check({ user: 'v', tokens: 1 })
    await policy.reset(u)
    expect(remaining(await policy.peek(u))).toEqual(WHOLE)
    expect(remaining(await policy.peek({ user: 'v', tokens: 1 }))).toEqual([100, 49, 59, 8, 999])
  })

  it('reset forgets only the levels that it is told, every limit of them', async () => {
    const policy = create()
    await policy.check(u, { cost: 5 })
    await policy.reset(u, { levels: ['user', 'tokens'] })
    expect(remaining(await policy.peek(u))).toEqual([95, 50, 60, 8, 1_000])
    await policy.reset(u, { levels: [] })
    expect(remaining(await policy.peek(u))).toEqual([95, 50, 60, 8, 1_000])
  })

  it('to reset a level that is not there is an error that names the one that was meant, and resets nothing', async () => {
    const policy = create()
    await policy.check(u, { cost: 5 })
    const reset = async (levels: unknown) => policy.reset(u, { levels } as never)
    await expect(reset(['user', 'usr'])).rejects.toThrow(/no level 'usr'.*'user'/)
    await expect(reset('user')).rejects.toThrow(InvalidTypeError)
    await expect((async () => policy.reset(u, { level: ['user'] } as never))()).rejects.toThrow(/level/)
    expect(remaining(await policy.peek(u))).toEqual([95, 45, 55, 8, 500])
  })
})
