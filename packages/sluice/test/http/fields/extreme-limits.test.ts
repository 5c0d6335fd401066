import { concurrency, createLimiter, createPolicy, fixedWindow, type Limit, tokenBucket, unlimited } from 'sluice'
import { describe, Guard, type Passage } from 'sluice/http'
import { ManualClock } from 'sluice/testing'
import { parseList } from 'structured-headers'
import { expect, test } from 'vitest'

const DIALECTS = ['draft', 'draft-6', 'legacy'] as const
const bucket = tokenBucket({ capacity: 100, refill: '100/m' })
const clock = new ManualClock(1_745_000_000_000)

function policyOf(...limits: readonly (Limit | readonly Limit[])[]) {
  const levels = limits.map((limit, i) => ({ name: `level-${i}`, key: 'user', limit }))
  return createPolicy({ levels, clock })
}

test('an unlimited limit writes no field in any dialect, also if scripts may read fields', () => {
  const verdict = policyOf(unlimited()).check({ user: 'a' })
  expect(describe(verdict, DIALECTS, { expose: true })).toEqual({ status: 200, headers: {}, body: undefined })
})

test('beside other levels an unlimited one is left out, and never is the tightest', () => {
  const policy = policyOf(unlimited(), bucket, unlimited())
  const { headers } = describe(policy.check({ user: 'a' }), DIALECTS)
  expect(headers['RateLimit-Policy']).toBe('"level-1";q=100;w=60')
  expect(headers.RateLimit).toBe('"level-1";r=99;t=1')
  expect([headers['RateLimit-Limit'], headers['X-RateLimit-Remaining']]).toEqual(['100', '99'])
})

test('a limit in one level with an unlimited one has the name of the level in fields and body', () => {
  const policy = policyOf([unlimited(), fixedWindow({ quota: 1, window: '1m' })])
  policy.check({ user: 'a' })
  const { headers, body } = describe(policy.check({ user: 'a' }))
  expect(headers.RateLimit).toContain('"level-0";r=0')
  expect(JSON.parse(body ?? '')['violated-policies']).toEqual(['level-0'])
})

test('a blocked key under an unlimited limit is told when to come back, and no quota', () => {
  const limiter = createLimiter({ name: 'api', limit: unlimited(), clock })
  limiter.block('a', { duration: '90s' })
  const { status, headers, body } = describe(
    { name: 'api', limit: limiter.limit, decision: limiter.tryAcquire('a') },
    DIALECTS,
  )
  expect(status).toBe(429)
  expect(Object.keys(headers).sort()).toEqual(['Cache-Control', 'Content-Type', 'Retry-After'])
  expect(headers['Retry-After']).toBe('90')
  expect(JSON.parse(body ?? '')['violated-policies']).toEqual(['api'])
})

test.each([
  [tokenBucket({ capacity: 0, refill: '5/s' }), '"level-0";q=0;w=1'],
  [fixedWindow({ quota: 0, window: '1m' }), '"level-0";q=0;w=60'],
  [concurrency({ max: 0 }), '"level-0";q=0;qu="concurrent-requests"'],
])('a quota of 0 is written, without Retry-After, because waiting does not help: %o', (limit, item) => {
  const { status, headers, body } = describe(policyOf(limit).check({ user: 'a' }), DIALECTS, { nowMs: 0 })
  expect(status).toBe(429)
  expect(headers['RateLimit-Policy']).toBe(item)
  expect(() => parseList(item)).not.toThrow()
  expect(headers.RateLimit).toBe('"level-0";r=0')
  expect([headers['RateLimit-Limit'], headers['RateLimit-Remaining'], headers['RateLimit-Reset']]).toEqual([
    '0',
    '0',
    '0',
  ])
  expect([headers['X-RateLimit-Limit'], headers['X-RateLimit-Reset']]).toEqual(['0', '0'])
  expect(headers['Retry-After']).toBeUndefined()
  expect(JSON.parse(body ?? '').detail).toContain('waiting does not help')
})

test('no field tells a wait that never ends, also for the debt of a limit of 0', () => {
  const limit = fixedWindow({ quota: 0, window: '1m' })
  const limiter = createLimiter({ limit, clock })
  limiter.charge('a', { cost: 3 })
  for (const cost of [0, 1]) {
    const decision = limiter.tryAcquire('a', { cost })
    expect(decision.nextUnitAfterMs).toBe(decision.resetAfterMs)
    const { headers } = describe({ name: 'api', limit, decision }, DIALECTS, { nowMs: 0 })
    expect(Object.values(headers).filter((value) => /\d{6}|Infinity|NaN/.test(value))).toEqual([])
  }
})

test('a guard with an unlimited limit lets every request pass without fields; one of 0 denies, whatever the cost', () => {
  const reader = { method: () => 'GET', url: () => '/', remoteAddress: () => '192.0.2.1', field: () => undefined }
  const enter = (options: { limit: Limit; cost?: number }) => new Guard(options, reader).enter({}) as Passage
  const free = enter({ limit: unlimited() })
  expect([free.allowed, free.isPlain, free.headers]).toEqual([true, false, {}])
  expect(enter({ limit: unlimited(), cost: 1_000 }).allowed).toBe(true)
  expect(enter({ limit: tokenBucket({ capacity: 0, refill: '1/s' }), cost: 5 }).status).toBe(429)
})
