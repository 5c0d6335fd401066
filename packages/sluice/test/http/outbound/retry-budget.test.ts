import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Destination, Destinations } from '../../../src/http/outbound/destinations.js'
import { askedWaitMs, backoffMs, isWorthRetrying } from '../../../src/http/outbound/shaped-fetch.js'

const NOW = Date.UTC(2026, 0, 1)
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('a call is worth a retry', () => {
  const idempotent = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']
  const others = ['POST', 'PATCH', 'LOCK']

  it('after a 429, with every method', () => {
    for (const method of [...idempotent, ...others]) expect(isWorthRetrying(method, 429)).toBe(true)
  })

  it('after a failure that often passes, with an idempotent method', () => {
    for (const status of [502, 503, 504, undefined]) {
      for (const method of idempotent) expect(isWorthRetrying(method, status)).toBe(true)
      for (const method of others) expect(isWorthRetrying(method, status)).toBe(false)
    }
  })

  it('after no other answer', () => {
    const status = fc.integer({ min: 200, max: 599 }).filter((each) => ![429, 502, 503, 504].includes(each))
    fc.assert(
      fc.property(fc.constantFrom(...idempotent, ...others), status, (method, s) => !isWorthRetrying(method, s)),
    )
  })
})

describe('backoff', () => {
  it('is a random wait up to a bound that doubles, at most ten seconds', () => {
    fc.assert(
      fc.property(fc.nat(2_000), share, (retries, random) => {
        const ms = backoffMs(retries, () => random)
        expect(ms).toBeGreaterThanOrEqual(0)
        expect(ms).toBeLessThanOrEqual(Math.min(10_000, 100 * 2 ** retries))
      }),
    )
    expect([0, 1, 2, 7, 1_100].map((retries) => backoffMs(retries, () => 1))).toEqual([100, 200, 400, 10_000, 10_000])
  })
})

