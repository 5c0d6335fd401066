import { createShaper, memoryStore, type Shaper } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { START_MS } from './moving-clocks.js'

const invalid = { code: expect.stringMatching(/^SLUICE_INVALID_(TYPE|VALUE)$/) }

describe('wrong options of a shaper', () => {
  it.each<[unknown, RegExp]>([
    [undefined, /createShaper takes an object/],
    [
      { capacity: 1 },
      /needs drain, .* or concurrency, .* as in { drain: '10\/s', capacity: 50 } or { concurrency: 5, capacity: 50 }/,
    ],
    [{ drain: 10, capacity: 1 }, /drain must be a rate/],
    [{ drain: '0/s', capacity: 1 }, /drain must be .* above zero/],
    [{ drain: '1/s' }, /capacity must be a whole number from 1/],
    [{ drain: '1/s', capacity: 0 }, /capacity must be a whole number from 1/],
    [{ drain: '1/s', capacity: 1.5 }, /capacity must be a whole number from 1/],
    [
      { concurrency: 1 },
      /capacity must be a whole number from 1, got undefined: it is how many units may wait, such as 100/,
    ],
    [{ drain: '1/s', concurrency: 1 }, /capacity must be a whole number from 1/],
    [{ drain: '1/s', capacity: 1, concurrency: 0 }, /concurrency must be a whole number from 1/],
    [{ drain: '1/s', capacity: 1, concurrency: 1.5 }, /concurrency must be a whole number from 1/],
    [{ drain: '1/s', capacity: 1, concurrency: Infinity }, /concurrency must be a whole number from 1/],
    [{ drain: '1/s', capacity: 1, concurrency: '2' }, /concurrency must be a whole number from 1/],
    [{ capacity: 1, concurrency: 1, name: 'x', store: memoryStore() }, /drain must be a rate/],
    [{ drain: '1/s', capacity: 1, name: '' }, /name must be a non-empty string/],
    [{ drain: '1/s', capacity: 1, clock: {} }, /clock must be/],
    [{ drain: '1/s', capacity: 1, onFailure: 'open' }, /onFailure must be left out/],
    [{ drain: '1/s', capacity: 1, store: memoryStore() }, /name .*must be a non-empty string such as 'search'/],
    [{ drain: '1/s', capacity: 1, name: 'x', store: {} }, /store must be/],
    [{ drain: '1/s', capacity: 1, name: 'x', store: null }, /store must be/],
    [{ drain: '1/s', capacity: 1, name: 'x', store: memoryStore(), clock: new ManualClock(0) }, /clock must be/],
    [{ drain: '1/s', capacity: 1, name: 'x', store: memoryStore(), onFailure: 'open' }, /onFailure must be left out/],
    [
      { drain: '1/s', capacity: 1, instances: 3 },
      /has no option 'instances'; .* store: redisStore\(client, \{ instances: 3 \}\)/,
    ],
    [{ drain: '1/s', capacity: 1, capasity: 1 }, /did you mean capacity/],
  ])('%o', (options, message) => {
    expect(() => createShaper(options as never)).toThrow(message)
  })
})

const wrongTurns: [unknown, RegExp][] = [
  [null, /options takes an object/],
  ['key', /options takes an object/],
  [{ keys: 'a' }, /did you mean key/],
  [{ key: '' }, /key must be a non-empty string/],
  [{ key: 1 }, /key must be a non-empty string/],
  [{ cost: -1 }, /cost must be a whole number/],
  [{ cost: 0.5 }, /cost must be a whole number/],
  [{ cost: '1' }, /cost must be a whole number/],
  [{ signal: {} }, /signal must be an AbortSignal/],
  [{ signal: null }, /signal must be an AbortSignal/],
  [{ signal: { aborted: false } }, /signal must be an AbortSignal/],
  [{ signal: new AbortController() }, /signal must be an AbortSignal/],
  [{ priority: 10 }, /priority must be a whole number from -9 to 9/],
  [{ priority: 0.5 }, /priority must be a whole number from -9 to 9/],
  [{ priority: 'high' }, /priority must be a whole number from -9 to 9/],
  [{ maxWaitMs: -1 }, /maxWaitMs must be a number of milliseconds from 0/],
  [{ maxWaitMs: NaN }, /maxWaitMs must be a number of milliseconds from 0/],
  [{ maxWaitMs: '1s' }, /maxWaitMs must be a number of milliseconds/],
]

