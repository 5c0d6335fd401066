import {
  type AsyncStore,
  concurrency,
  createLimiter,
  InvalidTypeError,
  memoryStore,
  slidingLog,
  tokenBucket,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { beforeEach, describe, expect, it } from 'vitest'

const START_MS = 1_745_000_000_000

describe('a lease', () => {
  let clock: ManualClock
  let limiter: ReturnType<typeof make>

  function make(max = 2) {
    return createLimiter({ limit: concurrency({ max, ttl: '30s' }), clock })
  }

  beforeEach(() => {
    clock = new ManualClock(START_MS)
    limiter = make()
  })

  const remaining = () => limiter.peek('k').remaining

  it('holds a place until it is released', () => {
    const [first, second, third] = [limiter.lease('k'), limiter.lease('k'), limiter.lease('k')]
    expect([first.allowed, second.allowed, third.allowed]).toEqual([true, true, false])
    expect(first).toMatchObject({ decision: { quota: 2, remaining: 1 }, endsAtMs: START_MS + 30_000 })
    expect(third).toMatchObject({ decision: { remaining: 0, retryAfterMs: 30_000 }, endsAtMs: undefined })
    first.release()
    expect(remaining()).toBe(1)
    expect(first.endsAtMs).toBeUndefined()
    expect(limiter.lease('k').allowed).toBe(true)
  })

  it('gives its place back once, however often it is released', () => {
    const lease = limiter.lease('k')
    limiter.lease('k')
    for (let i = 0; i < 3; i++) lease.release()
    expect(remaining()).toBe(1)
  })

  it('that was denied gives nothing back and cannot be extended', () => {
    limiter.lease('k', { cost: 2 })
    const denied = limiter.lease('k')
    denied.release()
    expect(denied.extend()).toBe(false)
    expect(remaining()).toBe(0)
  })

  it('whose holder dies frees its place after the ttl and not before', () => {
    limiter.lease('k', { cost: 2 })
    clock.advance(29_999.999)
    expect(limiter.lease('k').allowed).toBe(false)
    clock.advance(0.001)
    expect(limiter.lease('k', { cost: 2 }).allowed).toBe(true)
  })

  it('that has ended does not give back the place of another holder', () => {
    const late = limiter.lease('k')
    clock.advance(30_000)
    limiter.lease('k')
    limiter.lease('k')
    late.release()
    expect(remaining()).toBe(0)
  })

  it('gives back its own place only, even if another was taken in the same microsecond', () => {
    const [first, second] = [limiter.lease('k'), limiter.lease('k')]
    second.release()
    expect(remaining()).toBe(1)
    first.release()
    expect(remaining()).toBe(2)
  })

  it('that is extended lasts for another ttl from then', () => {
    const lease = limiter.lease('k', { cost: 2 })
    clock.advance(20_000)
    expect(lease.extend()).toBe(true)
    expect(lease.endsAtMs).toBe(START_MS + 50_000)
    clock.advance(29_999)
    expect(limiter.lease('k').allowed).toBe(false)
    expect(lease.extend()).toBe(true)
    lease.release()
    expect(remaining()).toBe(2)
    expect(lease.extend()).toBe(false)
    expect(remaining()).toBe(2)
  })

  it('that has ended cannot be extended, even if a place is free', () => {
    const lease = limiter.lease('k')
    clock.advance(30_000)
    expect(lease.extend()).toBe(false)
    expect(remaining()).toBe(2)
    expect(lease.endsAtMs).toBeUndefined()
  })

  it('is lost if it is extended while the key is blocked or in debt', () => {
    const [blocked, inDebt] = [limiter.lease('blocked'), limiter.lease('debt')]
    limiter.block('blocked', { duration: '1s' })
    expect(blocked.extend()).toBe(false)
    limiter.charge('debt', { cost: 2 })
    expect(inDebt.extend()).toBe(false)
    expect(limiter.peek('debt').remaining).toBe(0)
    clock.advance(1_000)
    expect(limiter.peek('blocked').remaining).toBe(2)
  })

  it('counts against a lower max of another version of the program, and keeps its own', () => {
    const store = memoryStore({ clock })
    const before = createLimiter({ name: 'jobs', limit: concurrency({ max: 3, ttl: '30s' }), store })
    const after = createLimiter({ name: 'jobs', limit: concurrency({ max: 1, ttl: '10s' }), store })
    const [first, second] = [before.lease('k'), before.lease('k')]
    expect(after.lease('k').allowed).toBe(false)
    expect(first.extend()).toBe(true)
    first.release()
    expect(after.lease('k').allowed).toBe(false)
    second.release()
    expect(after.lease('k').allowed).toBe(true)
  })

  it('wakes a waiter when it is released, and when it is lost', async () => {
    const lease = limiter.lease('k', { cost: 2 })
    const first = limiter.acquire('k')
    lease.release()
    expect(await first).toMatchObject({ allowed: true, remaining: 1 })
    const late = limiter.lease('other', { cost: 2 })
    clock.advance(30_000)
    expect(late.extend()).toBe(false)
    expect(await limiter.acquire('other', { cost: 2 })).toMatchObject({ allowed: true })
  })

  it('is released at the end of a block that uses it, and when that throws', () => {
    expect(() => {
      using lease = limiter.lease('k')
      expect(lease.allowed && remaining() === 1).toBe(true)
      throw new Error('work failed')
    }).toThrow('work failed')
    expect(remaining()).toBe(2)
  })

  it('needs a concurrency limit, and says what to use instead', async () => {
    const bucket = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/s' }), name: 'api' })
    expect(() => bucket.lease('k')).toThrow(InvalidTypeError)
    expect(() => bucket.lease('k')).toThrow(
      "lease needs a limit made by concurrency({ max, ttl }), and that of 'api' is token-bucket: " +
        'to take units now and settle them later, use reserve',
    )
    expect(bucket.peek('k').remaining).toBe(1)
    const log = createLimiter({ limit: slidingLog({ quota: 1, window: '1s' }) })
    expect(() => log.lease('k')).toThrow('is sliding-log')
    expect(() => limiter.lease('k', { cost: -1 })).toThrow('cost')
    expect(() => limiter.lease('')).toThrow('key')
  })

  it('is not the only way to take a place: other calls hold it until the ttl, a refund or a cancel', () => {
    limiter.tryAcquire('k')
    const reservation = limiter.reserve('k')
    expect(remaining()).toBe(0)
    reservation.cancel()
    expect(remaining()).toBe(1)
    limiter.refund('k')
    expect(remaining()).toBe(2)
  })
})

it('a concurrency limit is plain data with a default ttl of a minute', () => {
  expect(JSON.parse(JSON.stringify(concurrency({ max: 20 })))).toEqual({ algorithm: 'concurrency', max: 20, ttl: '1m' })
  expect(concurrency({ max: 20, ttl: '1.5s' })).toEqual({ algorithm: 'concurrency', max: 20, ttl: '1500ms' })
  expect(Object.isFrozen(concurrency({ max: 20 }))).toBe(true)
})

describe('waiting for a lease', () => {
  it('serves waiters in order, as soon as places are released', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const limiter = createLimiter({ limit: concurrency({ max: 1, ttl: '30s' }), clock })
    const first = limiter.lease('key')
    const got: string[] = []
    const second = limiter.acquireLease('key').then((lease) => {
      got.push('second')
      return lease
    })
    const third = limiter.acquireLease('key').then((lease) => {
      got.push('third')
      return lease
    })
    await Promise.resolve()
    expect(got).toEqual([])
    first.release()
    ;(await second).release()
    const last = await third
    expect(got).toEqual(['second', 'third'])
    expect(last.endsAtMs).toBe(clock.now() + 30_000)
    expect(limiter.peek('key').remaining).toBe(0)
    last[Symbol.dispose]()
    expect(limiter.peek('key').remaining).toBe(1)
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('gets the place of a dead holder when its lease ends, and not before', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const limiter = createLimiter({ limit: concurrency({ max: 1, ttl: '30s' }), clock })
    limiter.lease('key')
    const lease = limiter.acquireLease('key')
    clock.advance(29_999)
    expect(await Promise.race([lease, Promise.resolve('waits')])).toBe('waits')
    clock.advance(1)
    expect((await lease).allowed).toBe(true)
  })

  it('is an error unless the limit is a concurrency limit', async () => {
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/s' }) })
    await expect(limiter.acquireLease('key')).rejects.toThrow(InvalidTypeError)
    expect(limiter.peek('key').remaining).toBe(1)
  })
})

it('a caller that wants a place of a blocked key is rejected at once if the block is too long', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const limiter = createLimiter({ limit: concurrency({ max: 1, ttl: '30s' }), clock })
  limiter.block('key', { duration: '1h' })
  await expect(limiter.acquireLease('key', { maxWaitMs: 3_000 })).rejects.toMatchObject({ retryAfterMs: 3_600_000 })
})

