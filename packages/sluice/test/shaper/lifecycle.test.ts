import { AsyncLocalStorage } from 'node:async_hooks'
import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { Rate } from 'sluice'
import { ClosedError, createShaper, memoryStore } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { advance, advanceToEnd, START_MS } from './moving-clocks.js'

const kinds = ['of its own', 'on a store'] as const

function shaperOf(kind: (typeof kinds)[number], numbers: { drain: Rate; capacity: number }) {
  const clock = new ManualClock(START_MS)
  const shaper =
    kind === 'on a store'
      ? createShaper({ ...numbers, name: 'bank', store: memoryStore({ clock }) })
      : createShaper({ ...numbers, clock })
  return { clock, shaper }
}

describe.each(kinds)('the life of a shaper %s', (kind) => {
  it('counts waiters and running work, whatever happens in which order', async () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom('run' as const, 'throw' as const, 'wait' as const) },
        { weight: 4, arbitrary: fc.constantFrom('finish' as const, 'abort' as const, 'advance' as const) },
        { weight: 1, arbitrary: fc.constantFrom('pause' as const, 'close' as const, 'close and reject' as const) },
      ),
      { maxLength: 50, size: 'max' },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const { clock, shaper } = shaperOf(kind, { drain: '10/s', capacity: 10 })
        const finishes: (() => void)[] = []
        const controllers: AbortController[] = []
        const ends: Promise<unknown>[] = []
        const idles: Promise<void>[] = []
        let [running, open, isClosed] = [0, 0, false]
        const follow = (promise: Promise<unknown>) => {
          open++
          ends.push(promise.catch(() => {}).finally(() => open--))
        }
        for (const step of given) {
          const controller = new AbortController()
          const { signal } = controller
          if (step === 'run' || step === 'throw' || step === 'wait') controllers.push(controller)
          if (step === 'run') {
            const work = async () => {
              running++
              await new Promise<void>((resolve) => finishes.push(resolve))
              running--
            }
            follow(shaper.run(work, { signal }))
          } else if (step === 'throw') {
            follow(shaper.run(() => Promise.reject(new Error('work')), { signal }))
          } else if (step === 'wait') follow(shaper.wait({ signal }))
          else if (step === 'finish') finishes.shift()?.()
          else if (step === 'abort') controllers.splice(controllers.length >> 1, 1)[0]?.abort()
          else if (step === 'advance') await advance(clock, 130)
          else if (step === 'pause') shaper.pause({ durationMs: 250 })
          else {
            isClosed = true
            idles.push(shaper.close({ waiting: step === 'close' ? 'leave' : 'reject' }))
          }
          idles.push(shaper.onIdle())
          await setImmediate()
          expect(shaper.pending).toBe(running)
          expect(shaper.size).toBe(open - running)
          if (isClosed) await expect(shaper.wait()).rejects.toThrow(ClosedError)
        }
        await advanceToEnd(clock)
        for (const finish of finishes) finish()
        await Promise.all([...ends, ...idles])
        expect([shaper.size, shaper.pending, open, clock.nextAlarmMs]).toEqual([0, 0, 0, undefined])
      }),
      { numRuns: 150 },
    )
  })

  it('has one listener for a signal that thousands of waiters share, and none afterwards', async () => {
    const { clock, shaper } = shaperOf(kind, { drain: '10000/s', capacity: 20_000 })
    const warnings: Error[] = []
    const onWarning = (warning: Error) => void warnings.push(warning)
    process.on('warning', onWarning)
    const { signal } = new AbortController()
    const all = Array.from({ length: 10_000 }, () => shaper.wait({ signal }))
    expect(getEventListeners(signal, 'abort').length).toBe(1)
    clock.advance(2_000)
    await Promise.all(all)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    const controller = new AbortController()
    shaper.pause({ durationMs: 1_000 })
    const gone = Promise.allSettled(Array.from({ length: 10_000 }, () => shaper.wait({ signal: controller.signal })))
    controller.abort(new Error('enough'))
    expect(shaper.size).toBe(0)
    expect((await gone).every(({ status }) => status === 'rejected')).toBe(true)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await setImmediate()
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('ignores an abort after the departure, and may be called from within its own work', async () => {
    const { clock, shaper } = shaperOf(kind, { drain: '10/s', capacity: 10 })
    const controller = new AbortController()
    const other = new AbortController()
    const context = new AsyncLocalStorage<string>()
    const first = shaper.run(() => 0)
    const second = context.run('second', () =>
      shaper.run(
        async () => {
          other.abort(new Error('from within'))
          controller.abort()
          const inner = shaper.run(() => context.getStore())
          void shaper.close()
          return inner
        },
        { signal: controller.signal },
      ),
    )
    const third = expect(shaper.run(() => 3, { signal: other.signal })).rejects.toThrow('from within')
    await advanceToEnd(clock)
    expect(await Promise.all([first, second])).toEqual([0, 'second'])
    await third
    await shaper.onIdle()
    expect([shaper.size, shaper.pending]).toEqual([0, 0])
  })

  it('goes on after work that throws, whatever the value', async () => {
    const { clock, shaper } = shaperOf(kind, { drain: '10/s', capacity: 10 })
    const throwing = (): never => {
      throw new Error('odd')
    }
    const oddly = Object.defineProperty({}, 'then', { get: throwing })
    const results = Promise.allSettled([
      shaper.run(throwing),
      shaper.run(() => oddly),
      shaper.run(() => new Proxy({}, { has: throwing })),
      shaper.run(() => 'last'),
    ])
    await advanceToEnd(clock)
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled'])
    expect(shaper.pending).toBe(0)
  })

  it('pauses one key, never for less than was said', async () => {
    const pauses = fc.array(fc.record({ afterMs: fc.nat(300), ms: fc.nat(900) }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(pauses, async (given) => {
        const { clock, shaper } = shaperOf(kind, { drain: '10/s', capacity: 100 })
        const left: Record<string, number[]> = { x: [], y: [] }
        for (const key of ['x', 'y'])
          for (let i = 0; i < 15; i++) void shaper.wait({ key }).then(() => left[key].push(clock.now() - START_MS))
        const spans: [number, number][] = []
        for (const { afterMs, ms } of given) {
          await advance(clock, afterMs)
          shaper.pause({ key: 'x', durationMs: ms })
          spans.push([clock.now() - START_MS, clock.now() - START_MS + ms])
        }
        await advanceToEnd(clock)
        expect(left.y).toEqual(Array.from({ length: 15 }, (_, n) => n * 100))
        expect(left.x.length).toBe(15)
        for (const [fromMs, toMs] of spans)
          expect(left.x.filter((leftMs) => leftMs > fromMs && leftMs < toMs)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})
