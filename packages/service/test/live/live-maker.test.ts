/** How the samples of workers become frames, top keys and a history. Times are arguments: nothing waits. */
import { expect, it } from 'vitest'
import { FrameHistory } from '../../src/live/frame-history.js'
import type { LiveFrame } from '../../src/live/live-events.js'
import { LiveMaker } from '../../src/live/live-maker.js'
import { ALL_LEVELS, type LiveSample } from '../../src/live/live-sample.js'
import { parsePolicyFile } from '../../src/policy-file/parse-policy-file.js'
import { sumOf } from './live-client.js'

const fileOf = (...names: string[]) => {
  const levels = names.map((name) => ({ name, limit: { algorithm: 'unlimited' } }))
  return parsePolicyFile(JSON.stringify({ version: 1, name: 'api', levels }))
}

const STORE = { kind: 'memory', state: 'well', text: '', figures: [] } as const

/** What a worker saw: by level, how many it admitted. */
function sampleOf(levels: Readonly<Record<string, number>>, more: Partial<LiveSample> = {}): LiveSample {
  const allowed = Object.values(levels).reduce((sum, each) => sum + each, 0)
  const none = { denied: 0, degraded: 0 }
  return {
    change: {
      atMs: 0,
      elapsedMs: 1_000,
      allowed,
      ...none,
      errors: 0,
      durations: { count: allowed, sumMs: allowed, buckets: [allowed] },
      levels: Object.entries(levels).map(([level, count]) => ({
        policy: 'api',
        level,
        allowed: count,
        ...none,
        error: 0,
        shadowDenied: 0,
      })),
    },
    worstDelayMs: 1,
    store: STORE,
    watched: [],
    keys: [],
    requests: [],
    ...more,
  }
}

const framesOf = (texts: readonly string[]) => texts.map((text) => JSON.parse(text) as LiveFrame)

it('adds up what workers report, also one that reports late or takes the place of another', () => {
  const maker = new LiveMaker(fileOf('a', 'b'), 0)
  maker.add(1, sampleOf({ a: 5 }))
  maker.add(2, sampleOf({ b: 3 }, { worstDelayMs: 40 }))
  const [first] = framesOf([maker.make(1_000).second ?? ''])
  expect(first).toMatchObject({ atMs: 1_000, elapsedMs: 1_000, allowed: 8, workers: 2, worstDelayMs: 40, p50Ms: 0.001 })
  expect(first.levels).toEqual([5, 0, 0, 0, 3, 0, 0, 0])
  // The second worker was busy: its sample for this second comes with the next. Then it dies, and the third takes its place.
  maker.add(1, sampleOf({ a: 5 }))
  expect(framesOf([maker.make(2_000).second ?? ''])[0]).toMatchObject({ allowed: 5, workers: 1 })
  maker.add(2, sampleOf({ b: 1 }))
  maker.add(2, sampleOf({ b: 1 }))
  maker.add(3, sampleOf({ b: 2 }))
  expect(framesOf([maker.make(3_000).second ?? ''])[0]).toMatchObject({
    allowed: 4,
    workers: 2,
    levels: [0, 0, 0, 0, 4, 0, 0, 0],
  })
})

it('keeps five minutes by the second and an hour by ten, which count the same', () => {
  const maker = new LiveMaker(fileOf('a'), 0)
  for (let i = 1; i <= 4_000; i++) {
    maker.add(1, sampleOf({ a: i }))
    maker.make(i * 1_000)
  }
  const { past } = maker.past
  const [seconds, tens] = [framesOf(past?.seconds ?? []), framesOf(past?.tens ?? [])]
  expect([seconds.length, tens.length]).toEqual([300, 360])
  expect([seconds[0].atMs, tens[0].atMs, seconds.at(-1)?.atMs]).toEqual([3_701_000, 410_000, 4_000_000])
  expect(tens[0].elapsedMs).toBe(10_000)
  expect(sumOf(tens.slice(-30))).toEqual(sumOf(seconds))
})

