/** Only so many requests are sampled, and only so many of them are kept. */
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

function keptRequest(id: string, allowed = true) {
  return { id, atMs: 0, allowed, deniedBy: allowed ? [] : ['user'], degraded: false, cost: 1, attributes: {} }
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

it('samples 10 allowed requests at once and 10 a second after that, and as many denied ones', () => {
  const { clock, recents } = start()
  const count = (requests: number) => {
    for (let i = 0; i < requests; i++) policy.check({ user: `many-${clock.now()}-${i}` })
    return recents.take().length
  }
  expect(count(1_000)).toBe(10)
  clock.advance(100)
  expect(count(1_000)).toBe(1)
  clock.advance(60_000)
  expect(count(1_000)).toBe(10)
  for (let i = 0; i < 1_002; i++) policy.check({ user: 'one' })
  const denied = recents.take()
  expect(denied).toHaveLength(10)
  expect(denied.some(({ allowed }) => allowed)).toBe(false)
})

it('samples the one denial after a flood of them', () => {
  const { clock, recents } = start()
  for (let i = 0; i < 102; i++) policy.check({ user: 'flood' })
  expect(recents.take().filter(({ allowed }) => !allowed)).toHaveLength(10)
  clock.advance(200)
  policy.check({ user: 'flood' })
  expect(recents.take()).toHaveLength(1)
})

it('shows 100 requests and keeps 500, however many are sampled or come from other workers', () => {
  const { clock, recents } = start()
  const ids: string[] = []
  for (let i = 0; i < 100; i++) {
    for (let k = 0; k < 10; k++) policy.check({ user: `${i}-${k}` })
    clock.advance(1_000)
    const sampled = recents.take()
    ids.push(...sampled.map(({ id }) => id))
    recents.add(sampled)
  }
  expect(recents.all.map(({ id }) => id)).toEqual(ids.slice(-100))
  expect(ids.filter((id) => recents.find(id) !== undefined)).toEqual(ids.slice(-500))
})

it('keeps and shows a denied request however many are allowed after it', () => {
  const { recents } = start()
  recents.add([keptRequest('denied', false)])
  recents.add(Array.from({ length: 2_000 }, (_, i) => keptRequest(`allowed-${i}`)))
  expect(recents.all).toHaveLength(101)
  expect(recents.all.map(({ id }) => id)).toContain('denied')
  expect(recents.find('denied')).toMatchObject({ allowed: false, deniedBy: ['user'] })
})

it('keeps the requests that were asked about last', () => {
  const { recents } = start()
  const add = (name: string, count: number) =>
    recents.add(Array.from({ length: count }, (_, i) => keptRequest(`${name}-${i}`)))
  add('old', 101)
  for (let i = 0; i < 101; i++) recents.find(`old-${i}`)
  add('new', 1_000)
  expect(recents.find('old-0')).toBeUndefined()
  expect(recents.find('old-1')).toBeDefined()
})

it('does not sample a request with much text, and nothing while sampling is off', () => {
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
