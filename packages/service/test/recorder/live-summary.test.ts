import { createPolicy, memoryStore, tokenBucket } from 'sluice'
import { createRecorder } from 'sluice/metrics'
import { describe, expect, it } from 'vitest'
import { parsePolicyFile } from '../../dist/policy-file/parse-policy-file.js'
import { DecisionChanges } from '../../dist/recorder/decision-changes.js'
import { LiveSummary, type Summary } from '../../dist/recorder/live-summary.js'
import { ServiceRecorder } from '../../dist/recorder/service-recorder.js'

const FILE = parsePolicyFile('version: 1\nlevels: [{ name: all, limit: { algorithm: unlimited } }]')
const store = { kind: 'other' } as const

function policyOf(name = 'api') {
  return createPolicy({
    name,
    levels: [
      { name: 'user', key: ['user'], limit: tokenBucket({ capacity: 2, refill: '1/h' }) },
      { name: 'trial', key: ['user'], limit: tokenBucket({ capacity: 1, refill: '1/h' }), shadow: true },
    ],
  })
}

describe('a live summary', () => {
  it('says what was decided since the one before', () => {
    using recorder = createRecorder()
    const live = new LiveSummary()
    const changes = new DecisionChanges(10_000)
    const next = (atMs: number, worstDelayMs: number) =>
      live.next(changes.next(recorder.read(), atMs), { worstDelayMs, store })
    const policy = policyOf()
    for (let i = 0; i < 3; i++) policy.check({ user: 'a' })
    expect(live.latest).toBeUndefined()
    const first = next(11_000, 3.0001234)
    expect(first).toMatchObject({
      atMs: 11_000,
      elapsedMs: 1_000,
      decisions: 3,
      allowed: 2,
      denied: 1,
      errors: 0,
      degraded: 0,
      decisionsPerSecond: 3,
      worstDelayMs: 3,
      store,
    })
    expect(first.levels).toEqual([
      { policy: 'api', level: 'user', decisions: 3, denied: 1, shadowDenied: 0 },
      { policy: 'api', level: 'trial', decisions: 3, denied: 0, shadowDenied: 2 },
    ])
    expect(first.p50Ms).toBeGreaterThan(0)
    for (const ms of [first.p50Ms, first.p99Ms]) expect(ms).toBe(Number(ms.toFixed(3)))
    expect(first.p99Ms).toBeGreaterThanOrEqual(first.p50Ms)
    policy.check({ user: 'b' })
    policyOf('other').check({ user: 'b' })
    const second = next(11_500, 0)
    expect(second).toMatchObject({ elapsedMs: 500, decisions: 2, allowed: 2, denied: 0, decisionsPerSecond: 4 })
    expect(second.levels.map(({ policy: of, level, decisions }) => [of, level, decisions])).toEqual([
      ['api', 'user', 1],
      ['api', 'trial', 1],
      ['other', 'user', 1],
      ['other', 'trial', 1],
    ])
    const third = next(12_500, 0)
    expect(third).toMatchObject({ decisions: 0, decisionsPerSecond: 0, p50Ms: 0, p99Ms: 0 })
    expect(live.latest).toBe(third)
  })

  it('is told to every listener until it stops listening, and contains no key', () => {
    const recorder = new ServiceRecorder(memoryStore(), FILE)
    try {
      const heard: Summary[] = []
      const stop = recorder.summary.subscribe((summary) => heard.push(summary))
      policyOf().check({ user: 'secret-key' })
      recorder.tick(Date.now() + 1_000)
      stop()
      recorder.tick(Date.now() + 2_000)
      expect(heard).toHaveLength(1)
      expect(heard[0].decisions).toBe(1)
      expect(heard[0].store).toMatchObject({ kind: 'memory', keys: 0 })
      expect(JSON.stringify(heard)).not.toContain('secret-key')
      expect(JSON.stringify(recorder.topKeys.read())).toContain('secret-key')
    } finally {
      recorder.close()
    }
  })
})
