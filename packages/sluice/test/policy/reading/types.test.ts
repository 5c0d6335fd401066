/** Tests of types: each line that must not compile has a @ts-expect-error. */
import {
  type AsyncPolicy,
  type AsyncStore,
  createPolicy,
  fixedWindow,
  type Level,
  memoryStore,
  type Policy,
  tokenBucket,
} from 'sluice'
import { expect, expectTypeOf, test } from 'vitest'

const limit = fixedWindow({ quota: 100, window: '1h' })

const policy = createPolicy({
  levels: [
    { name: 'global', limit },
    {
      name: 'merchant',
      key: 'merchant',
      limit,
      overrides: [{ when: { plan: 'gold' }, limit: tokenBucket({ capacity: 9, refill: '1/s' }) }],
    },
    {
      name: 'charges',
      key: ['merchant', 'region'],
      when: { method: 'POST', path: '/v1/charges' },
      limit,
      cost: 'units',
    },
  ],
})

test('the attributes of a request are those of when, key, cost and overrides', () => {
  expectTypeOf(policy).toEqualTypeOf<
    Policy<'merchant' | 'region' | 'method' | 'path' | 'units' | 'plan', 'global' | 'merchant' | 'charges'>
  >()
  const request = { merchant: 'a', region: 'eu', method: 'POST', path: '/v1/charges', units: 3, plan: null }
  expect(policy.check(request).allowed).toBe(true)
  expect(policy.check({ ...request, more: {} }).allowed).toBe(true)
  expect([...policy.attributes].sort()).toEqual(['merchant', 'method', 'path', 'plan', 'region', 'units'])
})

test('each request of checkAll has all of them, and may have others', () => {
  const none = { merchant: null, region: undefined, method: 'GET', path: '/', units: 1, plan: null }
  const { allowed, verdicts } = policy.checkAll([
    { attributes: { ...none, merchant: 'a', more: {} }, cost: 2 },
    { attributes: none, limits: [limit, limit] },
  ])
  expect([allowed, verdicts.length]).toEqual([true, 2])
  const { merchant: _, ...less } = none
  // @ts-expect-error -- the second request lacks merchant
  policy.checkAll([{ attributes: none }, { attributes: less }])
  // @ts-expect-error -- a request has no such option
  expect(() => policy.checkAll([{ attributes: none, weight: 2 }])).toThrow(TypeError)
  // @ts-expect-error -- a list is what it takes
  expect(() => policy.checkAll({ attributes: none })).toThrow(TypeError)
})

test('each of them is required, if only as undefined', () => {
  // @ts-expect-error -- all attributes are missing
  policy.check({})
  // @ts-expect-error -- merchant is missing, which a key needs
  policy.check({ region: 'eu', method: 'GET', path: '/', units: 1, plan: 'a' })
  // @ts-expect-error -- path is missing, which a when asks about
  policy.check({ merchant: 'a', region: 'eu', method: 'GET', units: 1, plan: 'a' })
  // @ts-expect-error -- units is missing, which is a cost
  policy.check({ merchant: 'a', region: 'eu', method: 'GET', path: '/', plan: 'a' })
  // @ts-expect-error -- plan is missing, which an override asks about
  policy.check({ merchant: 'a', region: 'eu', method: 'GET', path: '/', units: 1 })
  const rest = { region: undefined, method: undefined, path: undefined, units: undefined, plan: undefined }
  // @ts-expect-error -- an object is not a value of an attribute
  expect(() => policy.check({ ...rest, merchant: {} })).toThrow(TypeError)
  // @ts-expect-error -- a list is not a value of this attribute
  expect(() => policy.check({ ...rest, merchant: ['a'] })).toThrow(TypeError)
})

test('the names of levels are checked', () => {
  policy.override('merchant', 'a', limit)
  policy.removeOverride('merchant', 'a')
  // @ts-expect-error -- misspelt
  expect(() => policy.override('merchants', 'a', limit)).toThrow(RangeError)
  // @ts-expect-error -- misspelt
  expect(() => policy.removeOverride('charge', 'a')).toThrow(RangeError)
  const request = { merchant: 'a', region: 'eu', method: 'POST', path: '/', units: 3, plan: null }
  policy.reset(request, { levels: ['global'] })
  // @ts-expect-error -- misspelt
  expect(() => policy.reset(request, { levels: ['globals'] })).toThrow(RangeError)
})

test('settle accepts only attributes of the policy', () => {
  const request = { merchant: 'a', region: 'eu', method: 'POST', path: '/v1/charges', units: 3, plan: null }
  policy.reserve(request).settle({ units: 2 })
  policy.reserve(request).settle(2)
  // @ts-expect-error -- no level asks about it
  expect(() => policy.reserve(request).settle({ unit: 2 })).toThrow("knows no attribute 'unit'")
})

