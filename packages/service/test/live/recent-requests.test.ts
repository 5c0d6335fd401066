/** Requests are sampled only while a client watches, and only so many of them. */
import { createPolicy, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, it, onTestFinished } from 'vitest'
import { RecentRequests } from '../../src/live/recent-requests.js'

const policy = createPolicy({
  name: 'api',
  levels: [
    { name: 'user', key: ['user'], limit: tokenBucket({ capacity: 2, refill: '1/d' }) },
    { name: 'trial', key: ['user'], limit: tokenBucket({ capacity: 1, refill: '1/d' }), shadow: true },
  ],
})

function start(isSampling = true) {
  const clock = new ManualClock(1_000)
  const recents = new RecentRequests(clock)
  recents.attributes = ['user', 'path']
  recents.sampling(isSampling)
  onTestFinished(() => recents.sampling(false))
  return { clock, recents }
}

it('has what was asked and what came of it, with the attributes that the policy asks about', () => {
  const { recents } = start()
  const attributes = { user: 'a', path: '/v1/charges?card=4242#end', other: 'unasked', method: undefined }
  for (let i = 0; i < 3; i++) policy.check(attributes, { cost: 1 })
  const sampled = recents.take()
  expect(sampled.map(({ allowed, deniedBy }) => [allowed, deniedBy])).toEqual([
    [true, []],
    [true, []],
    [false, ['user']],
  ])
  expect(sampled[0]).toMatchObject({ atMs: 1_000, cost: 1, degraded: false })
  expect(sampled[0].attributes).toEqual({ user: 'a', path: '/v1/charges' })
  expect(recents.take()).toEqual([])
  expect(recents.find(sampled[2].id)).toBeUndefined()
  recents.add(sampled)
  expect(recents.find(sampled[2].id)).toMatchObject({ cost: 1, attributes: { user: 'a', path: '/v1/charges' } })
})

it('samples 20 requests at once and 20 a second after that', () => {
  const { clock, recents } = start()
  const count = (requests: number) => {
    for (let i = 0; i < requests; i++) policy.check({ user: `many-${i}` })
    return recents.take().length
  }
  expect(count(1_000)).toBe(20)
  clock.advance(100)
  expect(count(1_000)).toBe(2)
  clock.advance(60_000)
  expect(count(1_000)).toBe(20)
})

it('keeps 100 requests, however many are sampled or come from other workers', () => {
  const { clock, recents } = start()
  for (let i = 0; i < 30; i++) {
    for (let k = 0; k < 10; k++) policy.check({ user: `${i}` })
    clock.advance(1_000)
    recents.add(recents.take())
  }
  expect(recents.all).toHaveLength(100)
  expect(new Set(recents.all.map(({ id }) => id)).size).toBe(100)
  expect(recents.all.at(-1)?.attributes.user).toBe('29')
})

it('does not sample a request with much text, and nothing without a client that watches', () => {
  const { recents } = start()
  policy.check({ user: 'x'.repeat(2_001) })
  policy.check({ user: 'short' })
  expect(recents.take().map(({ attributes }) => attributes.user)).toEqual(['short'])
  recents.sampling(false)
  policy.check({ user: 'short' })
  expect(recents.take()).toEqual([])
})

it('keeps a path with several targets, without their queries', () => {
  const { recents } = start()
  policy.check({ user: 'b', path: ['/a?x', '/b'] })
  expect(recents.take()[0].attributes.path).toEqual(['/a', '/b'])
})
