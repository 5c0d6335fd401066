import fc from 'fast-check'
import {
  concurrency,
  createLimiter,
  createLimiters,
  fixedWindow,
  leakyBucket,
  QueueFullError,
  slidingLog,
  tokenBucket,
} from 'sluice'
import { createRecorder } from 'sluice/metrics'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { LateStore } from './counted-store.js'
import { Outcomes, pass, settled } from './outcomes.js'

const START = 1_745_000_000_000
const bucket = tokenBucket({ capacity: 2, refill: '1/s' })

const limits = {
  'token bucket': bucket,
  'leaky bucket': leakyBucket({ capacity: 3, drain: '1/s' }),
  'fixed window': fixedWindow({ quota: 2, window: '1s' }),
  'sliding log': slidingLog({ quota: 2, window: '1s' }),
}

function roomOf(maxWaiters: number, limit = bucket) {
  const clock = new ManualClock(START)
  return { clock, limiter: createLimiter({ limit, clock, maxWaiters }), outcomes: new Outcomes(clock) }
}

describe('maxWaiters', () => {
  it('rejects the caller above it at once, counted over all keys, and takes nothing', async () => {
    const { clock, limiter, outcomes } = roomOf(2)
    for (const key of ['a', 'b', 'c']) limiter.tryAcquire(key, { cost: 2 })
    outcomes.watch('a', limiter.acquire('a'))
    outcomes.watch('b', limiter.acquire('b'))
    for (const key of ['a', 'b', 'c'])
      await expect(limiter.acquire(key)).rejects.toMatchObject({
        code: 'SLUICE_QUEUE_FULL',
        retryAfterMs: 1_000,
        message:
          "the limiter 'default' has as many waiters as it may have (maxWaiters 2); come back in 1000 ms at the earliest",
      })
    await pass(clock, 1_000)
    expect(outcomes.admitted).toEqual(['a', 'b'])
    expect(['a', 'b', 'c'].map((key) => limiter.peek(key).remaining)).toEqual([0, 0, 1])
    expect(clock.nextAlarmMs).toBeUndefined()
    // There is room again.
    outcomes.watch('again', limiter.acquire('a'))
    await pass(clock, 1_000)
    expect(outcomes.admitted).toEqual(['a', 'b', 'again'])
  })

  it('does not count a caller that a memory store serves at once', async () => {
    const { clock, limiter, outcomes } = roomOf(1)
    limiter.tryAcquire('a', { cost: 2 })
    outcomes.watch('waits', limiter.acquire('a'))
    for (let i = 0; i < 2; i++) expect(await limiter.acquire('b')).toMatchObject({ allowed: true })
    await expect(limiter.acquire('b')).rejects.toBeInstanceOf(QueueFullError)
    await pass(clock, 1_000)
    expect(outcomes.admitted).toEqual(['waits'])
  })

  it('has room again when a waiter gives up', async () => {
    const { clock, limiter, outcomes } = roomOf(1)
    limiter.tryAcquire('a', { cost: 2 })
    const controller = new AbortController()
    const gone = limiter.acquire('a', { signal: controller.signal }).catch((reason) => reason)
    await expect(limiter.acquire('a')).rejects.toBeInstanceOf(QueueFullError)
    controller.abort('gone')
    expect(await gone).toBe('gone')
    outcomes.watch('next', limiter.acquire('a', { maxWaitMs: 2_000 }))
    await pass(clock, 1_000)
    expect(outcomes.admitted).toEqual(['next'])
  })

  it('is that of acquireLease too', async () => {
    const clock = new ManualClock(START)
    const limiter = createLimiter({ limit: concurrency({ max: 1, ttl: '1m' }), clock, maxWaiters: 1 })
    const first = await limiter.acquireLease('jobs')
    const second = limiter.acquireLease('jobs')
    await expect(limiter.acquireLease('jobs')).rejects.toBeInstanceOf(QueueFullError)
    first.release()
    const lease = await second
    lease.release()
    expect(limiter.peek('jobs').remaining).toBe(1)
  })

  it('is that of each limiter of createLimiters', async () => {
    const clock = new ManualClock(START)
    const limiters = createLimiters({ one: bucket, other: bucket }, { clock, maxWaiters: 1 })
    for (const limiter of Object.values(limiters)) {
      await limiter.acquire('a', { cost: 2 })
      limiter.acquire('a').catch(expect.fail)
      await expect(limiter.acquire('a')).rejects.toThrow(
        `the limiter '${limiter.name}' has as many waiters as it may have (maxWaiters 1)`,
      )
    }
    expect(() => createLimiters({ one: bucket }, { maxWaiters: 0.5 })).toThrow(/maxWaiters must be a whole number/)
    await pass(clock, 1_000)
  })

  it('is 100,000 unless given', async () => {
    const clock = new ManualClock(START)
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/ms' }), clock })
    limiter.tryAcquire('a')
    let served = 0
    for (let i = 0; i < 100_000; i++) limiter.acquire('a').then(() => served++, expect.fail)
    await expect(limiter.acquire('a')).rejects.toBeInstanceOf(QueueFullError)
    clock.advance(100_000)
    await new Promise(setImmediate)
    expect(served).toBe(100_000)
  })

  it('counts a caller that is rejected as denied, not as a failure', async () => {
    using recorder = createRecorder()
    const { limiter } = roomOf(1)
    const controller = new AbortController()
    await limiter.acquire('a', { cost: 2 })
    const waiting = limiter.acquire('a', { signal: controller.signal }).catch(() => {})
    await expect(limiter.acquire('a')).rejects.toBeInstanceOf(QueueFullError)
    controller.abort()
    await waiting
    expect(recorder.read().series).toMatchObject([{ name: 'default', allowed: 1, denied: 1, error: 0 }])
  })

  it('counts callers that a store is being asked for, and rejects the next without asking', async () => {
    const clock = new ManualClock(START)
    const store = new LateStore(clock)
    const limiter = createLimiter({ name: 'late', limit: bucket, store, maxWaiters: 2 })
    const outcomes = new Outcomes(clock)
    outcomes.watch('a', limiter.acquire('a'))
    outcomes.watch('b', limiter.acquire('b'))
    expect(store.underway).toBe(2)
    await expect(limiter.acquire('c')).rejects.toMatchObject({ code: 'SLUICE_QUEUE_FULL', retryAfterMs: 1 })
    expect(store.underway).toBe(2)
    store.answer()
    await settled()
    expect(outcomes.admitted).toEqual(['a', 'b'])
  })

  it.each(Object.entries(limits))('never lets more wait, and those that wait are served: %s', async (_name, limit) => {
    const steps = fc.array(
      fc.record({
        kind: fc.constantFrom('acquire', 'acquire', 'acquire', 'acquire', 'try', 'abort', 'advance'),
        key: fc.constantFrom('a', 'b', 'c'),
        cost: fc.integer({ min: 0, max: 2 }),
        maxWaitMs: fc.constantFrom(Infinity, Infinity, 700, 3_000),
        which: fc.nat(30),
        ms: fc.nat(1_500),
      }),
      { maxLength: 60, size: 'max' },
    )
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (maxWaiters, given) => {
        const clock = new ManualClock(START)
        const bounded = createLimiter({ limit, clock, maxWaiters })
        const controllers: AbortController[] = []
        let waiting = 0
        for (const { kind, key, cost, maxWaitMs, which, ms } of given) {
          if (kind === 'advance') await pass(clock, ms)
          else if (kind === 'try') bounded.tryAcquire(key, { cost })
          else if (kind === 'abort') controllers[which % controllers.length]?.abort()
          else {
            const controller = new AbortController()
            controllers.push(controller)
            const [before, beforeWaiting] = [bounded.peek(key), waiting]
            let error: unknown
            waiting++
            const end = (reason?: unknown) => {
              waiting--
              error = reason
            }
            bounded.acquire(key, { cost, maxWaitMs, signal: controller.signal }).then(() => end(), end)
            await settled()
            if (error instanceof QueueFullError) {
              expect(beforeWaiting).toBe(maxWaiters)
              expect(bounded.peek(key)).toEqual(before)
              expect(error.retryAfterMs).toBeGreaterThanOrEqual(1)
            }
          }
          await settled()
          expect(waiting).toBeLessThanOrEqual(maxWaiters)
        }
        await pass(clock, 3_600_000)
        expect([waiting, clock.nextAlarmMs]).toEqual([0, undefined])
      }),
      { numRuns: 150 },
    )
  })
})
