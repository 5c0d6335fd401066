import { type AsyncStore, createLimiter, createLimiters, createPolicy, memoryStore, tokenBucket } from 'sluice'
import { createRecorder, type Recorder } from 'sluice/metrics'
import { afterEach, describe, expect, it } from 'vitest'
import { parseExposition, seriesText } from './parse-exposition.js'

const one = tokenBucket({ capacity: 1, refill: '1/h' })
const many = tokenBucket({ capacity: 1_000, refill: '1/h' })
const open: Recorder[] = []

function record(options?: { maxSeries?: number }): Recorder {
  const recorder = createRecorder(options)
  open.push(recorder)
  return recorder
}

afterEach(() => {
  for (const recorder of open.splice(0)) recorder.close()
})

/** A store that fails. */
function brokenStore(): AsyncStore {
  const fail = () => Promise.reject(new Error('away'))
  return { decide: fail, peek: fail, charge: fail, refund: fail, set: fail, reset: fail, block: fail }
}

describe('a recorder', () => {
  it('counts decisions by limiter and outcome', () => {
    const recorder = record()
    const { search, login } = createLimiters({ search: many, login: one })
    for (let i = 0; i < 5; i++) search.tryAcquire('a')
    for (let i = 0; i < 3; i++) login.tryAcquire('a')
    const { series } = recorder.read()
    expect(series.map(({ kind, name, allowed, denied, error }) => [kind, name, allowed, denied, error])).toEqual([
      ['limiter', 'search', 5, 0, 0],
      ['limiter', 'login', 1, 2, 0],
    ])
    expect(series[0].durations.count).toBe(5)
    expect(series[0].durations.sumMs).toBeGreaterThan(0)
    expect(series[0].waits).toBeUndefined()
  })

  it('counts the levels of a policy, each once for a request', () => {
    const recorder = record()
    const policy = createPolicy({
      name: 'api',
      levels: [
        { name: 'global', limit: [many, tokenBucket({ capacity: 2, refill: '1/h' })] },
        { name: 'user', key: ['user'], limit: one },
        { name: 'trial', key: ['user'], limit: tokenBucket({ capacity: 1, refill: '2/h' }), shadow: true },
      ],
    })
    policy.check({ user: 'a' })
    policy.check({ user: 'a' })
    policy.check({ user: 'b' })
    policy.check({ user: 'c' })
    const [{ levels, ...total }] = recorder.read().series
    expect(total).toMatchObject({ kind: 'policy', name: 'api', allowed: 2, denied: 2, error: 0, degraded: 0 })
    expect(levels).toEqual([
      { name: 'global', allowed: 3, denied: 1, shadowDenied: 0, error: 0, degraded: 0 },
      { name: 'user', allowed: 3, denied: 1, shadowDenied: 0, error: 0, degraded: 0 },
      { name: 'trial', allowed: 3, denied: 0, shadowDenied: 1, error: 0, degraded: 0 },
    ])
  })

  it('counts decisions without the store, and failures without a rule', async () => {
    const recorder = record()
    const store = brokenStore()
    const levels = [
      { name: 'closed', limit: many, onFailure: 'closed' as const },
      { name: 'open', limit: many, onFailure: 'open' as const },
    ]
    await createPolicy({ name: 'ruled', levels, store }).check({})
    await expect(
      createPolicy({ name: 'strict', levels: [{ name: 'all', limit: many }], store }).check({}),
    ).rejects.toThrow()
    await expect(createLimiter({ name: 'strict', limit: many, store }).tryAcquire('a')).rejects.toThrow()
    const found = recorder.read().series.map(({ kind, name, allowed, denied, error, degraded, levels: each }) => ({
      series: [kind, name, allowed, denied, error, degraded],
      levels: each.map((level) => [level.name, level.allowed, level.denied, level.error, level.degraded]),
    }))
    expect(found).toEqual([
      { series: ['limiter', 'strict', 0, 0, 1, 0], levels: [] },
      {
        series: ['policy', 'ruled', 0, 1, 0, 1],
        levels: [
          ['closed', 0, 1, 0, 1],
          ['open', 1, 0, 0, 1],
        ],
      },
      { series: ['policy', 'strict', 0, 0, 1, 0], levels: [['all', 0, 0, 1, 0]] },
    ])
  })

  it('keeps waits apart from decisions, and counts a wait in vain as a denial', async () => {
    const recorder = record()
    const limiter = createLimiter({ name: 'slow', limit: one })
    await limiter.acquire('a')
    await expect(limiter.acquire('a', { maxWaitMs: 0 })).rejects.toThrow()
    limiter.tryAcquire('a')
    const [{ allowed, denied, error, durations, waits }] = recorder.read().series
    expect([allowed, denied, error]).toEqual([1, 2, 0])
    expect([durations.count, waits?.count]).toEqual([1, 2])
  })

  it('tells apart at most `maxSeries` limiters, policies and levels; the rest is `other`', () => {
    const recorder = record({ maxSeries: 4 })
    for (let i = 0; i < 10; i++) createLimiter({ name: `l${i}`, limit: many }).tryAcquire('a')
    createLimiter({ name: 'other', limit: many }).tryAcquire('a')
    createPolicy({ name: 'api', levels: [{ name: 'user', key: ['user'], limit: many }] }).check({ user: 'a' })
    const { series } = recorder.read()
    expect(series.map(({ kind, name, allowed }) => [kind, name, allowed])).toEqual([
      ['limiter', 'l0', 1],
      ['limiter', 'l1', 1],
      ['limiter', 'l2', 1],
      ['limiter', 'l3', 1],
      ['limiter', 'other', 7],
      ['policy', 'other', 1],
    ])
    expect(series[5].levels.map(({ name }) => name)).toEqual(['other'])
    parseExposition(recorder.prometheus())
  })

  it('does not grow with the number of keys', () => {
    const recorder = record()
    const limiter = createLimiter({ limit: one })
    const text = () => recorder.prometheus().split('\n').length
    limiter.tryAcquire('first')
    const before = text()
    for (let i = 0; i < 100_000; i++) limiter.tryAcquire(`user:${i}`)
    expect(text()).toBe(before)
    expect(recorder.prometheus()).not.toContain('user:')
  })

  it('stops when it is closed, and can still be read', () => {
    const recorder = createRecorder()
    const limiter = createLimiter({ limit: many })
    limiter.tryAcquire('a')
    recorder.close()
    recorder.close()
    limiter.tryAcquire('a')
    expect(recorder.read().series[0].allowed).toBe(1)
    {
      using scoped = createRecorder()
      limiter.tryAcquire('a')
      expect(scoped.read().series[0].allowed).toBe(1)
    }
  })

  it('does not disturb another recorder', () => {
    const first = record()
    const second = record()
    createLimiter({ limit: many, store: memoryStore(), name: 'x' }).tryAcquire('a')
    expect(first.read().series[0].allowed).toBe(1)
    expect(second.read().series[0].allowed).toBe(1)
  })

  it('refuses wrong options', () => {
    expect(() => createRecorder({ maxSeries: 0 })).toThrow('maxSeries must be')
    expect(() => createRecorder({ keys: true } as object)).toThrow('keys')
  })
})

