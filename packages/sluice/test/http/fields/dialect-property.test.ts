/** For every verdict the fields are well-formed: for Node.js, as structured fields, and for other parsers. */
import { validateHeaderName, validateHeaderValue } from 'node:http'
import fc from 'fast-check'
import { parseRateLimit as othersParse } from 'ratelimit-header-parser'
import { type LevelDecision, tokenBucket, type Verdict } from 'sluice'
import { type Description, type Dialect, describe } from 'sluice/http'
import { durationUs } from 'sluice/limits'
import { type Item, parseItem, parseList } from 'structured-headers'
import { afterEach, beforeEach, expect, it, describe as suite, vi } from 'vitest'
import {
  anyVerdict,
  DIALECTS,
  dialects,
  level,
  NOW_MS,
  oddNames,
  oddVerdicts,
  realVerdicts,
  verdictOf,
} from './verdicts.js'

const RUNS = { numRuns: 1_000 }
const INTEGER = /^(?:0|[1-9]\d{0,14})$/
const SINGLE = ['Limit', 'Remaining', 'Reset'].flatMap((name) => [`RateLimit-${name}`, `X-RateLimit-${name}`])

const shown = ({ levels }: Verdict) => levels.filter(({ shadow }) => shadow !== true)
const denying = (verdict: Verdict) => shown(verdict).filter(({ decision }) => !decision.allowed)

/** A name as a field has it: ASCII, the rest percent-encoded. */
const ascii = (name: string) => name.toWellFormed().replace(/[^ -~]+/g, encodeURIComponent)

function labels(verdict: Verdict): string[] {
  const counts = new Map<string, number>()
  return shown(verdict).map(({ name }) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count === 1 ? name : `${name}#${count}`
  })
}

const isInFlight = ({ limit }: LevelDecision) => limit.algorithm === 'concurrency'

/** The wait that a client is told for a level: one second for a place, unless the key is blocked for longer. */
function waitMs({ limit, decision: { retryAfterMs, nextUnitAfterMs } }: LevelDecision): number {
  const ttlMs = limit.algorithm === 'concurrency' ? durationUs('ttl', limit.ttl) / 1_000 : 0
  return Math.max(...[retryAfterMs, nextUnitAfterMs].map((ms) => (ms <= ttlMs ? Math.min(ms, 1_000) : ms)))
}

/** The items of a list as another library reads them: names, integers and a unit, and nothing else. */
function items(text: string): [string, Record<string, number>][] {
  return (parseList(text) as Item[]).map(([name, parameters]) => {
    expect(name).toBeTypeOf('string')
    for (const [parameter, value] of parameters) {
      if (parameter === 'qu') {
        expect(value).toBe('concurrent-requests')
        continue
      }
      expect(Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 1e15).toBe(true)
    }
    return [name as string, Object.fromEntries(parameters) as Record<string, number>]
  })
}