describe('the wait that a server asks for', () => {
  const asked = (status: number, fields: Record<string, string>) =>
    askedWaitMs({ status, headers: new Headers(fields) }, NOW)

  it('is Retry-After, in seconds or as a date, when it refuses', () => {
    const date = new Date(NOW + 7_000).toUTCString()
    for (const status of [429, 503]) {
      expect(asked(status, { 'Retry-After': '3' })).toBe(3_000)
      expect(asked(status, { 'Retry-After': date })).toBe(7_000)
    }
    expect(asked(200, { 'Retry-After': '3' })).toBe(0)
    expect(asked(429, { 'Retry-After': 'soon' })).toBe(0)
  })

  it('is the time until a used-up quota has more, in every dialect and on every response', () => {
    expect(asked(200, { RateLimit: '"a";r=0;t=5' })).toBe(5_000)
    expect(asked(200, { RateLimit: '"a";r=0;t=5, "b";r=0;t=9, "c";r=3;t=60' })).toBe(9_000)
    expect(asked(404, { 'RateLimit-Limit': '9', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '4' })).toBe(4_000)
    const reset = String(NOW / 1_000 + 30)
    expect(asked(200, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': reset })).toBe(30_000)
  })

  it('is 0 while units remain, or if no field says anything', () => {
    expect(asked(200, { RateLimit: '"a";r=1;t=5' })).toBe(0)
    expect(asked(200, { RateLimit: '"a";r=0' })).toBe(0)
    expect(asked(429, {})).toBe(0)
  })

  it('is Retry-After before any quota', () => {
    expect(asked(429, { 'Retry-After': '1', RateLimit: '"a";r=0;t=60' })).toBe(1_000)
  })

  it('is a number of milliseconds from 0, whatever the fields say', () => {
    const text = fc.oneof(fc.constantFrom('0', '1', '-1', '1e9', 'NaN', '"a";r=0;t=-1', '"a";r=0;t=1'), fc.string())
    fc.assert(
      fc.property(text, text, fc.constantFrom(200, 429, 503), (retryAfter, rateLimit, status) => {
        const get = (name: string) => ({ 'retry-after': retryAfter, ratelimit: rateLimit })[name] ?? null
        expect(askedWaitMs({ status, headers: { get } as Headers }, NOW)).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})

describe('the budget', () => {
  it('never gives more retries than it began with and calls have earned', () => {
    const numbers = fc.record({ ratio: fc.double({ min: 0, max: 3, noNaN: true }), least: fc.nat(20) })
    fc.assert(
      fc.property(numbers, fc.array(fc.boolean(), { maxLength: 500 }), ({ ratio, least }, steps) => {
        const destination = new Destination({ ratio, least })
        let [calls, retries] = [0, 0]
        for (const isCall of steps) {
          if (isCall) {
            destination.begin()
            calls++
          } else if (destination.takeRetry()) retries++
          expect(retries).toBeLessThanOrEqual(least + ratio * calls + 1e-9)
        }
      }),
    )
  })

  it('saves up no more than it began with', () => {
    const destination = new Destination({ ratio: 0.5, least: 2 })
    for (let i = 0; i < 100; i++) destination.begin()
    for (let i = 0; i < 99; i++) expect(destination.end()).toBe(false)
    expect(destination.end()).toBe(true)
    expect([destination.takeRetry(), destination.takeRetry(), destination.takeRetry()]).toEqual([true, true, false])
    destination.begin()
    expect(destination.end()).toBe(false)
  })

  it('saves for a retry even if it began with none', () => {
    const destination = new Destination({ ratio: 0.5, least: 0 })
    destination.begin()
    expect(destination.takeRetry()).toBe(false)
    destination.begin()
    expect([destination.takeRetry(), destination.takeRetry()]).toEqual([true, false])
  })
})

describe('a destination', () => {
  const budget = { ratio: 0.1, least: 2 }

  it('counts refusals of calls that left together once', () => {
    const destination = new Destination(budget)
    expect([0, 0, 0].map((then) => destination.refused(then))).toEqual([true, false, false])
    expect(destination.refusals).toBe(1)
    destination.answered(0)
    expect(destination.refusals).toBe(1)
    expect(destination.refused(1)).toBe(true)
    destination.answered(2)
    expect(destination.refusals).toBe(0)
  })

  it('is forgotten when its calls are over and all went well', () => {
    const destinations = new Destinations(budget)
    const first = destinations.enter('a')
    expect(destinations.enter('a')).toBe(first)
    destinations.leave('a', first)
    expect(destinations.size).toBe(1)
    destinations.leave('a', first)
    expect(destinations.size).toBe(0)
  })

  it('is kept while the budget is not whole, until calls have paid for it', () => {
    const destinations = new Destinations(budget)
    const failed = destinations.enter('a')
    failed.takeRetry()
    destinations.leave('a', failed)
    expect(destinations.size).toBe(1)
    for (let i = 0; i < 12; i++) destinations.leave('a', destinations.enter('a'))
    expect(destinations.size).toBe(0)
  })

  it('is kept while it has saved more than a new destination has', () => {
    const destinations = new Destinations({ ratio: 0.5, least: 0 })
    const call = () => {
      const destination = destinations.enter('a')
      destinations.leave('a', destination)
      return destination
    }
    const first = call()
    expect(call()).toBe(first)
    expect(first.takeRetry()).toBe(true)
    call().takeRetry()
    expect(call().takeRetry()).toBe(true)
  })

  it('is forgotten if there are too many and it was called longest ago', () => {
    const destinations = new Destinations(budget)
    const fail = (key: string) => {
      const destination = destinations.enter(key)
      destination.takeRetry()
      destinations.leave(key, destination)
      return destination
    }
    const [oldest, old] = [fail('oldest'), fail('old')]
    expect(fail('oldest')).toBe(oldest)
    for (let i = 0; i < 9_999; i++) fail(`key ${i}`)
    expect(destinations.size).toBe(10_000)
    expect(fail('oldest')).toBe(oldest)
    expect(fail('old')).not.toBe(old)
    expect(destinations.size).toBe(10_000)
  })
})
