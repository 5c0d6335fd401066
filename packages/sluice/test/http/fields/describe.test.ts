import {
  concurrency,
  createPolicy,
  fixedWindow,
  InvalidTypeError,
  InvalidValueError,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import { type Dialect, describe } from 'sluice/http'
import { ManualClock } from 'sluice/testing'
import { afterEach, expect, it, describe as suite, vi } from 'vitest'
import { type LevelDecision, level, NOW_MS, verdictOf } from './verdicts.js'

afterEach(() => {
  vi.restoreAllMocks()
})

const DENIED = { allowed: false, remaining: 0, retryAfterMs: 4_200, nextUnitAfterMs: 4_200 }

suite('a verdict that allows', () => {
  it('is 200 with the quota, and nothing of a denial', () => {
    const { status, headers, body } = describe(verdictOf(level('burst')))
    expect(status).toBe(200)
    expect(body).toBeUndefined()
    expect(headers).toEqual({ 'RateLimit-Policy': '"burst";q=100;w=60', RateLimit: '"burst";r=50;t=30' })
  })

  it('has nothing to tell where no level is about the request', () => {
    expect(describe(verdictOf(), ['draft', 'draft-6', 'legacy'], { expose: true })).toEqual({
      status: 200,
      headers: {},
      body: undefined,
    })
  })
})

suite('a verdict that denies', () => {
  it('is the answer of the reference, field for field', () => {
    const { status, headers, body } = describe(verdictOf(level('default', DENIED)), 'draft')
    expect(status).toBe(429)
    expect(headers).toEqual({
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'Retry-After': '5',
      'RateLimit-Policy': '"default";q=100;w=60',
      RateLimit: '"default";r=0;t=5',
    })
    expect(JSON.parse(body ?? '')).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Request cannot be satisfied as assigned quota has been exceeded',
      status: 429,
      'violated-policies': ['default'],
    })
  })

  it('is 503 where the service can take no more', () => {
    const { status, headers, body } = describe(verdictOf(level('default', DENIED)), 'draft', { status: 503 })
    expect(status).toBe(503)
    expect(headers).toMatchObject({ 'Cache-Control': 'no-store', 'Retry-After': '5' })
    expect(JSON.parse(body ?? '')).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      title: 'Request cannot be satisfied due to temporary server capacity constraints',
      status: 503,
      'violated-policies': ['default'],
    })
    expect(describe(verdictOf(level('default')), 'draft', { status: 503 }).status).toBe(200)
  })

  it.each([
    [0, '1'],
    [0.2, '1'],
    [1, '1'],
    [999.5, '1'],
    [1_000, '1'],
    [1_000.1, '2'],
    [1_001, '2'],
    [86_400_000, '86400'],
    [Number.NaN, '1'],
    [-5, '1'],
    [1e300, '999999999999999'],
  ])('a wait of %d ms is told as %s s', (retryAfterMs, seconds) => {
    const verdict = verdictOf(level('a', { ...DENIED, nextUnitAfterMs: 0, retryAfterMs }))
    expect(describe({ ...verdict, retryAfterMs }).headers['Retry-After']).toBe(seconds)
  })

  it('tells a client without a place to retry after a second, and a blocked client to wait for the block', () => {
    const limit = concurrency({ max: 2, ttl: '1m' })
    const waiting = { ...DENIED, retryAfterMs: 60_000, nextUnitAfterMs: 40_000, resetAfterMs: 60_000 }
    const verdict = verdictOf(level('running', waiting, { limit }))
    expect(describe(verdict, ['draft', 'draft-6']).headers).toMatchObject({
      'Retry-After': '1',
      'RateLimit-Policy': '"running";q=2;qu="concurrent-requests"',
      RateLimit: '"running";r=0',
      'RateLimit-Reset': '1',
    })
    expect(describe(verdict, 'draft-6').headers).not.toHaveProperty('RateLimit-Policy')
    const both = verdictOf(level('running', waiting, { limit }), level('calls', DENIED))
    expect(describe(both).headers['Retry-After']).toBe('5')
    const blocked = verdictOf(level('running', { ...waiting, retryAfterMs: 600_000 }, { limit }))
    expect(describe(blocked).headers['Retry-After']).toBe('600')
  })

  it('has no Retry-After where waiting cannot help', () => {
    const clock = new ManualClock(NOW_MS)
    const policy = createPolicy({ levels: [{ name: 'a', limit: fixedWindow({ quota: 5, window: '1m' }) }], clock })
    const { status, headers, body } = describe(policy.check({}, { cost: 6 }), ['draft', 'draft-6', 'legacy'])
    expect(status).toBe(429)
    expect(headers).not.toHaveProperty('Retry-After')
    expect(headers).toMatchObject({ RateLimit: '"a";r=5', 'Cache-Control': 'no-store', 'RateLimit-Remaining': '5' })
    expect(body).toContain('"violated-policies":["a"]')
  })

  it('never tells a client to retry before the `t` of a level that denied', () => {
    const verdict = verdictOf(
      level('a', { ...DENIED, retryAfterMs: 1_000, nextUnitAfterMs: 60_000 }),
      level('b', { nextUnitAfterMs: 90_000 }),
      level('c', { ...DENIED, nextUnitAfterMs: 120_000 }, { shadow: true }),
    )
    const { headers } = describe(verdict)
    expect(headers.RateLimit).toBe('"a";r=0;t=60, "b";r=50;t=90')
    expect(headers['Retry-After']).toBe('60')
  })
})