describe.each(['of its own', 'on a store'])('wrong calls of a shaper %s change nothing', (kind) => {
  it.each(wrongTurns)('a turn with %o', async (options, message) => {
    const { shaper, unchanged } = busy(kind)
    for (const call of [
      () => shaper.run(() => {}, options as never),
      () => shaper.wait(options as never),
      () =>
        shaper.wrap(
          () => {},
          () => options as never,
        )(),
    ]) {
      const error = await call().catch((caught: unknown) => caught)
      expect(error).toMatchObject({ ...invalid, message: expect.stringMatching(message) })
    }
    expect(() => shaper.wrap(() => {}, options as never)).toThrow(message)
    await unchanged()
  })

  it('everything else', async () => {
    const { shaper, unchanged } = busy(kind)
    await expect(shaper.run('work' as never)).rejects.toThrow(/work must be a function/)
    expect(() => shaper.wrap(undefined as never)).toThrow(/work must be a function/)
    const wrapped = shaper.wrap(
      () => {},
      () => {
        throw new Error('mine')
      },
    )
    await expect(wrapped()).rejects.toThrow('mine')
    for (const durationMs of [-1, NaN, Infinity, '1s', null])
      expect(() => shaper.pause({ durationMs } as never)).toThrow(/durationMs must be a number of milliseconds from 0/)
    expect(() => shaper.pause(1_000 as never)).toThrow(/pause takes an object with key, durationMs, got 1000/)
    for (const method of ['pause', 'resume', 'isPaused'] as const) {
      expect(() => shaper[method](null as never)).toThrow(`${method} takes an object`)
      expect(() => shaper[method]({ key: '' })).toThrow(/key must be/)
      expect(() => shaper[method]({ keys: 'a' } as never)).toThrow(/did you mean key/)
    }
    expect(() => shaper.resume({ durationMs: 1 } as never)).toThrow(/resume has no option 'durationMs'/)
    await expect(shaper.close({ waiting: 'stay' } as never)).rejects.toThrow(/waiting must be 'leave' or 'reject'/)
    await expect(shaper.close({ waitin: 'leave' } as never)).rejects.toThrow(/did you mean waiting/)
    await expect(shaper.close(null as never)).rejects.toThrow(/options takes an object/)
    await unchanged()
  })
})

/** A shaper with one waiter, and a check that the waiter still leaves at its time. */
function busy(kind: string): { shaper: Shaper; unchanged: () => Promise<void> } {
  const clock = new ManualClock(START_MS)
  const numbers = { drain: '10/s', capacity: 2 } as const
  const shaper =
    kind === 'on a store'
      ? createShaper({ ...numbers, name: 'bank', store: memoryStore({ clock }) })
      : createShaper({ ...numbers, clock })
  void shaper.wait()
  const turn = shaper.wait()
  const unchanged = async () => {
    expect([shaper.size, shaper.pending, clock.nextAlarmMs]).toEqual([1, 0, START_MS + 100])
    clock.advance(100)
    expect((await turn).atMs).toBe(START_MS + 100)
    expect([shaper.size, shaper.pending, clock.nextAlarmMs]).toEqual([0, 0, undefined])
    await shaper.close()
  }
  return { shaper, unchanged }
}

it.each(['run', 'wrap', 'wait'] as const)('%s that is called without its shaper says how to call it', async (name) => {
  const { [name]: alone } = createShaper({ drain: '10/s', capacity: 10 })
  const call = async () => (alone as (work: () => number) => unknown)(() => 1)
  await expect(call()).rejects.toThrow(`write shaper.${name}(…), not ${name}(…) alone`)
})

it('the time limit that other shapers have is one of the work', async () => {
  const shaper = createShaper({ drain: '10/s', capacity: 10 })
  await expect(shaper.run(() => 1, { timeout: 5 } as never)).rejects.toThrow(
    /no option 'timeout'; .*AbortSignal.timeout\(5000\)/,
  )
})
