/** What a lending store on a real clock promises: expiries, batches, failures and refusals. */
import { describe, expect, it } from 'vitest'
import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/index.js'
import type { LeaseAnswer, LeaseFailure, LeaseRequest } from '../../src/stores/leases.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { connected } from './faults-clients.js'
import { ownServer } from './own-server.js'

const own = ownServer()
const bucket = tokenBucket({ capacity: 100, refill: '10/s' })
/** PX counts whole milliseconds from one that has begun, and a call takes some. */
const TOLERANCE_MS = 500

function request(key: string, terms: Partial<LeaseRequest> = {}): LeaseRequest {
  return { name: 'n', limit: bucket, key, node: 'node', sequence: 1, want: 30, leaseUs: 250_000, returns: [], ...terms }
}

function granted(answer: LeaseAnswer | LeaseFailure): LeaseAnswer {
  if ('instead' in answer) throw new Error('Redis did not answer')
  return answer
}

const exchange = async (key: string, terms: Partial<LeaseRequest> = {}) =>
  granted(await own.store.leases.exchange(request(key, terms)))

const ttlOf = async (pattern: string) => {
  const keys = await own.redis.keys(pattern)
  expect(keys).toHaveLength(1)
  return own.redis.pttl(keys[0])
}

function expectAbout(ttlMs: number, wantedMs: number): void {
  expect(ttlMs).toBeLessThanOrEqual(wantedMs + 2)
  expect(ttlMs).toBeGreaterThan(wantedMs - TOLERANCE_MS)
}

describe('a key with units on lease', () => {
  it('lives until the lease has ended and the bucket is full again, and its guard outlives the lease', async () => {
    const { lastsMs } = await exchange('ttl')
    expectAbout(await ttlOf('sluice:t:{ttl}n'), lastsMs + 3_000)
    expectAbout(await ttlOf('sluice:nt:{ttl}n}node'), 3_000)
    await own.store.charge({ name: 'n', limit: bucket, key: 'ttl', cost: 170 })
    expectAbout(await ttlOf('sluice:t:{ttl}n'), 20_000)
  })

  it('of a window lives until the window is over, and its guard no longer than that of a bucket', async () => {
    const century = fixedWindow({ quota: 100, window: '36500d' })
    const { lastsMs } = await exchange('century', { limit: century })
    expect(lastsMs).toBeLessThanOrEqual(2_000)
    expectAbout(await ttlOf('sluice:f36500d:{century}n'), 36_500 * 86_400_000 - Date.now())
    expectAbout(await ttlOf('sluice:nf36500d:{century}n}node'), 3_000)
  })

  it('remembers its leases through a reset and a block, and expires all the same', async () => {
    const { lastsMs, roundUs } = await exchange('reset')
    await own.store.charge({ name: 'n', limit: bucket, key: 'reset', cost: 40 })
    await own.store.reset('n', 'reset')
    const look = await own.store.decide([{ name: 'n', limit: bucket, key: 'reset', cost: 0 }])
    expect(look.decisions[0].remaining).toBe(70)
    expectAbout(await ttlOf('sluice:t:{reset}n'), Math.max(lastsMs + 3_000, 7_000))
    await own.store.block('n', 'reset', 60_000_000)
    const returns = [{ roundUs, spent: 10, unspent: 20 }]
    const blocked = await exchange('reset', { sequence: 2, returns })
    expect(blocked).toMatchObject({ granted: 0, isBlocked: true })
    expect(blocked.decisionFor(1).retryAfterMs).toBeGreaterThan(59_000)
    expectAbout(await ttlOf('sluice:t:{reset}n'), 60_000)
    await own.store.reset('n', 'reset')
    expect(await own.redis.keys('sluice:t:{reset}n')).toEqual([])
  })
})

it('leases leave together with every other call of a turn, and each gets its own answer', async () => {
  const demand = (key: string, cost: number, limit: Limit = bucket) => ({ name: 'mixed', limit, key, cost })
  const window = slidingWindow({ quota: 9, window: '1h', slices: 3 })
  await own.store.decide([demand('warm', 1)])
  const before = own.store.stats().batches
  const [one, direct, two, charged, , group, three, refunded, opened, four, , again] = await Promise.all([
    exchange('a', { name: 'mixed' }),
    own.store.decide([demand('a', 1)]),
    exchange('a', { name: 'mixed', sequence: 2, want: 100 }),
    own.store.charge(demand('b', 5)),
    own.store.reset('mixed', 'gone'),
    own.store.decide([demand('a', 0), demand('b', 4), demand('w', 2, window)]),
    exchange('w', { name: 'mixed', limit: window, want: 3 }),
    own.store.refund(demand('b', 9), undefined),
    own.store.reservations.open('id', [demand('r', 7)], 60_000, ''),
    exchange('r', { name: 'mixed', want: 500 }),
    own.store.block('mixed', 'x', 1_000_000),
    exchange('a', { name: 'mixed', sequence: 2, want: 100 }),
  ])
  expect([one, two, three, four, again].map((each) => each.granted)).toEqual([30, 69, 3, 93, 0])
  expect(direct.decisions[0].remaining).toBe(69)
  expect([charged.remaining, refunded.remaining]).toEqual([95, 100])
  expect(group.decisions.map(({ remaining }) => remaining)).toEqual([0, 91, 7])
  expect(opened.isKept).toBe(true)
  // A turn leaves in two batches, so that Redis works on one while the process reads the other.
  expect(own.store.stats().batches - before).toBe(2)
  own.store.close()
})

