import {
  createLimiter,
  fixedWindow,
  InvalidTypeError,
  InvalidValueError,
  type Limit,
  leakyBucket,
  tokenBucket,
  WaitTooLongError,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { Outcomes, pass, settled } from './outcomes.js'

const START = 1_745_000_000_000
const bucket = tokenBucket({ capacity: 10, refill: '1/s' })

function waitingRoom(limit: Limit) {
  const clock = new ManualClock(START)
  return { clock, limiter: createLimiter({ limit, clock }), outcomes: new Outcomes(clock) }
}

describe('acquire', () => {
  it('takes units that are there at once', async () => {
    const { clock, limiter } = waitingRoom(bucket)
    const wait = limiter.acquire('user', { cost: 4 })
    expect(limiter.peek('user').remaining).toBe(6)
    expect(await wait).toMatchObject({ allowed: true, remaining: 6, delayMs: 0 })
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('resolves when the units are there, and holds them', async () => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    limiter.tryAcquire('user', { cost: 10 })
    outcomes.watch('a', limiter.acquire('user', { cost: 3 }))
    expect(clock.nextAlarmMs).toBe(START + 3_000)
    await pass(clock, 2_999)
    expect(outcomes.of('a')).toBeUndefined()
    await pass(clock, 1)
    expect(outcomes.of('a')?.decision).toMatchObject({ allowed: true, remaining: 0 })
    expect(limiter.peek('user').remaining).toBe(0)
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('serves the waiters of a key in order, even if a later one has a smaller cost', async () => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    limiter.tryAcquire('user', { cost: 9 })
    outcomes.watch('large', limiter.acquire('user', { cost: 5 }))
    outcomes.watch('small', limiter.acquire('user'))
    outcomes.watch('other', limiter.acquire('other'))
    await pass(clock, 10_000)
    expect(outcomes.admitted).toEqual(['other', 'large', 'small'])
    expect(outcomes.of('large')?.atMs).toBe(START + 4_000)
    expect(outcomes.of('small')?.atMs).toBe(START + 5_000)
  })

  it('is overtaken by tryAcquire, and goes on waiting', async () => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    limiter.tryAcquire('user', { cost: 10 })
    outcomes.watch('a', limiter.acquire('user', { cost: 2 }))
    await pass(clock, 1_500)
    expect(limiter.tryAcquire('user').allowed).toBe(true)
    await pass(clock, 1_499)
    expect(outcomes.admitted).toEqual([])
    await pass(clock, 1)
    expect(outcomes.admitted).toEqual(['a'])
  })

  it('sets one alarm for all keys', async () => {
    const { clock, limiter } = waitingRoom(bucket)
    let alarms = 0
    const { alarm } = clock
    clock.alarm = (atMs, ring) => {
      alarms++
      const stop = alarm.call(clock, atMs, ring)
      return () => {
        alarms--
        stop()
      }
    }
    for (let key = 0; key < 100; key++) {
      limiter.tryAcquire(`user ${key}`, { cost: 10 })
      limiter.acquire(`user ${key}`, { cost: 1 + (key % 7), maxWaitMs: 60_000 })
    }
    expect(alarms).toBe(1)
  })

  it('waits for the end of a block', async () => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    limiter.block('user', { duration: '1m' })
    outcomes.watch('a', limiter.acquire('user'))
    expect(clock.nextAlarmMs).toBe(START + 60_000)
    limiter.block('user', { duration: '5s' })
    expect(clock.nextAlarmMs).toBe(START + 5_000)
    await pass(clock, 5_000)
    expect(outcomes.admitted).toEqual(['a'])
  })

  it.each([
    ['refund', (limiter) => limiter.refund('user', { cost: 2 })],
    ['reset', (limiter) => limiter.reset('user')],
  ] satisfies [string, (limiter: ReturnType<typeof createLimiter>) => void][])('is woken by %s', async (_, refund) => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    limiter.tryAcquire('user', { cost: 10 })
    outcomes.watch('a', limiter.acquire('user'))
    outcomes.watch('b', limiter.acquire('user'))
    refund(limiter)
    await settled()
    expect(outcomes.admitted).toEqual(['a', 'b'])
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('is woken by a reservation that settles or is cancelled', async () => {
    const { limiter, outcomes } = waitingRoom(bucket)
    const first = limiter.reserve('user', { cost: 5 })
    const second = limiter.reserve('user', { cost: 5 })
    outcomes.watch('a', limiter.acquire('user'))
    outcomes.watch('b', limiter.acquire('user', { cost: 5 }))
    first.settle(4)
    await settled()
    expect(outcomes.admitted).toEqual(['a'])
    second.cancel()
    await settled()
    expect(outcomes.admitted).toEqual(['a', 'b'])
  })
})

describe('acquire that fails', () => {
  it('rejects at once when the cost is more than the limit can ever give, even behind other waiters', async () => {
    const { limiter } = waitingRoom(bucket)
    const never = { name: 'WaitTooLongError', code: 'SLUICE_WAIT_TOO_LONG', retryAfterMs: Infinity }
    await expect(limiter.acquire('user', { cost: 11 })).rejects.toMatchObject(never)
    limiter.tryAcquire('user', { cost: 10 })
    limiter.acquire('user')
    await expect(limiter.acquire('user', { cost: 11 })).rejects.toMatchObject(never)
    await expect(limiter.acquire('user', { cost: 11 })).rejects.toThrow(
      /cost of 11 is more than the limit can ever give/,
    )
  })

  it('rejects at once when the wait is known to be longer than maxWaitMs', async () => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    limiter.tryAcquire('user', { cost: 10 })
    await expect(limiter.acquire('user', { cost: 3, maxWaitMs: 2_999 })).rejects.toMatchObject({ retryAfterMs: 3_000 })
    await expect(limiter.acquire('user', { maxWaitMs: 0 })).rejects.toThrow(
      /in 1000 ms at the earliest.*maxWaitMs is 0/,
    )
    expect(clock.nextAlarmMs).toBeUndefined()
    outcomes.watch('just', limiter.acquire('user', { cost: 3, maxWaitMs: 3_000 }))
    await expect(limiter.acquire('user', { cost: 3, maxWaitMs: 2_999 })).rejects.toMatchObject({ retryAfterMs: 3_000 })
    await pass(clock, 3_000)
    expect(outcomes.admitted).toEqual(['just'])
  })

  it('does not reject a caller at once that wants less than the first in line, which may give up', async () => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    limiter.tryAcquire('user', { cost: 5 })
    const controller = new AbortController()
    outcomes.watch('large', limiter.acquire('user', { cost: 10, signal: controller.signal }))
    outcomes.watch('small', limiter.acquire('user', { maxWaitMs: 2_000 }))
    await pass(clock, 1_000)
    expect(outcomes.of('small')).toBe(undefined)
    controller.abort()
    await pass(clock, 0)
    expect(outcomes.of('small')).toMatchObject({ atMs: START + 1_000 })
    expect(outcomes.of('small')?.error).toBe(undefined)
  })

  it('rejects when maxWaitMs is over, and then the waiters behind move up', async () => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    limiter.tryAcquire('user', { cost: 10 })
    outcomes.watch('large', limiter.acquire('user', { cost: 3, maxWaitMs: 3_500 }))
    outcomes.watch('small', limiter.acquire('user'))
    await pass(clock, 1_000)
    limiter.charge('user', { cost: 1 })
    await pass(clock, 2_000)
    // Only now is it known that 3 units take another second, which is longer than the rest of maxWaitMs.
    expect(outcomes.of('large')).toMatchObject({ atMs: START + 3_000, error: { retryAfterMs: 1_000 } })
    expect(outcomes.of('large')?.error).toBeInstanceOf(WaitTooLongError)
    expect(outcomes.of('small')?.atMs).toBe(START + 3_000)
    for (const name of ['first', 'second']) outcomes.watch(name, limiter.acquire('user', { cost: 5 }))
    outcomes.watch('third', limiter.acquire('user', { maxWaitMs: 5_000 }))
    await pass(clock, 20_000)
    expect(outcomes.of('first')?.atMs).toBe(START + 7_000)
    expect(outcomes.of('third')).toMatchObject({ atMs: START + 8_000, error: { retryAfterMs: 4_000 } })
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it("rejects with the signal's reason, and takes nothing", async () => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    await expect(limiter.acquire('user', { signal: AbortSignal.abort('gone') })).rejects.toBe('gone')
    expect(limiter.peek('user').remaining).toBe(10)
    limiter.tryAcquire('user', { cost: 10 })
    const [one, other] = [new AbortController(), new AbortController()]
    outcomes.watch('a', limiter.acquire('user', { cost: 3, signal: one.signal }))
    outcomes.watch('b', limiter.acquire('user', { cost: 4, signal: other.signal }))
    outcomes.watch('c', limiter.acquire('user', { cost: 1 }))
    await pass(clock, 2_000)
    other.abort('b left')
    one.abort('a left')
    await settled()
    expect(outcomes.of('a')?.error).toBe('a left')
    expect(outcomes.of('b')?.error).toBe('b left')
    // Its unit has been there for a second.
    expect(outcomes.of('c')).toMatchObject({ atMs: START + 2_000, decision: { remaining: 1 } })
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('rejects all waiters of one signal; none of them is served because another has left', async () => {
    const { clock, limiter, outcomes } = waitingRoom(bucket)
    limiter.tryAcquire('user', { cost: 8 })
    const { signal, ...controller } = withAbort()
    outcomes.watch('a', limiter.acquire('user', { cost: 3, signal }))
    outcomes.watch('b', limiter.acquire('user', { cost: 2, signal }))
    outcomes.watch('c', limiter.acquire('user', { cost: 1, signal }))
    controller.abort()
    await settled()
    expect(outcomes.admitted).toEqual([])
    expect(limiter.peek('user').remaining).toBe(2)
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it.each([
    [3, InvalidTypeError, /options must be an object such as \{ cost: 3, signal \}, got 3/],
    [new AbortController().signal, InvalidTypeError, /such as \{ cost: 3, signal \}, got an AbortSignal$/],
    [{ cost: -1 }, InvalidValueError, /cost must be a whole number/],
    [{ costs: 1 }, InvalidTypeError, /acquire has no option 'costs'; did you mean cost\?/],
    [{ maxWait: 1 }, InvalidTypeError, /did you mean maxWaitMs\?/],
    [{ maxWaitMs: -1 }, InvalidValueError, /maxWaitMs must be a number of milliseconds from 0, got -1/],
    [{ maxWaitMs: Number.NaN }, InvalidValueError, /maxWaitMs must be .* got NaN/],
    [{ maxWaitMs: '1s' }, InvalidTypeError, /maxWaitMs must be .* got '1s'/],
    [{ signal: new AbortController() }, InvalidTypeError, /signal must be an AbortSignal/],
    [{ signal: null }, InvalidTypeError, /signal must be an AbortSignal/],
  ])('rejects wrong options: %o', async (options, type, message) => {
    const { limiter } = waitingRoom(bucket)
    const wait = limiter.acquire('user', options as never)
    await expect(wait).rejects.toBeInstanceOf(type)
    await expect(wait).rejects.toThrow(message)
    await expect(limiter.acquire('')).rejects.toThrow(/key must be a non-empty string/)
  })
})

describe('acquire of a leaky bucket', () => {
  const queue = leakyBucket({ capacity: 3, drain: '10/s' })

  it('resolves when the slot comes, with a delayMs of 0', async () => {
    const { clock, limiter, outcomes } = waitingRoom(queue)
    for (const name of ['a', 'b', 'c', 'd', 'e']) outcomes.watch(name, limiter.acquire('user'))
    await pass(clock, 1_000)
    expect(outcomes.admitted).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(['a', 'b', 'c', 'd', 'e'].map((name) => (outcomes.of(name)?.atMs ?? 0) - START)).toEqual([
      0, 100, 200, 300, 400,
    ])
    expect(outcomes.of('c')?.decision?.delayMs).toBe(0)
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('gives the last slot back when its waiter leaves', async () => {
    const { clock, limiter, outcomes } = waitingRoom(queue)
    const { signal, ...controller } = withAbort()
    outcomes.watch('a', limiter.acquire('user'))
    outcomes.watch('b', limiter.acquire('user'))
    outcomes.watch('c', limiter.acquire('user', { signal }))
    outcomes.watch('d', limiter.acquire('user'))
    expect(clock.nextAlarmMs).toBe(START + 100)
    controller.abort()
    expect(limiter.tryAcquire('user').retryAfterMs).toBe(100)
    await pass(clock, 1_000)
    expect(outcomes.admitted).toEqual(['a', 'b', 'd'])
    expect(outcomes.of('d')?.atMs).toBe(START + 200)
  })

  it('lets no caller overtake a waiter whose slot has come, even if the alarm is late', async () => {
    let nowMs = START
    const clock = { now: () => nowMs, alarm: () => () => {} }
    const limiter = createLimiter({ limit: queue, clock })
    const left: string[] = []
    limiter.acquire('user').then(() => left.push('a'))
    limiter.acquire('user', { cost: 0 }).then(() => left.push('b'))
    await settled()
    expect(left).toEqual(['a'])
    nowMs += 150
    limiter.acquire('user').then(() => left.push('c'))
    await settled()
    expect(left).toEqual(['a', 'b', 'c'])
  })

  it('rejects a caller whose slot would come too late', async () => {
    const { clock, limiter, outcomes } = waitingRoom(queue)
    outcomes.watch('a', limiter.acquire('user', { cost: 2 }))
    await expect(limiter.acquire('user', { maxWaitMs: 199 })).rejects.toMatchObject({ retryAfterMs: 200 })
    outcomes.watch('b', limiter.acquire('user', { maxWaitMs: 200 }))
    await pass(clock, 1_000)
    expect(outcomes.of('b')?.atMs).toBe(START + 200)
  })
})

describe('a window', () => {
  it('serves as many waiters as the next window has units', async () => {
    const { clock, limiter, outcomes } = waitingRoom(fixedWindow({ quota: 3, window: '1m' }))
    for (let i = 0; i < 8; i++) outcomes.watch(`${i}`, limiter.acquire('user'))
    await pass(clock, 60_000)
    expect(outcomes.admitted).toHaveLength(6)
    await pass(clock, 60_000)
    expect(outcomes.admitted).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
  })
})

/** A signal, and the function that aborts it. */
function withAbort() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason?: unknown) => controller.abort(reason) }
}