suite('the dialects', () => {
  const verdict = verdictOf(level('burst'))
  const draft = { 'RateLimit-Policy': '"burst";q=100;w=60', RateLimit: '"burst";r=50;t=30' }
  const six = { 'RateLimit-Limit': '100', 'RateLimit-Remaining': '50', 'RateLimit-Reset': '60' }
  const legacy = {
    'X-RateLimit-Limit': '100',
    'X-RateLimit-Remaining': '50',
    'X-RateLimit-Reset': String(NOW_MS / 1_000 + 60),
  }
  const oldPolicy = { 'RateLimit-Policy': '100;w=60' }

  it.each<[string, Dialect | readonly Dialect[] | undefined, Record<string, string>]>([
    ['draft, unless something else is said', undefined, draft],
    ['draft', 'draft', draft],
    ['draft-6', 'draft-6', { ...six, ...oldPolicy }],
    ['legacy', 'legacy', legacy],
    ['none', [], {}],
    ['draft-6 and legacy', ['draft-6', 'legacy'], { ...six, ...oldPolicy, ...legacy }],
    ['all, with the policy of the newest', ['legacy', 'draft-6', 'draft'], { ...draft, ...six, ...legacy }],
    ['one that is said twice', ['draft', 'draft'], draft],
  ])('%s', (_name, dialect, fields) => {
    expect(describe(verdict, dialect, { nowMs: NOW_MS }).headers).toEqual(fields)
  })

  it('legacy tells the time by the process if no other is given, never too early', () => {
    vi.spyOn(Date, 'now').mockReturnValue(NOW_MS + 1)
    expect(describe(verdict, 'legacy').headers['X-RateLimit-Reset']).toBe(String(NOW_MS / 1_000 + 61))
  })

  it('a client with units left is told when all are back; a client without, when to go on', () => {
    const reset = (said: object) => describe(verdictOf(level('a', said)), 'draft-6').headers['RateLimit-Reset']
    expect(reset({ remaining: 1 })).toBe('60')
    expect(reset({ remaining: 0 })).toBe('30')
    expect(reset({ ...DENIED, remaining: 3, retryAfterMs: 45_000, nextUnitAfterMs: 15_000 })).toBe('45')
    expect(reset({ ...DENIED, retryAfterMs: Infinity, nextUnitAfterMs: 15_000 })).toBe('15')
  })

  it('a field for one level has the level that denies for longest, otherwise the level with the fewest units left', () => {
    const limitOf = (...levels: LevelDecision[]) =>
      describe(verdictOf(...levels), 'legacy').headers['X-RateLimit-Limit']
    const of = (quota: number) => ({ limit: fixedWindow({ quota, window: '1h' }) })
    expect(limitOf(level('a', { remaining: 3 }, of(1)), level('b', { remaining: 2 }, of(2)))).toBe('2')
    expect(limitOf(level('a', { remaining: 0 }, of(1)), level('b', { ...DENIED, remaining: 2 }, of(2)))).toBe('2')
    expect(limitOf(level('a', { ...DENIED, retryAfterMs: 9e6 }, of(1)), level('b', DENIED, of(2)))).toBe('1')
    expect(limitOf(level('a', DENIED, of(1)), level('b', { ...DENIED, retryAfterMs: Infinity }, of(2)))).toBe('2')
  })

  it.each([['draft-7'], [['draft', 'ietf']], ['']])(
    '%j is not a dialect, and the error names the dialects',
    (dialect) => {
      expect(() => describe(verdict, dialect as Dialect)).toThrow(InvalidValueError)
      expect(() => describe(verdict, dialect as Dialect)).toThrow(/'draft', 'draft-6', 'legacy'/)
    },
  )

  it.each([[7], [{}], [[null]]])('%j is not even text', (dialect) => {
    expect(() => describe(verdict, dialect as Dialect)).toThrow(InvalidTypeError)
  })
})

