import { concurrency, createPolicy, memoryStore, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { beforeEach, expect, it } from 'vitest'

let clock: ManualClock

beforeEach(() => {
  clock = new ManualClock(1_745_000_000_000)
})

function stripe(calls = 10) {
  return createPolicy({
    levels: [
      { name: 'calls', key: 'merchant', limit: tokenBucket({ capacity: calls, refill: '1/h' }) },
      { name: 'running', key: 'merchant', limit: concurrency({ max: 2, ttl: '30s' }), cost: 1 },
    ],
    clock,
  })
}
const request = { merchant: 'm' }
const left = (policy: ReturnType<typeof stripe>) =>
  policy.peek(request).levels.map(({ decision }) => decision.remaining)

it('a policy with a concurrency limit says so in leases', () => {
  expect(stripe().leases).toBe(true)
  const plain = createPolicy({
    name: 'plain',
    levels: [{ name: 'a', limit: tokenBucket({ capacity: 1, refill: '1/s' }) }],
    store: memoryStore(),
  })
  expect(plain.leases).toBe(false)
  plain.override('a', [], concurrency({ max: 1 }))
  expect(plain.leases).toBe(true)
})

it('a request takes from buckets and concurrency limits together, or from none', () => {
  const policy = stripe()
  policy.reserve(request)
  policy.reserve(request)
  expect(policy.reserve(request).verdict.deniedBy).toEqual(['running'])
  expect(left(policy)).toEqual([8, 0])
})

it('a denial by another level leaves nothing in flight', () => {
  const policy = stripe(1)
  policy.reserve(request).release()
  const denied = policy.reserve(request)
  expect(denied.verdict.deniedBy).toEqual(['calls'])
  expect(left(policy)).toEqual([0, 2])
  denied.release()
  denied.cancel()
  expect(left(policy)).toEqual([0, 2])
})

it('release refunds only the concurrency limit, and only once', () => {
  const policy = stripe()
  const [first] = [policy.reserve(request), policy.reserve(request)]
  first.release()
  first.release()
  expect(left(policy)).toEqual([8, 1])
  first.cancel()
  expect(left(policy)).toEqual([9, 1])
  first.cancel()
  first.settle(0)
  expect(left(policy)).toEqual([9, 1])
})

it('settle keeps the request in flight, and a later cancel refunds only the concurrency limit', () => {
  const policy = stripe()
  const reservation = policy.reserve(request, { cost: 5 })
  expect(left(policy)).toEqual([5, 1])
  reservation.settle(2)
  expect(left(policy)).toEqual([8, 1])
  reservation.cancel()
  expect(left(policy)).toEqual([8, 2])
  reservation.release()
  expect(left(policy)).toEqual([8, 2])
})

it('cancel refunds everything, and a later release nothing', () => {
  const policy = stripe()
  policy.reserve(request)
  const reservation = policy.reserve(request)
  reservation.cancel()
  reservation.release()
  expect(left(policy)).toEqual([9, 1])
})

it('check, and a reservation that is never released, stay in flight until the ttl', () => {
  const policy = stripe()
  policy.check(request)
  policy.reserve(request)
  clock.advance(29_999)
  expect(policy.check(request).deniedBy).toEqual(['running'])
  clock.advance(1)
  expect(policy.check(request).allowed).toBe(true)
})

it('a reservation declared with using is released at the end of its scope', () => {
  const policy = stripe()
  {
    using reservation = policy.reserve(request)
    expect(reservation.verdict.allowed && left(policy)[1]).toBe(1)
  }
  expect(left(policy)).toEqual([9, 2])
})

it('release refunds a shadow level that allowed, and not one that denied', () => {
  const policy = createPolicy({ levels: [{ name: 'watched', limit: concurrency({ max: 1 }), shadow: true }], clock })
  const [met, unmet] = [policy.reserve({}), policy.reserve({})]
  expect(unmet.verdict.allowed).toBe(true)
  unmet.release()
  expect(policy.peek({}).levels[0].decision.remaining).toBe(0)
  met.release()
  expect(policy.peek({}).levels[0].decision.remaining).toBe(1)
})
