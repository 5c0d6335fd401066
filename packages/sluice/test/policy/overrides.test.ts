import { createPolicy, fixedWindow, InvalidPolicyError, InvalidTypeError, InvalidValueError, memoryStore } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { beforeEach, expect, it } from 'vitest'

const quota = (units: number) => fixedWindow({ quota: units, window: '1d' })
const START_MS = Date.UTC(2026, 0, 1)

const LEVELS = [
  { name: 'all', limit: quota(1_000) },
  {
    name: 'merchant',
    key: 'merchant',
    limit: quota(100),
    overrides: [{ when: { merchant: 'acct_big' }, limit: quota(200) }],
  },
  { name: 'pair', key: ['merchant', 'route'], limit: quota(50) },
  { name: 'ip', key: 'ip', limit: quota(20) },
] as const

let clock: ManualClock
let policy: ReturnType<typeof create>
const create = () => createPolicy({ name: 'api', levels: LEVELS, store: memoryStore({ clock }) })
beforeEach(() => {
  clock = new ManualClock(START_MS)
  policy = create()
})

/** The units that each level has left for a request, by level name. */
function quotas(request: { merchant?: string; route?: string; ip?: string }) {
  const { levels } = policy.peek({ merchant: null, route: null, ip: null, ...request })
  return Object.fromEntries(levels.map(({ name, decision }) => [name, decision.quota]))
}

it('an override applies from the next request on, to its key only', () => {
  policy.override('merchant', 'acct_1', quota(500))
  expect(quotas({ merchant: 'acct_1' })).toEqual({ all: 1_000, merchant: 500 })
  expect(quotas({ merchant: 'acct_2' })).toEqual({ all: 1_000, merchant: 100 })
})

it('units taken before an override still count', () => {
  policy.check({ merchant: 'acct_1', route: null, ip: null }, { cost: 90 })
  policy.override('merchant', 'acct_1', quota(500))
  expect(policy.peek({ merchant: 'acct_1', route: null, ip: null }).levels[1].decision.remaining).toBe(410)
})

it('a run-time override takes precedence over those of the policy until it is removed', () => {
  expect(quotas({ merchant: 'acct_big' })).toMatchObject({ merchant: 200 })
  policy.override('merchant', 'acct_big', quota(7))
  expect(quotas({ merchant: 'acct_big' })).toMatchObject({ merchant: 7 })
  policy.override('merchant', 'acct_big', [quota(8), quota(9)])
  expect(policy.peek({ merchant: 'acct_big', route: null, ip: null }).levels).toHaveLength(3)
  policy.removeOverride('merchant', 'acct_big')
  expect(quotas({ merchant: 'acct_big' })).toMatchObject({ merchant: 200 })
})

it('removing an override that does not exist does nothing', () => {
  policy.removeOverride('merchant', 'acct_1')
  expect(quotas({ merchant: 'acct_1' })).toMatchObject({ merchant: 100 })
})

it("an override ends exactly at its end by the store's clock", () => {
  policy.override('merchant', 'acct_1', quota(500), { until: START_MS + 1_000 })
  policy.override('merchant', 'acct_2', quota(500), { until: new Date(START_MS + 2_000) })
  clock.advance(999.999)
  expect(quotas({ merchant: 'acct_1' })).toMatchObject({ merchant: 500 })
  clock.advance(0.001)
  expect(quotas({ merchant: 'acct_1' })).toMatchObject({ merchant: 100 })
  expect(quotas({ merchant: 'acct_2' })).toMatchObject({ merchant: 500 })
  clock.advance(1_000)
  expect(quotas({ merchant: 'acct_2' })).toMatchObject({ merchant: 100 })
})

it('a later override replaces an earlier one together with its end', () => {
  policy.override('merchant', 'acct_1', quota(500), { until: START_MS + 1_000 })
  policy.override('merchant', 'acct_1', quota(600))
  clock.advance(5_000)
  expect(quotas({ merchant: 'acct_1' })).toMatchObject({ merchant: 600 })
})

it('expired overrides are forgotten as others are set, even if no request has their keys', () => {
  const store = memoryStore({ clock })
  const one = createPolicy({ name: 'api', levels: LEVELS, store })
  for (let i = 0; i < 1_000; i++) one.override('merchant', `ended_${i}`, quota(500), { until: START_MS + 1_000 })
  for (let i = 0; i < 10; i++) one.override('merchant', `kept_${i}`, quota(500), { until: START_MS + 20_000 })
  one.override('all', [], quota(999))
  expect(store.overrides('api').size).toBe(1_011)
  clock.advance(10_000)
  // Each call of override sweeps a few.
  for (let i = 0; i < 1_011; i++) one.override('merchant', 'acct_1', quota(i + 1))
  expect(store.overrides('api').size).toBe(12)
  const quotaOf = (merchant: string) => one.peek({ merchant, route: null, ip: null }).levels[1].decision.quota
  expect(['ended_0', 'ended_999', 'kept_0', 'kept_9', 'acct_1'].map(quotaOf)).toEqual([100, 100, 500, 500, 1_011])
})

it('a key of several attributes is a list, and different lists are different keys', () => {
  policy.override('pair', ['a', 'b|c'], quota(1))
  expect(quotas({ merchant: 'a', route: 'b|c' })).toMatchObject({ pair: 1 })
  expect(quotas({ merchant: 'a|b', route: 'c' })).toMatchObject({ pair: 50 })
  policy.override('pair', ['a\\', 'b'], quota(2))
  expect(quotas({ merchant: 'a\\', route: 'b' })).toMatchObject({ pair: 2 })
  expect(quotas({ merchant: 'a', route: 'b' })).toMatchObject({ pair: 50 })
})