suite('the window and the quota, of each algorithm', () => {
  it.each([
    [tokenBucket({ capacity: 100, refill: '100/m' }), 'q=100;w=60'],
    [tokenBucket({ capacity: 10, refill: '20/s' }), 'q=10;w=1'],
    [tokenBucket({ capacity: 5, refill: '2/s' }), 'q=5;w=3'],
    [leakyBucket({ capacity: 30, drain: '0.5/s' }), 'q=30;w=60'],
    [fixedWindow({ quota: 1_000, window: '1d' }), 'q=1000;w=86400'],
    [fixedWindow({ quota: 3, window: '250ms' }), 'q=3;w=1'],
    [slidingWindow({ quota: 7, window: '1.5s' }), 'q=7;w=2'],
    [slidingLog({ quota: 2, window: '1h' }), 'q=2;w=3600'],
    [concurrency({ max: 20, ttl: '1m' }), 'q=20;qu="concurrent-requests"'],
  ])('%j is %s', (limit, policy) => {
    expect(describe(verdictOf(level('a', {}, { limit }))).headers['RateLimit-Policy']).toBe(`"a";${policy}`)
  })

  it('t is when there is one more, not when all is back', () => {
    const clock = new ManualClock(NOW_MS)
    const limit = tokenBucket({ capacity: 100, refill: '1/m' })
    const policy = createPolicy({ levels: [{ name: 'a', limit }], clock })
    expect(describe(policy.peek({})).headers.RateLimit).toBe('"a";r=100')
    expect(describe(policy.check({}, { cost: 10 })).headers.RateLimit).toBe('"a";r=90;t=60')
    clock.advance(45_000)
    expect(describe(policy.peek({})).headers.RateLimit).toBe('"a";r=90;t=15')
  })
})

suite('several levels', () => {
  const day = { limit: fixedWindow({ quota: 1_000, window: '1d' }) }

  it('have an item each, in the order of the policy', () => {
    const { headers } = describe(verdictOf(level('burst'), level('daily', { remaining: 999 }, day)))
    expect(headers['RateLimit-Policy']).toBe('"burst";q=100;w=60, "daily";q=1000;w=86400')
    expect(headers.RateLimit).toBe('"burst";r=50;t=30, "daily";r=999;t=30')
  })

  it('the limits of one level are told apart by a number, also in the body', () => {
    const verdict = verdictOf(level('user'), level('user', DENIED, day), level('ip'), level('user', DENIED))
    const { headers, body } = describe(verdict)
    expect(headers['RateLimit-Policy']).toBe(
      '"user";q=100;w=60, "user#2";q=1000;w=86400, "ip";q=100;w=60, "user#3";q=100;w=60',
    )
    expect(headers.RateLimit).toBe('"user";r=50;t=30, "user#2";r=0;t=5, "ip";r=50;t=30, "user#3";r=0;t=5')
    expect(JSON.parse(body ?? '')['violated-policies']).toEqual(['user#2', 'user#3'])
  })

  it('one that only watches is hidden, whatever it says', () => {
    const watching = level('secret', { ...DENIED, retryAfterMs: 9e9 }, { shadow: true })
    const dialects: Dialect[] = ['draft', 'draft-6', 'legacy']
    for (const other of [level('a'), level('a', DENIED)]) {
      const options = { nowMs: NOW_MS }
      expect(describe(verdictOf(watching, other), dialects, options)).toEqual(
        describe(verdictOf(other), dialects, options),
      )
    }
    expect(describe(verdictOf(watching), dialects).headers).toEqual({})
  })

  it('of a real policy: every quota on every response, though nothing was taken', () => {
    const policy = createPolicy({
      clock: new ManualClock(NOW_MS),
      levels: [
        {
          name: 'user',
          key: 'user',
          limit: [fixedWindow({ quota: 1, window: '1m' }), fixedWindow({ quota: 50, window: '1d' })],
        },
        { name: 'watch', shadow: true, limit: fixedWindow({ quota: 1, window: '1d' }) },
        { name: 'all', limit: fixedWindow({ quota: 9, window: '1h' }) },
      ],
    })
    const fields = [policy.check({ user: 'u' }), policy.check({ user: 'u' })].map(
      (verdict) => describe(verdict).headers.RateLimit,
    )
    expect(fields).toEqual(Array(2).fill('"user";r=0;t=60, "user#2";r=49;t=86400, "all";r=8;t=3600'))
  })
})

