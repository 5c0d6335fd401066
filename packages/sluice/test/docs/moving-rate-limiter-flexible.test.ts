import { RateLimiterMemory } from 'rate-limiter-flexible'
import { createLimiter, fixedWindow } from 'sluice'
import { describe, expect, test, vi } from 'vitest'
import { runExamples } from './page-examples.js'

const PAGE = 'moving/rate-limiter-flexible.md'

interface Side {
  mayGo(key: string, cost?: number): Promise<boolean>
  play(key: string): Promise<unknown[]>
  waitOf(key: string): Promise<number>
  leftToday(key: string): Promise<number | undefined>
}

/** What each side answers, with the side before first. */
async function bothSides<T>(section: string, use: (side: Side) => Promise<T>): Promise<T[]> {
  const sides = await runExamples<Side>(PAGE, section)
  expect(sides).toHaveLength(2)
  return Promise.all(sides.map(use))
}

async function calls(side: Side, costs: readonly number[]): Promise<boolean[]> {
  const answers: boolean[] = []
  for (const cost of costs) answers.push(await side.mayGo('user:42', cost))
  return answers
}

describe('docs/moving/rate-limiter-flexible.md', () => {
  test('the same calls are admitted', async () => {
    const [before, after] = await bothSides('Consume points', async (side) => [
      ...(await calls(side, [1, 1, 1, 2, 1])),
      await side.mayGo('user:43'),
    ])
    expect(before).toEqual([true, true, true, true, false, true])
    expect(after).toEqual(before)
  })

  test('a call that asks for too much takes nothing here, and everything there', async () => {
    const [before, after] = await bothSides('Consume points', (side) => calls(side, [10, 1]))
    expect(before).toEqual([false, false])
    expect(after).toEqual([false, true])
  })

  test('penalty, reward, set, block and delete are charge, refund, set, block and reset', async () => {
    const [before, after] = await bothSides('The other verbs', ({ play }) => play('user:42'))
    expect(before).toEqual([2, 3, 1, true, 5])
    expect(after).toEqual(before)
  })

  test('a key that exceeds is blocked for ten minutes', async () => {
    const [before, after] = await bothSides('Block a key that exceeds', async ({ waitOf }) => {
      const waits: number[] = []
      for (let i = 0; i < 4; i++) waits.push(await waitOf('user:42'))
      return waits
    })
    for (const [first, second, third, fourth] of [before, after]) {
      expect([first, second]).toEqual([0, 0])
      expect(third).toBe(600_000)
      expect(fourth).toBeGreaterThan(590_000)
      expect(fourth).toBeLessThanOrEqual(600_000)
    }
  })

  test('calls that one limit denies use up the other in a union, and nothing in a policy', async () => {
    const [before, after] = await bothSides('Several limits on one call', async (side) => ({
      admitted: await calls(side, [1, 1, 1, 1, 1]),
      left: await side.leftToday('user:42'),
    }))
    expect(before).toEqual({ admitted: [true, false, false, false, false], left: 0 })
    expect(after).toEqual({ admitted: [true, false, false, false, false], left: 4 })
  })

  test('a denial there is no Error; a cost that can never be admitted says so here', async () => {
    const denial = await new RateLimiterMemory({ points: 5, duration: 60 }).consume('a', 6).catch((reason) => reason)
    expect(denial).not.toBeInstanceOf(Error)
    const ours = createLimiter({ limit: fixedWindow({ quota: 5, window: '1m' }) })
    expect(ours.tryAcquire('a', { cost: 6 }).retryAfterMs).toBe(Number.POSITIVE_INFINITY)
  })

  test('a window of 30 days: everything is admitted before, the quota after', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      const theirs = new RateLimiterMemory({ points: 1, duration: 30 * 86_400 })
      await theirs.consume('a')
      await vi.waitFor(() => theirs.consume('a'), { timeout: 10_000 })
    } finally {
      warn.mockRestore()
    }
    const ours = createLimiter({ limit: fixedWindow({ quota: 1, window: '30d', align: 'first' }) })
    expect([ours.tryAcquire('a').allowed, ours.tryAcquire('a').allowed]).toEqual([true, false])
  })
})
