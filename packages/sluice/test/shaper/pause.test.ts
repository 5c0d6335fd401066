import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { ClosedError, createShaper, memoryStore, type Shaper } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { advance, advanceToEnd, START_MS } from './moving-clocks.js'

const kinds = ['of its own', 'on a store', 'of its own, with concurrency', 'on a store, with concurrency'] as const

function shaperOf(kind: (typeof kinds)[number]) {
  const clock = new ManualClock(START_MS)
  const numbers = { drain: '10/s' as const, capacity: 100, ...(kind.includes('concurrency') && { concurrency: 1 }) }
  const shaper = kind.startsWith('on a store')
    ? createShaper({ ...numbers, name: 'bank', store: memoryStore({ clock }) })
    : createShaper({ ...numbers, clock })
  const left: Record<string, number[]> = { x: [], y: [], none: [] }
  const come = (key: 'x' | 'y' | undefined, count = 1) =>
    Array.from({ length: count }, () =>
      shaper.run(() => void left[key ?? 'none'].push(clock.now() - START_MS), key === undefined ? {} : { key }),
    )
  return { clock, shaper, left, come }
}

describe.each(kinds)('a pause without an end of a shaper %s', (kind) => {
  it('lets no caller leave until resume, for all keys, and sets no alarm', async () => {
    const { clock, shaper, left, come } = shaperOf(kind)
    const all = [...come('x', 2), ...come(undefined)]
    shaper.pause()
    all.push(...come('y'), ...come(undefined))
    await advance(clock, 3_600_000)
    expect(left).toEqual({ x: [0], y: [], none: [0] })
    expect([shaper.size, shaper.isPaused(), shaper.isPaused({ key: 'x' })]).toEqual([3, true, true])
    expect(clock.nextAlarmMs).toBeUndefined()
    shaper.resume()
    expect(shaper.isPaused()).toBe(false)
    await advanceToEnd(clock)
    await Promise.all(all)
    expect(left).toEqual({ x: [0, 3_600_000], y: [3_600_000], none: [0, 3_600_000] })
  })

  it('is of one key if a key is given, and callers without a key are apart', async () => {
    const { clock, shaper, left, come } = shaperOf(kind)
    shaper.pause({ key: 'x' })
    const all = [...come('x'), ...come('y'), ...come(undefined)]
    await advance(clock, 500)
    expect(left).toEqual({ x: [], y: [0], none: [0] })
    expect([shaper.isPaused(), shaper.isPaused({ key: 'x' }), shaper.isPaused({ key: 'y' })]).toEqual([
      false,
      true,
      false,
    ])
    shaper.resume() // The pause of all callers, which there is not.
    await advance(clock, 100)
    expect(left.x).toEqual([])
    shaper.resume({ key: 'x' })
    await Promise.all(all)
    expect(left.x).toEqual([600])
  })

  it('and the pause of all callers end apart from each other', async () => {
    const { clock, shaper, left, come } = shaperOf(kind)
    shaper.pause()
    shaper.pause({ key: 'x', durationMs: 300 })
    const all = [...come('x'), ...come('y')]
    shaper.resume({ key: 'y' })
    shaper.resume({ key: 'x' })
    shaper.pause({ key: 'x', durationMs: 300 })
    await advance(clock, 100)
    expect(left).toEqual({ x: [], y: [], none: [] })
    shaper.resume()
    await advanceToEnd(clock)
    await Promise.all(all)
    expect(left).toEqual({ x: [300], y: [100], none: [] })
  })

  it('is not shortened by a pause with an end', async () => {
    const { clock, shaper, come } = shaperOf(kind)
    shaper.pause()
    shaper.pause({ durationMs: 100 })
    const all = come('x')
    await advance(clock, 1_000)
    expect([shaper.size, shaper.isPaused()]).toEqual([1, true])
    shaper.resume()
    await Promise.all(all)
  })

  it('makes a caller wait for its maxWaitMs, because the pause may end before', async () => {
    const { clock, shaper, come } = shaperOf(kind)
    shaper.pause()
    const first = come('x')
    const late = expect(shaper.run(() => {}, { key: 'x', maxWaitMs: 500 })).rejects.toMatchObject({
      code: 'SLUICE_WAIT_TOO_LONG',
      retryAfterMs: expect.toSatisfy((ms: number) => ms >= 1 && ms <= 100),
    })
    await advance(clock, 499)
    expect(shaper.size).toBe(2)
    await advance(clock, 1)
    await late
    expect([shaper.size, clock.nextAlarmMs]).toEqual([1, undefined])
    shaper.resume()
    await Promise.all(first)
  })

  it('fills the queue, which then says the shortest wait', async () => {
    const { shaper, come } = shaperOf(kind)
    shaper.pause()
    const all = come('x', 100)
    await expect(shaper.run(() => {}, { key: 'x' })).rejects.toMatchObject({
      code: 'SLUICE_QUEUE_FULL',
      retryAfterMs: expect.toSatisfy((ms: number) => ms >= 1 && ms <= 100),
      message: expect.stringMatching(/at the earliest$/),
    })
    const settled = Promise.allSettled(all)
    await shaper.close({ waiting: 'reject' })
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true)
  })

  it('ends when the shaper is closed, and a pause with an end is kept', async () => {
    const { clock, shaper, left, come } = shaperOf(kind)
    shaper.pause()
    shaper.pause({ key: 'y', durationMs: 1_000 })
    const all = [...come('x', 3), ...come('y')]
    await advance(clock, 500)
    const closed = shaper.close()
    await advanceToEnd(clock)
    await Promise.all([closed, ...all])
    expect(left).toEqual({ x: [500, 600, 700], y: [1_000], none: [] })
  })

  it('is refused after close, and one with an end is not', async () => {
    const { clock, shaper, left, come } = shaperOf(kind)
    const all = come('x', 2)
    const closed = shaper.close()
    expect(() => shaper.pause()).toThrow(ClosedError)
    expect(() => shaper.pause({ key: 'x' })).toThrow(ClosedError)
    shaper.pause({ durationMs: 500 })
    await advanceToEnd(clock)
    await Promise.all([closed, ...all])
    expect(left.x).toEqual([0, 500])
  })
})