suite('expose', () => {
  const all: Dialect[] = ['draft', 'draft-6', 'legacy']
  const quotas =
    'RateLimit-Policy, RateLimit, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset'

  it.each([
    ['allowed', level('a'), 'draft', 'RateLimit-Policy, RateLimit'],
    ['denied', level('a', DENIED), 'draft', 'RateLimit-Policy, RateLimit, Retry-After'],
    ['in every dialect', level('a', DENIED), all, `${quotas}, Retry-After`],
    ['without a dialect', level('a', DENIED), [], 'Retry-After'],
  ] as const)('names what scripts may read: %s', (_name, each, dialect, names) => {
    const { headers } = describe(verdictOf(each), dialect, { expose: true })
    expect(headers['Access-Control-Expose-Headers']).toBe(names)
  })

  it('is not there unless it is wanted, nor where there is nothing to name', () => {
    for (const options of [{}, { expose: false }])
      expect(describe(verdictOf(level('a')), 'draft', options).headers).not.toHaveProperty(
        'Access-Control-Expose-Headers',
      )
    expect(describe(verdictOf(level('a')), [], { expose: true }).headers).toEqual({})
  })
})

suite('jitter', () => {
  const retryAfter = (random: number, ...levels: LevelDecision[]) => {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    return describe(verdictOf(...levels), 'draft', { jitterMs: 10_000 }).headers['Retry-After']
  }
  const denied = (limit: Parameters<typeof level>[2], more = {}) => level('a', { ...DENIED, ...more }, limit)
  const aligned = [
    { limit: fixedWindow({ quota: 1, window: '1m' }) },
    { limit: slidingWindow({ quota: 1, window: '1m' }) },
  ]
  const others = [
    { limit: fixedWindow({ quota: 1, window: '1m', align: 'first' }) },
    { limit: slidingWindow({ quota: 1, window: '1m', align: 'first' }) },
    { limit: slidingLog({ quota: 1, window: '1m' }) },
    { limit: tokenBucket({ capacity: 1, refill: '1/m' }) },
    { limit: leakyBucket({ capacity: 1, drain: '1/m' }) },
  ]

  it.each(aligned)('is added if all clients would come back at once: $limit.algorithm', (limit) => {
    expect(retryAfter(0, denied(limit))).toBe('5')
    expect(retryAfter(0.5, denied(limit))).toBe('10')
    expect(retryAfter(0.999_999, denied(limit))).toBe('15')
  })

  it.each(others)('is not added to any other: $limit', (limit) => {
    expect(retryAfter(0.999_999, denied(limit))).toBe('5')
  })

  it('is added only if the aligned window denied for longest', () => {
    const [window] = aligned
    const [, , log] = others
    expect(retryAfter(0.5, denied(window), denied(log, { retryAfterMs: 20_000 }))).toBe('20')
    expect(retryAfter(0.5, denied(log), level('b', { retryAfterMs: 4_200 }, window))).toBe('5')
    expect(retryAfter(0.5, denied(log), denied({ ...window, shadow: true }))).toBe('5')
  })

  it('does not change the quota, and is 0 by default', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const verdict = verdictOf(denied(aligned[0]))
    expect(describe(verdict, 'draft', { jitterMs: 10_000 }).headers.RateLimit).toBe('"a";r=0;t=5')
    expect(describe(verdict).headers['Retry-After']).toBe('5')
  })
})
