import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type AsyncPolicy,
  createPolicy,
  fixedWindow,
  InvalidValueError,
  slidingLog,
  tokenBucket,
} from '../../../src/index.js'
import { type Processes, startProcesses } from './processes.js'

const START_MS = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000
const own = fixedWindow({ quota: 1, window: '30d' })
const raised = fixedWindow({ quota: 9, window: '30d' })
const LEVELS = [
  { name: 'merchant', key: 'merchant', limit: own },
  { name: 'ip', key: 'ip', limit: own },
  { name: 'pair', key: ['merchant', 'ip'], limit: own },
] as const

let processes: Processes
let clock: ManualClock
let prefixes = 0
beforeAll(async () => {
  processes = await startProcesses()
})
afterAll(() => processes?.stop())
beforeEach(() => {
  clock = new ManualClock(START_MS)
  prefixes++
})

type P = AsyncPolicy<'merchant' | 'ip', 'merchant' | 'ip' | 'pair'>
/** A policy in a process of its own. */
const start = (name = 'api'): P =>
  createPolicy({ name, levels: LEVELS, store: processes.store(clock, `test-${prefixes}:`) })

/** What a merchant would be given. */
async function quotaOf(policy: P, merchant: string): Promise<number> {
  return (await policy.peek({ merchant, ip: null })).levels[0].decision.quota
}

/** Lets what was asked in the background arrive: replies come in the order of the questions. */
const settled = () => processes.client.ping()

describe('an override that another process has set', () => {
  it('counts at once where it was set, and elsewhere when what is known there is two seconds old', async () => {
    const [one, two] = [start(), start()]
    expect([await quotaOf(one, 'm'), await quotaOf(two, 'm')]).toEqual([1, 1])
    await one.override('merchant', 'm', raised)
    expect([await quotaOf(one, 'm'), await quotaOf(two, 'm')]).toEqual([9, 1])
    clock.advance(2_000)
    expect(await quotaOf(two, 'm')).toBe(9)
    await one.removeOverride('merchant', 'm')
    expect(await quotaOf(one, 'm')).toBe(1)
    clock.advance(2_000)
    expect(await quotaOf(two, 'm')).toBe(1)
  })

  it('is heard of by requests that keep coming without any of them waiting for it', async () => {
    const [one, two] = [start(), start()]
    await quotaOf(two, 'm')
    await one.override('merchant', 'm', raised)
    for (let ms = 100; ms < 1_000; ms += 100) {
      clock.advance(100)
      expect(await quotaOf(two, 'm')).toBe(1)
    }
    clock.advance(100)
    await quotaOf(two, 'm')
    await settled()
    expect(await quotaOf(two, 'm')).toBe(9)
  })

  it('is never unknown for longer than two seconds, however the requests come', async () => {
    for (const steps of [[1], [7, 130], [999, 1], [1_000], [1_999], [2_000, 0], [450]]) {
      const [one, two] = [start(`api-${steps.join('-')}`), start(`api-${steps.join('-')}`)]
      await quotaOf(two, 'm')
      clock.advance(steps[0])
      await one.override('merchant', 'm', raised)
      const setMs = clock.now()
      for (let i = 0; clock.now() < setMs + 2_000; i++) {
        clock.advance(Math.min(Math.max(1, steps[i % steps.length]), setMs + 2_000 - clock.now()))
        const known = await quotaOf(two, 'm')
        if (clock.now() >= setMs + 2_000) expect(known).toBe(9)
        if (known === 9) break
      }
    }
  })

  it('is known to a process that starts later at its first request', async () => {
    await start().override('merchant', 'm', raised)
    clock.advance(10 * HOUR_MS)
    expect(await quotaOf(start(), 'm')).toBe(9)
    const late = start()
    expect((await late.check({ merchant: 'm', ip: null }, { cost: 9 })).allowed).toBe(true)
  })

  it('is known to all of the first requests of a process, which come at once', async () => {
    await start().override('merchant', 'm', raised)
    const late = start()
    const quotas = await Promise.all(Array.from({ length: 50 }, () => quotaOf(late, 'm')))
    expect(new Set(quotas)).toEqual(new Set([9]))
  })

  it('is known by whatever is called first', async () => {
    await start().override('merchant', 'm', raised)
    const request = { merchant: 'm', ip: null }
    expect((await start().charge(request)).levels[0].decision.quota).toBe(9)
    expect((await start().refund(request)).levels[0].decision.quota).toBe(9)
    expect((await start().reserve(request)).verdict.levels[0].decision.quota).toBe(9)
    expect((await start().explain(request))[0]).toMatchObject({ from: 'run-time override' })
  })

  it('ends in every process by the clock of Redis', async () => {
    const [one, two] = [start(), start()]
    await one.override('merchant', 'm', raised, { until: START_MS + 10_000 })
    expect([await quotaOf(one, 'm'), await quotaOf(two, 'm')]).toEqual([9, 9])
    clock.advance(9_999)
    expect([await quotaOf(one, 'm'), await quotaOf(two, 'm'), await quotaOf(start(), 'm')]).toEqual([9, 9, 9])
    clock.advance(1)
    expect([await quotaOf(one, 'm'), await quotaOf(two, 'm'), await quotaOf(start(), 'm')]).toEqual([1, 1, 1])
    await expect(one.override('merchant', 'm', raised, { until: clock.now() })).rejects.toThrow(InvalidValueError)
  })

  it('may be of any algorithm, and several', async () => {
    const limits = [
      tokenBucket({ capacity: 20, refill: '2.5/7s' }),
      slidingLog({ quota: 3, window: '1.5s' }),
      fixedWindow({ quota: 5, window: '1h', align: 'first' }),
    ]
    await start().override('merchant', 'm', limits)
    const { levels } = await start().peek({ merchant: 'm', ip: null })
    expect(levels.map(({ limit }) => limit)).toEqual(limits)
  })

  it('has keys like those of requests, whatever is in them', async () => {
    const one = start()
    await one.override('ip', '2001:DB8::1', raised)
    await one.override('pair', ['a|b', '::ffff:192.0.2.1'], raised)
    const odd = ['__proto__', '#version', '#floor', 'a/b', '{x}', 'é', '🔑', '\0', '"', 'x'.repeat(5_000), 'a\ud800']
    for (const merchant of odd) await one.override('merchant', merchant, raised)
    for (const policy of [one, start()]) {
      expect((await policy.peek({ merchant: null, ip: '2001:db8::99' })).levels[0].decision.quota).toBe(9)
      const pair = await policy.peek({ merchant: 'a|b', ip: '192.0.2.1' })
      expect(pair.levels.map(({ decision }) => decision.quota)).toEqual([1, 1, 9])
      for (const merchant of odd) expect(await quotaOf(policy, merchant)).toBe(9)
    }
  })

  it('is not seen by a policy of another name', async () => {
    const [one, other] = [start(), start('other')]
    await one.override('merchant', 'm', raised)
    expect(await quotaOf(other, 'm')).toBe(1)
    await other.removeOverride('merchant', 'm')
    expect(await quotaOf(start(), 'm')).toBe(9)
  })
})