function checkFields(verdict: Verdict, spoken: readonly Dialect[], { status, headers, body }: Description): void {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    expect(value).not.toMatch(/NaN|Infinity/)
  }
  for (const name of [...SINGLE, 'Retry-After']) {
    if (headers[name] !== undefined) expect(headers[name], name).toMatch(INTEGER)
  }
  const told = shown(verdict).length > 0
  for (const [dialect, name] of [
    ['draft', 'RateLimit'],
    ['draft-6', 'RateLimit-Remaining'],
    ['legacy', 'X-RateLimit-Remaining'],
  ] as const) {
    expect(headers[name] !== undefined, name).toBe(told && spoken.includes(dialect))
  }
  if (headers.RateLimit !== undefined) {
    const [policies, quotas] = [items(headers['RateLimit-Policy']), items(headers.RateLimit)]
    const names = labels(verdict).map(ascii)
    expect(policies.map(([name]) => name)).toEqual(names)
    expect(quotas.map(([name]) => name)).toEqual(names)
    policies.forEach(([, { q, w, ...rest }], i) => {
      expect(q).toBeGreaterThanOrEqual(0)
      if (isInFlight(shown(verdict)[i])) {
        expect(w).toBeUndefined()
        expect(rest).toEqual({ qu: 'concurrent-requests' })
      } else {
        expect(w).toBeGreaterThanOrEqual(1)
        expect(rest).toEqual({})
      }
    })
    quotas.forEach(([, { r, t, ...rest }], i) => {
      const level = shown(verdict)[i]
      const { decision } = level
      expect(r).toBe(decision.remaining >= 1 ? Math.min(Math.trunc(decision.remaining), 999_999_999_999_999) : 0)
      expect(rest).toEqual({})
      const more = !isInFlight(level) && decision.nextUnitAfterMs > 0 && decision.nextUnitAfterMs < Infinity
      expect(t).toBe(more ? Math.min(Math.ceil(decision.nextUnitAfterMs / 1_000), 999_999_999_999_999) : undefined)
      if (!verdict.allowed && !decision.allowed && headers['Retry-After'] !== undefined && more)
        expect(Number(headers['Retry-After'])).toBeGreaterThanOrEqual(t)
    })
  } else if (headers['RateLimit-Policy'] !== undefined) {
    const [quota, parameters] = parseItem(headers['RateLimit-Policy'])
    expect(String(quota)).toBe(headers['RateLimit-Limit'])
    expect(parameters.get('w')).toBeGreaterThanOrEqual(1)
  }
  expect(status).toBe(verdict.allowed ? 200 : 429)
  if (verdict.allowed) {
    for (const name of ['Retry-After', 'Cache-Control', 'Content-Type']) expect(headers).not.toHaveProperty(name)
    expect(body).toBeUndefined()
    return
  }
  expect(headers).toMatchObject({ 'Cache-Control': 'no-store', 'Content-Type': 'application/problem+json' })
  expect(headers['Retry-After'] === undefined).toBe(verdict.retryAfterMs === Infinity)
  if (verdict.retryAfterMs !== Infinity) {
    expect(Number(headers['Retry-After'])).toBeGreaterThanOrEqual(1)
    const wanted = Math.min(verdict.retryAfterMs / 1_000, 999_999_999_999_999)
    if (wanted > 0 && !verdict.levels.some(isInFlight))
      expect(Number(headers['Retry-After'])).toBeGreaterThanOrEqual(wanted)
  }
  const violated = labels(verdict).filter((_, i) => !shown(verdict)[i].decision.allowed)
  expect(JSON.parse(body ?? '')).toMatchObject({ status, 'violated-policies': violated })
}