it('a reservation of a key with units on lease is found as it was opened, and gives its units back', async () => {
  await exchange('reserved')
  const demand = { name: 'n', limit: bucket, key: 'reserved', cost: 7 }
  const { reservation } = await own.store.reservations.open('reserved', [demand], 60_000, '')
  expect(reservation.answer.decisions[0].remaining).toBe(63)
  expect(await own.store.reservations.find('reserved')).toEqual(reservation)
  const taken = { atUs: reservation.answer.takenUs[0], cost: 7, delayMs: 0 }
  expect(await own.store.reservations.close(reservation, [{ demand, taken }])).toBe(true)
  const look = await own.store.decide([{ ...demand, cost: 0 }])
  expect(look.decisions[0].remaining).toBe(70)
  own.store.close()
})

it('the due leases of a hundred keys leave in two batches', async () => {
  const keys = Array.from({ length: 100 }, (_, i) => `due-${i}`)
  const before = own.store.stats().batches
  const answers = await Promise.all(keys.map((key) => exchange(key)))
  expect(answers.every((answer) => answer.granted === 30)).toBe(true)
  expect(own.store.stats().batches - before).toBe(2)
})

describe('an exchange that Redis does not answer', () => {
  it('resolves with a way to answer by the onFailure rule of each demand', async () => {
    const other = await connected('ioredis', own.server.port)
    const store = redisStore(other.client, { deadlineMs: 200, onFailure: 'closed' })
    other.close()
    const answer = await store.leases.exchange(request('away'))
    if (!('instead' in answer)) throw new Error('Redis answered')
    const demand = { name: 'n', limit: bucket, key: 'away', cost: 1 }
    expect(answer.instead([demand])).toMatchObject({ allowed: false, decisions: [{ degraded: 'closed' }] })
    expect(answer.instead([{ ...demand, onFailure: 'open' }])).toMatchObject({ allowed: true })
    expect(store.stats().degraded.error).toBe(1)
  })

  it('because the key holds another value resolves in the same way, and leaves the value and other calls alone', async () => {
    await own.redis.set('sluice:t:{foreign}n', 'of another program')
    const [foreign, sound] = await Promise.all([
      own.store.leases.exchange(request('foreign')),
      own.store.leases.exchange(request('sound')),
    ])
    expect('instead' in foreign).toBe(true)
    expect(sound).toMatchObject({ granted: 30 })
    expect(await own.redis.get('sluice:t:{foreign}n')).toBe('of another program')
    await own.redis.del('sluice:t:{foreign}n')
  })

  it.each<[string, readonly number[], string?]>([
    ['no words', []],
    ['a time that is not whole', [5, 0.5]],
    ['tokens that are no number', [Number.NaN, 1]],
    ['too many tokens', [2 ** 53, 1]],
    ['words of a leaky bucket', [5, 1, 1]],
    ['held units below 0', [5, 1, -1, 2e15, 0, 0]],
    ['half a held unit', [5, 1, 0, 0, 0.5, 2e15]],
    ['held units without end', [5, 1, 1, Number.POSITIVE_INFINITY, 0, 0]],
    ['an end that is no number', [5, 1, 1, Number.NaN, 0, 0]],
    ['a time that is not whole, and a block', [5, 0.5, 4e15, 4e15], 'b'],
  ])('because no limit wrote %s leaves that alone', async (_, words, letter = '') => {
    const value = Buffer.concat([Buffer.from(Float64Array.from(words).buffer), Buffer.from(letter)])
    await own.redis.set('sluice:t:{odd}n', value)
    expect('instead' in (await own.store.leases.exchange(request('odd')))).toBe(true)
    expect(await own.redis.getBuffer('sluice:t:{odd}n')).toEqual(value)
    expect(await own.redis.keys('sluice:nt:{odd}*')).toEqual([])
    await own.redis.del('sluice:t:{odd}n')
  })

  it('because the key holds a list leaves the list alone', async () => {
    await own.redis.rpush('sluice:t:{list}n', 'of another program')
    expect('instead' in (await own.store.leases.exchange(request('list')))).toBe(true)
    expect(await own.redis.type('sluice:t:{list}n')).toBe('list')
    await own.redis.del('sluice:t:{list}n')
  })
})

describe('a wrong request is refused before it shares a batch', () => {
  it.each<[string, Partial<LeaseRequest>]>([
    ['limit must be a token bucket', { limit: leakyBucket({ capacity: 100, drain: '10/s' }) }],
    ['limit must be a token bucket', { limit: fixedWindow({ quota: 5, window: '1m', align: 'first' }) }],
    ['limit must be a token bucket', { limit: tokenBucket({ capacity: 1, refill: '1000/s' }) }],
    ['want must be a whole number', { want: 1.5 }],
    ['leaseUs must be a whole number', { leaseUs: 0 }],
    ['sequence must be a whole number', { sequence: 0 }],
    ['node must be a non-empty string', { node: '' }],
    ['unspent must be a whole number', { returns: [{ roundUs: 1, spent: 0, unspent: -1 }] }],
  ])('%s', async (message, terms) => {
    await expect(own.store.leases.exchange(request('wrong', terms))).rejects.toThrow(message)
    expect(await own.redis.keys('sluice:*{wrong}*')).toEqual([])
  })
})