describe.each(kinds)('resume of a shaper %s', (kind) => {
  it('ends a pause early, and waiters leave at the rate, without a burst', async () => {
    const steps = fc.array(
      fc.record({
        afterMs: fc.nat(250),
        does: fc.constantFrom('pause', 'pause for a while', 'resume'),
        key: fc.constantFrom('x', undefined),
      }),
      { maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const { clock, shaper, left, come } = shaperOf(kind)
        const all = come('x', 12)
        // What is paused, by the end of each pause.
        const until = { all: -Infinity, x: -Infinity }
        const spans: { fromMs: number; toMs: number }[] = []
        let fromMs = 0
        const note = async (ms: number) => {
          const untilMs = Math.max(until.all, until.x)
          await advance(clock, ms)
          const nowMs = clock.now() - START_MS
          if (untilMs > fromMs) spans.push({ fromMs, toMs: Math.min(untilMs, nowMs) })
          fromMs = nowMs
        }
        for (const { afterMs, does, key } of given) {
          await note(afterMs)
          const of = key === undefined ? {} : { key }
          const which = key ?? ('all' as 'x' | 'all')
          if (does === 'resume') {
            shaper.resume(of)
            until[which as 'x'] = -Infinity
          } else {
            const durationMs = does === 'pause' ? Infinity : 333
            shaper.pause(does === 'pause' ? of : { ...of, durationMs })
            until[which as 'x'] = Math.max(until[which as 'x'], fromMs + durationMs)
          }
          expect(shaper.isPaused({ key: 'x' })).toBe(Math.max(until.all, until.x) > fromMs)
        }
        await note(0)
        shaper.resume()
        shaper.resume({ key: 'x' })
        await advanceToEnd(clock)
        await Promise.all(all)
        expect(left.x).toHaveLength(12)
        for (let i = 1; i < 12; i++) expect(left.x[i] - left.x[i - 1]).toBeGreaterThanOrEqual(100 - 0.01)
        for (const span of spans) expect(left.x.filter((ms) => ms > span.fromMs && ms < span.toMs - 0.01)).toEqual([])
        expect([shaper.size, shaper.pending, clock.nextAlarmMs]).toEqual([0, 0, undefined])
      }),
      { numRuns: 150 },
    )
  })
})

it('a process whose only waiters are paused without an end may end: no timer keeps it', async () => {
  const shaper: Shaper = createShaper({ drain: '1000/s', capacity: 10 })
  const before = process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  shaper.pause()
  const waiting = shaper.run(() => 'left')
  await setImmediate()
  expect(process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length).toBeLessThanOrEqual(before)
  shaper.resume()
  expect(await waiting).toBe('left')
})