beforeEach(() => {
  // Random levels are often such that one of them can never deny, which is told.
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => {
  vi.restoreAllMocks()
})

suite('header fields', () => {
  it('fields of the verdicts of real policies are well-formed, and Retry-After covers the wait of every level that denied', () => {
    const seen = { allowed: 0, denied: 0, never: 0 }
    fc.assert(
      fc.property(realVerdicts, dialects, fc.constantFrom(0, 1, 5_000), (verdicts, spoken, jitterMs) => {
        for (const verdict of verdicts) {
          seen[verdict.allowed ? 'allowed' : verdict.retryAfterMs === Infinity ? 'never' : 'denied']++
          const description = describe(verdict, spoken, { jitterMs, nowMs: NOW_MS })
          checkFields(verdict, spoken, description)
          const { 'Retry-After': told } = description.headers
          if (told !== undefined) {
            const least = Math.max(1, Math.ceil(Math.max(...denying(verdict).map(waitMs)) / 1_000))
            expect(Number(told)).toBeGreaterThanOrEqual(least)
            expect(Number(told)).toBeLessThanOrEqual(least + Math.ceil(jitterMs / 1_000))
          }
        }
      }),
      { numRuns: 300 },
    )
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(100)
  })

  it('fields of verdicts that no policy makes are well-formed, also if values are not numbers', () => {
    fc.assert(
      fc.property(
        oddVerdicts,
        dialects,
        fc.record(
          { jitterMs: fc.double(), nowMs: fc.double(), expose: fc.boolean() },
          { requiredKeys: [], noNullPrototype: true },
        ),
        (verdict, spoken, options) => checkFields(verdict, spoken, describe(verdict, spoken, options)),
      ),
      { numRuns: 2_000 },
    )
  })

  it('the fields of a level do not depend on fields that were written before for other levels', () => {
    const limits = [1, 2, 3].map((quota) => tokenBucket({ capacity: quota * 10_000, refill: '1/s' }))
    const levels = fc.record({
      name: fc.constantFrom('a', 'b'),
      limit: fc.constantFrom(...limits),
      said: fc.record({
        remaining: fc.nat(2).chain((low) => fc.constantFrom(0, 509, 1_018, 4_096, 8_192).map((far) => low + far)),
        nextUnitAfterMs: fc.constantFrom(0, 1, 1_000, 1_001),
      }),
    })
    fc.assert(
      fc.property(fc.array(levels, { minLength: 2, maxLength: 50 }), (asked) => {
        for (const { name, limit, said } of asked) {
          const verdict = verdictOf(level(name, said, { limit }))
          checkFields(verdict, ['draft'], describe(verdict))
        }
      }),
      RUNS,
    )
  })

  it('fields are well-formed whatever the levels are called', () => {
    fc.assert(
      fc.property(fc.array(oddNames, { minLength: 1, maxLength: 4 }), fc.boolean(), (names, allowed) => {
        const verdict = verdictOf(...names.map((name) => level(name, { allowed, retryAfterMs: allowed ? 0 : 1 })))
        checkFields(verdict, ['draft'], describe(verdict))
      }),
      RUNS,
    )
  })

  it.each([
    ['say "hi"', '"say \\"hi\\"";r=50;t=30'],
    ['back\\slash', '"back\\\\slash";r=50;t=30'],
    ['größe', '"gr%C3%B6%C3%9Fe";r=50;t=30'],
    ['a\r\nb', '"a%0D%0Ab";r=50;t=30'],
    ['😀', '"%F0%9F%98%80";r=50;t=30'],
    ['\ud83d', '"%EF%BF%BD";r=50;t=30'],
    ['', '"";r=50;t=30'],
  ])('the name %j of a level is escaped', (name, field) => {
    expect(describe(verdictOf(level(name))).headers.RateLimit).toBe(field)
  })
})

suite('ratelimit-header-parser', () => {
  beforeEach(() => {
    vi.stubEnv('TZ', 'UTC')
    vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllEnvs()
  })

  it.each([
    ['draft-6', 'RateLimit-'],
    ['legacy', 'X-RateLimit-'],
  ] as const)('ratelimit-header-parser reads the numbers that were written in %s', (dialect, prefix) => {
    let compared = 0
    fc.assert(
      fc.property(anyVerdict, (verdict) => {
        const { headers } = describe(verdict, dialect)
        const parsed = othersParse(new Headers(headers))
        if (shown(verdict).length === 0) {
          expect(parsed).toBeUndefined()
          return
        }
        const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => Number(headers[prefix + name]))
        expect(parsed).toMatchObject({ limit, remaining, used: limit - remaining })
        // It takes a delay of more than 31 years for a time, and no Date is so far off.
        if (dialect === 'draft-6' ? reset > 1e9 : reset > 8.64e12) return
        compared++
        expect(parsed?.reset?.getTime()).toBe(dialect === 'legacy' ? reset * 1_000 : NOW_MS + reset * 1_000)
      }),
      RUNS,
    )
    expect(compared).toBeGreaterThan(300)
  })

  it('if draft-6 and legacy are both written, ratelimit-header-parser reads draft-6', () => {
    const { headers } = describe(verdictOf(level('a', { remaining: 7 })), ['draft-6', 'legacy'])
    const parsed = othersParse(new Headers(headers))
    expect(parsed).toEqual({ limit: 100, remaining: 7, used: 93, reset: new Date(NOW_MS + 60_000) })
  })

  it('ratelimit-header-parser takes the current draft for revision 07, and reads no numbers', () => {
    const { headers } = describe(verdictOf(level('a')), DIALECTS)
    expect(othersParse(new Headers(headers))).toMatchObject({ limit: Number.NaN, remaining: Number.NaN })
  })
})
