import { AsyncLocalStorage } from 'node:async_hooks'
import type { Rate } from 'sluice'
import { ClosedError, createShaper, QueueFullError, WaitTooLongError } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { advance, START_MS } from './moving-clocks.js'

function shaperWithLog(drain: Rate, capacity: number) {
  const clock = new ManualClock(START_MS)
  const shaper = createShaper({ drain, capacity, clock })
  const log: [string, number][] = []
  const run = (name: string, options?: Parameters<typeof shaper.run>[1]) =>
    shaper.run(() => void log.push([name, clock.now() - START_MS]), options)
  return { clock, shaper, log, run }
}

describe('a shaper', () => {
  it('lets the first caller leave at once and each next one a slot later', async () => {
    const { clock, log, run, shaper } = shaperWithLog('10/s', 3)
    const all = ['a', 'b', 'c'].map((name) => run(name))
    expect(shaper.size).toBe(2)
    await advance(clock, 1000)
    await Promise.all(all)
    expect(log).toEqual([
      ['a', 0],
      ['b', 100],
      ['c', 200],
    ])
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('rejects at once if the queue is full, and says when to come back', async () => {
    const { clock, run } = shaperWithLog('10/s', 2)
    const two = [run('a'), run('b')]
    const error = await run('c').catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(QueueFullError)
    expect(error).toMatchObject({ code: 'SLUICE_QUEUE_FULL', retryAfterMs: 100 })
    clock.advance(99)
    await expect(run('d')).rejects.toThrow(QueueFullError)
    clock.advance(1)
    const last = run('e')
    await advance(clock, 1000)
    await Promise.all([...two, last])
  })

  it('lets the waiters behind move up when one gives up', async () => {
    const { clock, log, run, shaper } = shaperWithLog('10/s', 10)
    const controller = new AbortController()
    const reason = new Error('enough')
    const all = [run('a'), run('b', { signal: controller.signal }), run('c'), run('d', { maxWaitMs: 10_000 })]
    controller.abort(reason)
    await expect(all[1]).rejects.toBe(reason)
    expect(shaper.size).toBe(2)
    await advance(clock, 1000)
    await Promise.all([all[0], all[2], all[3]])
    expect(log).toEqual([
      ['a', 0],
      ['c', 100],
      ['d', 200],
    ])
  })

  it('rejects a caller that would wait too long, and ends a wait that becomes too long', async () => {
    const { clock, log, run } = shaperWithLog('10/s', 10)
    const first = run('a')
    const low = run('low', { maxWaitMs: 150, priority: -1 })
    const error = await run('b', { maxWaitMs: 199, priority: -1 }).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(WaitTooLongError)
    expect(error).toMatchObject({ retryAfterMs: 200 })
    const high = run('high')
    const failed = expect(low).rejects.toThrow(WaitTooLongError)
    await advance(clock, 1000)
    await failed
    await Promise.all([first, high])
    expect(log).toEqual([
      ['a', 0],
      ['high', 100],
    ])
  })

  it('runs work in the async context of its caller', async () => {
    const { clock, shaper } = shaperWithLog('10/s', 10)
    const context = new AsyncLocalStorage<string>()
    const seen = ['a', 'b', 'c'].map((name) => context.run(name, () => shaper.run(() => context.getStore())))
    await advance(clock, 1000)
    expect(await Promise.all(seen)).toEqual(['a', 'b', 'c'])
  })

  it('counts waiters and running work, and tells when there are none', async () => {
    const { clock, shaper } = shaperWithLog('10/s', 10)
    let finish = () => {}
    const work = new Promise<void>((resolve) => {
      finish = resolve
    })
    const all = [shaper.run(() => work), shaper.run(() => work)]
    let isIdle = false
    const idle = shaper.onIdle().then(() => {
      isIdle = true
    })
    expect([shaper.size, shaper.pending]).toEqual([1, 1])
    await advance(clock, 100)
    expect([shaper.size, shaper.pending, isIdle]).toEqual([0, 2, false])
    finish()
    await Promise.all([...all, idle])
    expect(shaper.pending).toBe(0)
    await shaper.onIdle()
  })

  it('closes: waiters leave, or are rejected', async () => {
    for (const waiting of ['leave', 'reject'] as const) {
      const { clock, log, run, shaper } = shaperWithLog('10/s', 10)
      const all = Promise.allSettled([run('a'), run('b')])
      const closed = shaper.close({ waiting })
      await expect(run('c')).rejects.toThrow(ClosedError)
      await advance(clock, 1000)
      await closed
      const [, b] = await all
      expect(b.status).toBe(waiting === 'leave' ? 'fulfilled' : 'rejected')
      expect(log.length).toBe(waiting === 'leave' ? 2 : 1)
      expect(clock.nextAlarmMs).toBeUndefined()
    }
  })

  it('wraps a function', async () => {
    const { clock, shaper } = shaperWithLog('10/s', 10)
    const twice = shaper.wrap((n: number) => 2 * n, { cost: 2 })
    const all = Promise.all([twice(1), twice(2)])
    await advance(clock, 200)
    expect(await all).toEqual([2, 4])
    const byKey = shaper.wrap(
      async (key: string) => key,
      (key) => ({ key }),
    )
    expect(await Promise.all([byKey('x'), byKey('y')])).toEqual(['x', 'y'])
  })

  it('rejects with the error that the work throws', async () => {
    const { shaper } = shaperWithLog('10/s', 10)
    await expect(
      shaper.run(() => {
        throw new Error('at once')
      }),
    ).rejects.toThrow('at once')
    await expect(
      shaper.run(
        async () => {
          throw new Error('later')
        },
        { key: 'other' },
      ),
    ).rejects.toThrow('later')
    expect(shaper.pending).toBe(0)
  })

  it('pauses a key', async () => {
    const { clock, log, run, shaper } = shaperWithLog('10/s', 10)
    const all = [run('a', { key: 'x' }), run('b', { key: 'x' })]
    shaper.pause({ key: 'x', durationMs: 1000 })
    shaper.pause({ key: 'x', durationMs: 500 })
    all.push(run('c', { key: 'x' }), run('other', { key: 'y' }))
    await advance(clock, 2000)
    await Promise.all(all)
    expect(log).toEqual([
      ['a', 0],
      ['other', 0],
      ['b', 1000],
      ['c', 1100],
    ])
  })
})

it('a wrapped method keeps its `this`', async () => {
  const { shaper } = shaperWithLog('10/s', 10)
  const account = {
    name: 'a',
    get: shaper.wrap(function (this: { name: string }, path: string) {
      return this.name + path
    }),
  }
  expect(await account.get('/1')).toBe('a/1')
})

it('a promise is not work: it has started already', async () => {
  const { shaper } = shaperWithLog('10/s', 10)
  const begun = Promise.resolve() as unknown as () => void
  await expect(shaper.run(begun)).rejects.toThrow('such as () => fetch(url)')
})

it('code that waits again and again gets its turns from advanceAsync', async () => {
  const { clock, log, run } = shaperWithLog('10/s', 10)
  const loop = (async () => {
    for (const name of ['a', 'b', 'c']) await run(name)
  })()
  await clock.advanceAsync(200)
  await loop
  expect(log).toEqual([
    ['a', 0],
    ['b', 100],
    ['c', 200],
  ])
})