it('the key of a level without key attributes is the empty list', () => {
  policy.override('all', [], quota(5))
  expect(quotas({})).toEqual({ all: 5 })
  policy.removeOverride('all', [])
  expect(quotas({})).toEqual({ all: 1_000 })
})

it('keys of overrides are normalised like those of requests', () => {
  policy.override('ip', '2001:DB8:0:0::1', quota(1))
  expect(quotas({ ip: '2001:db8::1' })).toMatchObject({ ip: 1 })
  expect(quotas({ ip: '2001:db8::ffff' })).toMatchObject({ ip: 1 })
  expect(quotas({ ip: '2001:db8:1::1' })).toMatchObject({ ip: 20 })
  policy.override('ip', '::ffff:192.0.2.1', quota(2))
  expect(quotas({ ip: '192.0.2.1' })).toMatchObject({ ip: 2 })
  policy.override('merchant', 42, quota(3))
  expect(quotas({ merchant: '42' })).toMatchObject({ merchant: 3 })
  policy.override('merchant', 'a\ud800', quota(4))
  expect(quotas({ merchant: 'a\ufffd' })).toMatchObject({ merchant: 4 })
})

it('any text is a key, even a name that every object has', () => {
  for (const merchant of ['__proto__', 'constructor', 'toString', '*', '#version', 'a/b', ' ']) {
    policy.override('merchant', merchant, quota(7))
    expect(quotas({ merchant })).toMatchObject({ merchant: 7 })
  }
  expect(quotas({ merchant: 'hasOwnProperty' })).toMatchObject({ merchant: 100 })
})

it('two policies on one store have separate overrides', () => {
  const store = memoryStore({ clock })
  const [one, two] = ['one', 'two'].map((name) => createPolicy({ name, levels: LEVELS, store }))
  const again = createPolicy({ name: 'one', levels: LEVELS, store })
  one.override('all', [], quota(5))
  const request = { merchant: null, route: null, ip: null }
  expect([one, two, again].map((each) => each.peek(request).levels[0].decision.quota)).toEqual([5, 1_000, 5])
})

it.each<[string, unknown, unknown, unknown, unknown, new (...args: never[]) => Error]>([
  ['a level that is not there', 'merchnat', 'acct_1', quota(5), undefined, InvalidValueError],
  ['no level', undefined, 'acct_1', quota(5), undefined, InvalidValueError],
  ['a level that objects have of their own', 'constructor', 'acct_1', quota(5), undefined, InvalidValueError],
  ['an empty key', 'merchant', '', quota(5), undefined, InvalidTypeError],
  ['no key', 'merchant', undefined, quota(5), undefined, InvalidTypeError],
  ['a key that is no text', 'merchant', {}, quota(5), undefined, InvalidTypeError],
  ['a key that is no number', 'merchant', Number.NaN, quota(5), undefined, InvalidTypeError],
  ['too many parts', 'merchant', ['acct_1', 'b'], quota(5), undefined, InvalidTypeError],
  ['too few parts', 'pair', ['acct_1'], quota(5), undefined, InvalidTypeError],
  ['an empty part', 'pair', ['acct_1', ''], quota(5), undefined, InvalidTypeError],
  ['a key for a level without a key', 'all', 'acct_1', quota(5), undefined, InvalidTypeError],
  ['an empty list of limits', 'merchant', 'acct_1', [], undefined, InvalidPolicyError],
  ['a limit with a mistake', 'merchant', 'acct_1', { ...quota(5), quota: -1 }, undefined, InvalidPolicyError],
  [
    'a second limit with a mistake',
    'merchant',
    'acct_1',
    [quota(5), { algorithm: 'x' }],
    undefined,
    InvalidPolicyError,
  ],
  ['an end that is over', 'merchant', 'acct_1', quota(5), { until: START_MS }, InvalidValueError],
  ['an end that is long over', 'merchant', 'acct_1', quota(5), { until: 0 }, InvalidValueError],
  ['an end before time began', 'merchant', 'acct_1', quota(5), { until: -1 }, InvalidValueError],
  ['an end that no Date can tell', 'merchant', 'acct_1', quota(5), { until: 8.64e15 + 1 }, InvalidValueError],
  ['an end that is text', 'merchant', 'acct_1', quota(5), { until: '2030-01-01' }, InvalidTypeError],
  ['an end that is no date', 'merchant', 'acct_1', quota(5), { until: new Date('x') }, InvalidValueError],
  ['an end that is no number', 'merchant', 'acct_1', quota(5), { until: Infinity }, InvalidValueError],
  ['an unknown option', 'merchant', 'acct_1', quota(5), { untl: START_MS + 1 }, InvalidTypeError],
])('%s is an error that changes nothing', (_, level, key, limit, options, error) => {
  policy.override('merchant', 'acct_1', quota(500))
  policy.override('all', [], quota(999))
  expect(() => policy.override(level as 'merchant', key as string, limit as never, options as never)).toThrow(error)
  expect(quotas({ merchant: 'acct_1', route: 'r' })).toEqual({ all: 999, merchant: 500, pair: 50 })
})

it('the error for a wrong limit says that the override cannot be used', () => {
  const wrong = { ...quota(5), quota: -1 }
  expect(() => policy.override('merchant', 'acct_1', wrong)).toThrow(/^the override cannot be used: limit\.quota: /)
  const both = { ...wrong, window: '1y' } as never
  expect(() => policy.override('merchant', 'acct_1', both)).toThrow(/^the override has 2 problems:\n/)
})

it('the error for an unknown level suggests the nearest name', () => {
  expect(() => policy.override('merchnat' as 'merchant', 'acct_1', quota(5))).toThrow(/'merchnat'.*'merchant'/)
  expect(() => policy.removeOverride('merchnat' as 'merchant', 'acct_1')).toThrow(/'merchnat'.*'merchant'/)
})