describe('the text of a recorder', () => {
  it('is what Prometheus reads, whatever the names', () => {
    const recorder = record()
    const names = ['plain', 'quo"te', 'back\\slash', 'line\nfeed', '\\n', 'ünï✓', '}{ ,="', '\ud800 alone']
    for (const name of names) createLimiter({ name, limit: many }).tryAcquire('a')
    createPolicy({ name: 'api', levels: [{ name: 'level', limit: many }] }).check({})
    const metrics = parseExposition(recorder.prometheus())
    const decisions = metrics.get('sluice_decisions_total')
    for (const name of names) {
      const labels = { kind: 'limiter', name: name.toWellFormed(), outcome: 'allowed' }
      expect(decisions?.samples.get(seriesText('sluice_decisions_total', labels)), name).toBe(1)
    }
  })

  it('has every metric before the first decision', () => {
    expect([...parseExposition(record().prometheus())].map(([name, { type }]) => [name, type])).toEqual([
      ['sluice_decisions_total', 'counter'],
      ['sluice_decisions_degraded_total', 'counter'],
      ['sluice_level_decisions_total', 'counter'],
      ['sluice_level_decisions_degraded_total', 'counter'],
      ['sluice_decision_duration_seconds', 'histogram'],
      ['sluice_wait_duration_seconds', 'histogram'],
    ])
  })
})