describe('two thousand and five hundred overrides', () => {
  it('are all known to a process that starts later, and the changes to one that was there', async () => {
    const writer = start()
    const reader = start()
    await quotaOf(reader, 'm0')
    const names = Array.from({ length: 2_500 }, (_, i) => `m${i}`)
    await Promise.all(names.map((name) => writer.override('merchant', name, raised)))
    clock.advance(2_000)
    for (const policy of [reader, start()]) {
      const quotas = await Promise.all(names.map((name) => quotaOf(policy, name)))
      expect(quotas.filter((quota) => quota !== 9)).toEqual([])
    }
    await Promise.all(names.slice(0, 1_500).map((name) => writer.removeOverride('merchant', name)))
    clock.advance(2_000)
    for (const policy of [reader, start(), writer]) {
      const quotas = await Promise.all(names.map((name) => quotaOf(policy, name)))
      expect(quotas.indexOf(9)).toBe(1_500)
      expect(quotas.lastIndexOf(1)).toBe(1_499)
    }
  })
})

describe('a process that was away', () => {
  it.each([
    ['a minute', 60_000],
    ['nearly an hour', HOUR_MS - 1],
    ['an hour', HOUR_MS],
    ['longer than Redis keeps removed overrides', 3 * HOUR_MS],
  ])('for %s knows what was removed, set and ended meanwhile', async (_, awayMs) => {
    const [writer, reader] = [start(), start()]
    await writer.override('merchant', 'removed', raised)
    await writer.override('merchant', 'kept', raised)
    await writer.override('merchant', 'ended', raised, { until: clock.now() + 1_000 })
    expect([await quotaOf(reader, 'removed'), await quotaOf(reader, 'kept'), await quotaOf(reader, 'ended')]).toEqual([
      9, 9, 9,
    ])
    clock.advance(1)
    await writer.removeOverride('merchant', 'removed')
    clock.advance(awayMs)
    // Setting one clears those that were removed long ago.
    await writer.override('merchant', 'new', raised)
    clock.advance(2_000)
    for (const policy of [reader, start(), writer]) {
      const quotas = await Promise.all(['removed', 'kept', 'ended', 'new'].map((name) => quotaOf(policy, name)))
      expect(quotas).toEqual([1, 9, 1, 9])
    }
  })

  it('what was removed long ago leaves nothing behind in Redis', async () => {
    const writer = start()
    for (let i = 0; i < 30; i++) await writer.override('merchant', `m${i}`, raised, { until: clock.now() + 1_000 + i })
    await writer.override('merchant', 'kept', raised)
    clock.advance(2 * HOUR_MS)
    await writer.override('merchant', 'kept', raised)
    const key = `test-${prefixes}:o:{api}`
    const { client } = processes
    expect(await Promise.all([client.zcard(`${key}versions`), client.zcard(`${key}ends`)])).toEqual([1, 0])
    expect(Object.keys(await client.hgetall(key)).sort()).toEqual(['#floor', '#version', 'merchant/kept'])
  })
})
