import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { ManualClock } from 'sluice/testing'
import { expect, it, vi } from 'vitest'
import {
  createPolicy,
  type DecisionEvent,
  fixedWindow,
  InvalidPolicyError,
  InvalidTypeError,
  InvalidValueError,
  type SyncStore,
  tokenBucket,
  type Verdict,
} from '../../../src/index.js'
import { ReferenceStore } from '../../../src/testing/reference-store.js'
import { onBothStores } from './both-stores.js'
import { JointModel } from './joint-model.js'
import { Dice, randomLevels, randomRequest } from './random-policies.js'

const day = (quota: number) => fixedWindow({ quota, window: '1d' })
const remaining = ({ levels }: Verdict) => levels.map(({ decision }) => decision.remaining)
const LEVELS = [
  { name: 'all', limit: day(10) },
  { name: 'user', key: 'user', limit: day(3) },
] as const
const ann = { attributes: { user: 'ann' } }
const bob = { attributes: { user: 'bob' } }

onBothStores((own) => {
  const create = () => createPolicy({ name: 'test', levels: LEVELS, store: own.store })

  it('requests pass together, and each verdict has the levels of its own request', async () => {
    const { allowed, verdicts } = await create().checkAll([ann, { ...bob, cost: 2 }])
    expect(allowed).toBe(true)
    expect(verdicts.map(remaining)).toEqual([
      [7, 2],
      [7, 1],
    ])
    expect(verdicts.map(({ levels }) => levels.map(({ name }) => name))).toEqual([
      ['all', 'user'],
      ['all', 'user'],
    ])
  })

  it('none takes anything if one is denied, and the verdict of a request that had room says that it is allowed', async () => {
    const policy = create()
    await policy.check({ user: 'bob' }, { cost: 3 })
    const { allowed, verdicts } = await policy.checkAll([ann, bob])
    expect(allowed).toBe(false)
    expect(verdicts.map((verdict) => [verdict.allowed, verdict.deniedBy])).toEqual([
      [true, []],
      [false, ['user']],
    ])
    expect(verdicts[1].retryAfterMs).toBeGreaterThan(0)
    expect(verdicts.map(remaining)).toEqual([
      [7, 3],
      [7, 0],
    ])
    expect(remaining(await policy.peek({ user: 'ann' }))).toEqual([7, 3])
  })

  it('demands on one state are added up', async () => {
    const policy = create()
    const four = await policy.checkAll([
      { ...ann, cost: 2 },
      { ...ann, cost: 2 },
    ])
    expect([four.allowed, ...four.verdicts.map(({ deniedBy }) => deniedBy)]).toEqual([false, ['user'], ['user']])
    const three = await policy.checkAll([{ ...ann, cost: 2 }, ann])
    expect([three.allowed, ...three.verdicts.map(remaining)]).toEqual([true, [7, 0], [7, 0]])
  })

  it('a cost of 0 looks: it takes nothing, also in a level with a cost of its own, and passes where nothing is left', async () => {
    const levels = [{ name: 'user', key: 'user', limit: day(4), cost: 2 }] as const
    const policy = createPolicy({ name: 'costs', levels, store: own.store })
    const looks = async () => (await policy.checkAll([{ ...ann, cost: 0 }])).verdicts.map(remaining)
    expect(await looks()).toEqual([[4]])
    expect((await policy.checkAll([ann, ann])).allowed).toBe(true)
    expect(await looks()).toEqual([[0]])
    await policy.block({ user: 'ann' }, { duration: '1h' })
    expect((await policy.checkAll([{ ...ann, cost: 0 }])).allowed).toBe(false)
  })

  it('limits replace those of every level that matches, for this call, and count on the same states', async () => {
    const policy = create()
    await policy.override('user', 'ann', day(5))
    await policy.check({ user: 'ann' })
    const wide = await policy.checkAll([{ ...ann, limits: day(100), cost: 20 }])
    expect(wide.verdicts[0].levels.map(({ limit }) => limit)).toEqual([day(100), day(100)])
    expect([wide.allowed, remaining(wide.verdicts[0])]).toEqual([true, [79, 79]])
    expect((await policy.check({ user: 'ann' })).deniedBy).toEqual(['all', 'user'])
    const narrow = await policy.checkAll([{ ...bob, limits: [day(100), day(1)], cost: 2 }])
    expect([narrow.allowed, narrow.verdicts[0].deniedBy]).toEqual([false, ['all', 'user']])
  })

  it('refund gives units back that were counted by other limits', async () => {
    const policy = create()
    const hour = fixedWindow({ quota: 5, window: '1h' })
    await policy.checkAll([{ ...ann, limits: hour, cost: 4 }, bob])
    const { levels } = await policy.refund(ann.attributes, { limits: hour, cost: 3 })
    expect(levels.map(({ limit, decision }) => [limit, decision.remaining])).toEqual(Array(2).fill([hour, 4]))
    expect(remaining(await policy.peek({ user: 'ann' }))).toEqual([9, 3])
    const refund = async (options: object) => await policy.refund({ user: 'ann' }, options)
    await expect(refund({ limits: [] })).rejects.toThrow(InvalidPolicyError)
    await expect(refund({ limits: hour, weight: 1 })).rejects.toThrow("refund has no option 'weight'")
    await expect(refund(3 as never)).rejects.toThrow('options must be an object')
  })

  it('no request, and requests that match no level, are allowed', async () => {
    expect(await create().checkAll([])).toEqual({ allowed: true, verdicts: [] })
    const policy = createPolicy({
      name: 'none',
      levels: [{ name: 'user', key: 'user', limit: day(1) }],
      store: own.store,
    })
    const { allowed, verdicts } = await policy.checkAll([{ attributes: { user: null } }, ann])
    expect([allowed, verdicts[0].levels, remaining(verdicts[1])]).toEqual([true, [], [0]])
  })

  it('with one request, the verdict is that of check', async () => {
    const dice = new Dice(22)
    let denied = 0
    for (let i = 0; i < 20; i++) {
      const { levels } = randomLevels(dice)
      const one = createPolicy({ name: `one-${i}`, levels, store: own.store })
      const all = createPolicy({ name: `all-${i}`, levels, store: own.store })
      for (let j = 0; j < 25; j++) {
        own.clock.advance(dice.of([0, 0, 1, 17.123, 100, 333]))
        const attributes = randomRequest(dice)
        const cost = dice.of([1, 1, 2, 3, 13])
        const [verdict, joint] = await Promise.all([
          one.check(attributes, { cost }),
          all.checkAll([{ attributes, cost }]),
        ])
        expect(joint).toEqual({ allowed: verdict.allowed, verdicts: [verdict] })
        if (!verdict.allowed) denied++
      }
    }
    expect(denied).toBeGreaterThan(50)
  })

  it('random requests pass together or take nothing, as a model counts them', async () => {
    const dice = new Dice(23)
    const seen = { allowed: 0, denied: 0, bystanders: 0 }
    for (let i = 0; i < 15; i++) {
      const model = new JointModel({ all: dice.from(5, 40), user: dice.from(2, 12), plan: dice.from(3, 20) })
      const policy = createPolicy({ name: `model-${i}`, levels: model.levels, store: own.store })
      for (let j = 0; j < 30; j++) {
        const requests = Array.from({ length: dice.from(1, 5) }, () => ({
          attributes: { user: dice.of(['u0', 'u1', 'u2', null]), plan: dice.of(['free', 'pro', null]) },
          cost: dice.of([0, 1, 1, 2, 3]),
        }))
        const wanted = model.take(requests)
        const { allowed, verdicts } = await policy.checkAll(requests)
        expect({ allowed, verdicts: verdicts.map((each) => [each.deniedBy, remaining(each)]) }).toEqual(wanted)
        seen[allowed ? 'allowed' : 'denied']++
        if (!allowed && verdicts.some((each) => each.allowed)) seen.bystanders++
      }
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20)
  })

  it('the channel has a decision of check for each request, none of which is allowed if one is denied', async () => {
    const events: unknown[] = []
    const listen = (message: unknown) => {
      const { name, method, request, cost, allowed, demands, decisions } = message as DecisionEvent
      if (name === 'heard')
        events.push([
          method,
          request,
          cost,
          allowed,
          demands.map(({ level }) => level),
          decisions.map((each) => each.allowed),
        ])
    }
    const policy = createPolicy({ name: 'heard', levels: LEVELS, store: own.store })
    subscribe('sluice:decision', listen)
    try {
      await policy.checkAll([ann, { ...bob, cost: 4 }])
      await policy.checkAll([ann])
    } finally {
      unsubscribe('sluice:decision', listen)
    }
    const both = ['all', 'user']
    expect(events).toEqual([
      ['check', ann.attributes, 1, false, both, [true, true]],
      ['check', bob.attributes, 4, false, both, [true, false]],
      ['check', ann.attributes, 1, true, both, [true, true]],
    ])
  })

  it('a wrong request is an error that names it, and nothing is taken', async () => {
    const policy = create()
    const call = async (requests: unknown) => await policy.checkAll(requests as [])
    const wrong = [
      [ann, InvalidTypeError, 'requests must be a list'],
      [[ann, { user: 'bob' }], InvalidTypeError, "requests[1]: a request has no option 'user'"],
      [[ann, { attributes: 'bob' }], InvalidTypeError, 'request must be an object of attributes'],
      [[ann, {}], InvalidTypeError, 'request must be an object of attributes'],
      [[ann, { ...bob, cost: -1 }], InvalidValueError, 'requests[1]: cost must be'],
      [[ann, { ...bob, limits: [] }], InvalidPolicyError, 'limit must be a limit, or a list of at least one'],
      [[ann, { ...bob, limits: 5 }], InvalidPolicyError, 'a number does not say per what'],
    ] as const
    for (const [requests, kind, message] of wrong) {
      const error = await call(requests).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(kind)
      expect((error as Error).message).toContain(message)
    }
    expect(remaining(await policy.peek({ user: 'ann' }))).toEqual([10, 3])
  })
})

it('limits of a call are prepared once for each level, and read once if they are frozen', () => {
  const policy = createPolicy({ levels: LEVELS })
  const limits = Object.freeze([tokenBucket({ capacity: 5, refill: '1/s' })])
  const [first, second] = [1, 2].map(() => policy.checkAll([{ ...ann, limits }]).verdicts[0])
  expect(remaining(second)).toEqual([3, 3])
  expect(second.levels[0].limit).toBe(first.levels[0].limit)
})

it('a store that fails is an error, which the channel has for each request', () => {
  const heard = vi.fn()
  const listen = (message: unknown) => heard((message as DecisionEvent).error, (message as DecisionEvent).cost)
  const failure = new Error('away')
  const decide = () => {
    throw failure
  }
  const store: SyncStore = Object.assign(new ReferenceStore(new ManualClock(0)), { decide })
  const policy = createPolicy({ name: 'failing', levels: LEVELS, store })
  subscribe('sluice:decision', listen)
  try {
    expect(() => policy.checkAll([ann, { ...bob, cost: 2 }])).toThrow(failure)
  } finally {
    unsubscribe('sluice:decision', listen)
  }
  expect(heard.mock.calls).toEqual([
    [failure, 1],
    [failure, 2],
  ])
})
