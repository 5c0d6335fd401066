/** The first process or thread asks all workers together, and waits for none of them for long. */
import { beforeEach, expect, test, vi } from 'vitest'
import type { LiveFrame } from '../../src/live/live-events.js'
import type { LiveSample } from '../../src/live/live-sample.js'
import { parsePolicyFile } from '../../src/policy-file/parse-policy-file.js'
import type { FleetWorker } from '../../src/serve/fleet-worker.js'
import { LiveRounds } from '../../src/serve/live-rounds.js'
import type { ToThread, ToWorker } from '../../src/serve/to-worker.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  return () => void vi.useRealTimers()
})

const FILE = parsePolicyFile('version: 1\nlevels: [{ name: all, limit: { algorithm: unlimited } }]')

function workerOf(id: number) {
  const heard: (ToWorker | ToThread)[] = []
  const nothing = () => {}
  const worker: FleetWorker = {
    id,
    facts: {},
    send: (message) => void heard.push(message),
    onMessage: nothing,
    onEnd: nothing,
    kill: nothing,
  }
  const frames = () =>
    heard.flatMap((each) => ('news' in each ? [JSON.parse(each.news.second ?? '{}') as LiveFrame] : []))
  return { worker, heard, frames }
}

function sampleOf(allowed: number): LiveSample {
  const levels = [{ policy: 'default', level: 'all', allowed, denied: 0, error: 0, degraded: 0, shadowDenied: 0 }]
  const durations = { count: 0, sumMs: 0, buckets: [] }
  return {
    change: { atMs: 0, elapsedMs: 0, allowed, denied: 0, errors: 0, degraded: 0, durations, levels },
    worstDelayMs: 0,
    store: { kind: 'other', state: 'well', text: '', figures: [] },
    watched: [],
    keys: [],
    requests: [],
  }
}

test('a round ends with the last report, or without a worker that is busy, whose report counts in the next', () => {
  const [a, b] = [workerOf(1), workerOf(2)]
  const rounds = new LiveRounds(FILE, new Set([a.worker, b.worker]))
  vi.advanceTimersByTime(1_000)
  expect(a.heard).toEqual([{ sample: 1, wish: { isWatched: false, keysOf: [] } }])
  expect(b.heard).toEqual(a.heard)
  rounds.report(a.worker, 1, sampleOf(3))
  expect(a.frames()).toEqual([])
  rounds.report(b.worker, 1, sampleOf(4))
  expect(a.frames()).toMatchObject([{ allowed: 7, workers: 2, levels: [7, 0, 0, 0] }])
  vi.advanceTimersByTime(1_000)
  rounds.report(a.worker, 2, sampleOf(1))
  vi.advanceTimersByTime(500)
  expect(b.frames()[1]).toMatchObject({ allowed: 1, workers: 1 })
  rounds.report(b.worker, 2, sampleOf(10))
  vi.advanceTimersByTime(500)
  rounds.report(a.worker, 3, sampleOf(0))
  rounds.report(b.worker, 3, sampleOf(5))
  expect(a.frames()[2]).toMatchObject({ allowed: 15, workers: 2 })
  expect(b.frames()).toEqual(a.frames())
  rounds.close()
})

test('a worker that ends is not waited for, one that starts is told the past, and nothing is told after the end', () => {
  const [a, b] = [workerOf(1), workerOf(2)]
  const workers = new Set([a.worker, b.worker])
  const rounds = new LiveRounds(FILE, workers)
  vi.advanceTimersByTime(1_000)
  rounds.report(a.worker, 1, sampleOf(3))
  workers.delete(b.worker)
  rounds.ended(b.worker)
  expect(a.frames()).toMatchObject([{ allowed: 3, workers: 1 }])
  const later = workerOf(3)
  rounds.greet(later.worker)
  expect(later.heard).toMatchObject([{ news: { levels: { version: 1 }, past: { tens: [] } } }])
  const [message] = later.heard
  expect('news' in message && message.news.past?.seconds.map((text) => JSON.parse(text))).toEqual(a.frames())
  rounds.close()
  const told = a.heard.length
  vi.advanceTimersByTime(5_000)
  expect(a.heard).toHaveLength(told)
})