it('has a shorter history for so many levels that it would be too large', () => {
  const history = new FrameHistory()
  const frame = 'x'.repeat(100_000)
  for (let i = 1; i <= 120; i++) history.addSecond(`${i} ${frame}`)
  const characters = history.seconds.reduce((sum, { length }) => sum + length, 0)
  expect(history.seconds.at(-1)).toMatch(/^120 /)
  expect(characters).toBeGreaterThan(8_000_000)
  expect(characters).toBeLessThanOrEqual(8 * 1024 * 1024)
})

it('after a reload counts of ten seconds stay with their levels, and totals stay whole', () => {
  const maker = new LiveMaker(fileOf('a', 'b'), 0)
  maker.add(1, sampleOf({ a: 1, b: 2 }))
  expect(maker.make(1_000).levels).toBeUndefined()
  maker.use(fileOf('b', 'c'))
  for (let i = 2; i <= 10; i++) {
    maker.add(1, sampleOf({ a: 1, b: 2, c: 4 }))
    expect(maker.make(i * 1_000).levels?.version).toBe(i === 2 ? 2 : undefined)
  }
  const [ten] = framesOf(maker.past.past?.tens ?? [])
  expect(ten).toMatchObject({ version: 2, allowed: 3 + 9 * 7, levels: [20, 0, 0, 0, 36, 0, 0, 0] })
})

it('wishes for the top keys of watched levels every other second, and merges them', () => {
  const maker = new LiveMaker(fileOf('a'), 0)
  expect(maker.wish).toEqual({ isWatched: false, keysOf: [] })
  const watched = [ALL_LEVELS, 'a']
  maker.add(1, sampleOf({}, { watched }))
  maker.make(1_000)
  expect(maker.wish).toEqual({ isWatched: true, keysOf: watched })
  const keysOf = (counts: Readonly<Record<string, number>>, rest: number) => {
    const keys = Object.entries(counts).map(([key, count]) => ({ level: 'a', key, count, error: 0 }))
    return { byLoad: { keys, rest }, byDenials: { keys: [], rest: 0 } }
  }
  const keys = [{ level: 'a', sinceMs: 70, ...keysOf({ loud: 9, quiet: 2 }, 2) }]
  const others = [{ level: 'a', sinceMs: 50, ...keysOf({ loud: 1, new: 4 }, 0) }]
  maker.add(1, sampleOf({}, { watched, keys }))
  maker.add(2, sampleOf({}, { keys: others }))
  expect(maker.make(2_000).keys).toEqual([
    {
      of: 'a',
      top: {
        sinceMs: 50,
        byLoad: [
          { level: 'a', key: 'loud', count: 10, error: 0 },
          // The first worker may have seen it as often as the last key that it named.
          { level: 'a', key: 'new', count: 6, error: 2 },
          { level: 'a', key: 'quiet', count: 2, error: 0 },
        ],
        byDenials: [],
      },
    },
  ])
  expect(maker.wish).toEqual({ isWatched: true, keysOf: [ALL_LEVELS] })
})

it('tells at most 10 allowed and 10 denied requests a second, the newest', () => {
  const maker = new LiveMaker(fileOf('a'), 0)
  const requestsOf = (from: number, allowed: boolean, count = 20) =>
    Array.from({ length: count }, (_, i) => ({
      id: `${from + 2 * i}`,
      atMs: from + 2 * i,
      allowed,
      deniedBy: [],
      degraded: false,
      cost: 1,
      attributes: {},
    }))
  const told = () => maker.make(1_000).requests?.map(({ id }) => Number(id))
  maker.add(1, sampleOf({}, { requests: requestsOf(0, true) }))
  maker.add(2, sampleOf({}, { requests: requestsOf(1, false) }))
  expect(told()).toEqual(Array.from({ length: 20 }, (_, i) => 20 + i))
  // A denial at the beginning of a busy second is told.
  maker.add(1, sampleOf({}, { requests: requestsOf(0, false, 1) }))
  maker.add(2, sampleOf({}, { requests: requestsOf(1, true) }))
  expect(told()).toEqual([0, ...Array.from({ length: 10 }, (_, i) => 21 + 2 * i)])
  expect(told()).toBeUndefined()
})