test('a request may be an interface or a class, and have other properties', () => {
  interface Attributes {
    readonly merchant: string
    readonly plan?: string
  }
  class Incoming {
    readonly headers = new Map<string, string>()
    readonly merchant: string | undefined
    constructor(merchant: string | undefined) {
      this.merchant = merchant
    }
    get plan() {
      return 'gold'
    }
  }
  const asked = createPolicy({
    levels: [{ name: 'merchant', key: 'merchant', limit, overrides: [{ when: { plan: 'gold' }, limit }] }],
  })
  const required: Required<Attributes> = { merchant: 'a', plan: 'gold' }
  const some: Attributes = { merchant: 'a' }
  asked.check(required)
  asked.check(new Incoming('a'))
  asked.check({ merchant: 'a', plan: null, headers: {}, more: Symbol('more') })
  // @ts-expect-error -- plan is optional, but attributes are required
  asked.check(some)
  // @ts-expect-error -- a Map has no property merchant
  asked.check(new Map([['merchant', 'a']]))
  // @ts-expect-error -- misspelt, beside other properties
  asked.check({ merchnat: 'a', plan: null, headers: {} })
  asked.peek(new Incoming('a'))
  asked.charge(new Incoming('a'), { cost: 2 })
  asked.refund(required)
  asked.reserve(new Incoming('a')).settle({ plan: 'silver' })
  asked.explain({ merchant: 'a', plan: null, body: '' })
  asked.reset(new Incoming('a'), { levels: ['merchant'] })
  expect(asked.peek(required).levels[0].decision.remaining).toBe(100)
})

test('the same holds on a store that answers later', () => {
  interface Attributes {
    readonly user: string
  }
  class Incoming {
    readonly user = 'a'
    readonly body = {}
  }
  const ask = (asked: AsyncPolicy<'user', 'user'>, request: Attributes) => [
    asked.check(request),
    asked.check(new Incoming()),
    asked.reserve({ user: 'a', body: {} }),
    asked.explain(request),
    // @ts-expect-error -- user is missing
    asked.check({ users: 'a' }),
  ]
  const create = (store: AsyncStore) =>
    createPolicy({ name: 'p', levels: [{ name: 'user', key: 'user', limit }], store })
  expectTypeOf(create).returns.toEqualTypeOf<AsyncPolicy<'user', 'user'>>()
  expectTypeOf(ask).parameter(0).toEqualTypeOf<ReturnType<typeof create>>()
})

test('any request is accepted if the compiler does not know the levels', () => {
  interface Attributes {
    readonly user: string
  }
  const levels: Level[] = [{ name: 'user', key: 'user', limit }]
  const readonlyLevels: readonly Level[] = levels
  const any = createPolicy({ levels })
  expectTypeOf(any).toEqualTypeOf<Policy<string, string>>()
  expectTypeOf(any).toEqualTypeOf<Policy>()
  expectTypeOf(createPolicy({ levels: readonlyLevels })).toEqualTypeOf<Policy>()
  expectTypeOf(createPolicy({ levels: [...levels, { name: 'all', limit }] })).toEqualTypeOf<Policy>()
  const request: Attributes = { user: 'a' }
  expect(any.check(request).allowed).toBe(true)
  expect(any.check({ user: 'a', anything: {} }).allowed).toBe(true)
  any.override('user', 'a', limit)
  any.reserve(request).settle({ user: 'a' })
  // @ts-expect-error -- a request must still be an object
  expect(() => any.check('a')).toThrow(TypeError)
})

test('levels without attributes accept an empty request', () => {
  const all = createPolicy({ levels: [{ name: 'all', limit }] })
  expectTypeOf(all).toEqualTypeOf<Policy<never, 'all'>>()
  expect(all.check({}).allowed).toBe(true)
})

test('a policy with a store needs a name and takes no clock', () => {
  const levels = [{ name: 'all', limit }] as const
  expectTypeOf(createPolicy({ name: 'p', levels, store: memoryStore() })).toEqualTypeOf<Policy<never, 'all'>>()
  // @ts-expect-error -- the name is missing
  expect(() => createPolicy({ levels, store: memoryStore() })).toThrow(TypeError)
  // @ts-expect-error -- the store has its own clock
  expect(() => createPolicy({ name: 'p', levels, store: memoryStore(), clock: Date })).toThrow(TypeError)
})

test('the properties of a level are checked', () => {
  // @ts-expect-error -- a key is a name or a list of names
  expect(() => createPolicy({ levels: [{ name: 'a', key: { user: true }, limit }] })).toThrow(TypeError)
  // @ts-expect-error -- unknown property
  expect(() => createPolicy({ levels: [{ name: 'a', limits: limit }] })).toThrow(TypeError)
  // @ts-expect-error -- the name is missing
  expect(() => createPolicy({ levels: [{ limit }] })).toThrow(TypeError)
  // @ts-expect-error -- regular expressions are not supported
  expect(() => createPolicy({ levels: [{ name: 'a', when: { path: /v1/ }, limit }] })).toThrow(TypeError)
  // @ts-expect-error -- a rate is not a limit
  expect(() => createPolicy({ levels: [{ name: 'a', limit: '5/s' }] })).toThrow(TypeError)
})