it('a waiter whose time is over is told when a place is free at the latest', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const limiter = createLimiter({ limit: concurrency({ max: 1, ttl: '30s' }), clock })
  limiter.lease('key')
  const waiting = limiter.acquireLease('key', { maxWaitMs: 3_000 })
  const failed = expect(waiting).rejects.toMatchObject({ retryAfterMs: 27_000 })
  clock.advance(3_000)
  await failed
})

describe('a lease on a store that fails while it is extended', () => {
  const clock = new ManualClock(START_MS)
  const fails = { decide: false, refund: false }

  function failingStore(): AsyncStore {
    const memory = memoryStore({ clock })
    const later = <T>(name: keyof typeof fails, run: () => T) =>
      fails[name] ? Promise.reject(new Error(`${name} failed`)) : Promise.resolve(run())
    return {
      clock,
      decide: (demands) => later('decide', () => memory.decide(demands)),
      refund: (demand, taken) => later('refund', () => memory.refund(demand, taken)),
      peek: async (demands) => memory.peek(demands),
      charge: async (demand) => memory.charge(demand),
      set: async (limited, remaining) => memory.set(limited, remaining),
      reset: async (name, key) => memory.reset(name, key),
      block: async (name, key, durationUs) => memory.block(name, key, durationUs),
    }
  }

  it.each([
    ['gives nothing back', { refund: true, decide: false }, 1],
    ['gives nothing anew', { refund: false, decide: true }, 2],
    ['does neither', { refund: true, decide: true }, 2],
  ])('holds a place if the store may still count one, and frees it: one that %s', async (_what, failing, left) => {
    const store = failingStore()
    const limiter = createLimiter({ name: 'a', limit: concurrency({ max: 2, ttl: '30s' }), store })
    const lease = await limiter.lease('k')
    Object.assign(fails, failing)
    const extended = lease.extend()
    if (failing.decide) await expect(extended).rejects.toThrow('decide failed')
    else expect(await extended).toBe(true)
    Object.assign(fails, { refund: false, decide: false })
    await lease.release()
    expect((await limiter.peek('k')).remaining).toBe(left)
  })
})
