import {
  type AsyncStore,
  concurrency,
  createLimiter,
  createLimiters,
  fixedWindow,
  leakyBucket,
  memoryStore,
  slidingLog,
  slidingWindow,
  systemClock,
  tokenBucket,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { expectRefusal, expectRejection, TEN_MB, WRONG_NUMBERS, WRONG_TYPES } from '../limits/refusals.js'

const LIMITS = [
  tokenBucket({ capacity: 5, refill: '1/s' }),
  leakyBucket({ capacity: 5, drain: '1/s' }),
  fixedWindow({ quota: 5, window: '1m' }),
  slidingWindow({ quota: 5, window: '1m', slices: 3 }),
  slidingLog({ quota: 5, window: '1m' }),
  concurrency({ max: 5, ttl: '1m' }),
]
const [limit] = LIMITS
const COST = 'must be a whole number from 0 to 9,007,199,254,740,991, got '

describe('a wrong cost is an error, and nothing is changed', () => {
  for (const limit of LIMITS) {
    for (const method of ['tryAcquire', 'charge', 'refund', 'reserve'] as const) {
      it(`${method} of a ${limit.algorithm} refuses a wrong cost, and changes nothing`, () => {
        const limiter = createLimiter({ limit, clock: new ManualClock(1_745_000_100_000) })
        limiter.tryAcquire('key', { cost: 2 })
        const before = limiter.peek('key')
        for (const [cost, shown] of [...WRONG_NUMBERS, ...WRONG_TYPES]) {
          expectRefusal(() => limiter[method]('key', { cost: cost as never }), /^cost /, `${COST}${shown}`)
          expectRefusal(() => limiter[method]('new', { cost: cost as never }), /^cost /, `${COST}${shown}`)
        }
        expect(limiter.peek('key')).toEqual(before)
        expect(limiter.peek('new').remaining).toBe(5)
      })
    }

    it(`settle of a ${limit.algorithm} refuses a wrong cost, and the reservation can still be settled`, () => {
      const limiter = createLimiter({ limit, clock: new ManualClock(1_745_000_100_000) })
      limiter.tryAcquire('key')
      const reservation = limiter.reserve('key', { cost: 3 })
      const before = limiter.peek('key')
      for (const [cost, shown] of [...WRONG_NUMBERS, ...WRONG_TYPES, [undefined, 'undefined'] as const]) {
        expectRefusal(() => reservation.settle(cost as never), /^actual /, `${COST}${shown}`)
      }
      expect(limiter.peek('key')).toEqual(before)
      reservation.settle(1)
      expect(limiter.peek('key').remaining).toBe(3)
    })
  }
})

describe('the arguments of a limiter', () => {
  const limiter = createLimiter({ limit, clock: new ManualClock(1_745_000_100_000) })
  const calls = {
    tryAcquire: (key: never) => limiter.tryAcquire(key),
    peek: (key: never) => limiter.peek(key),
    charge: (key: never) => limiter.charge(key),
    refund: (key: never) => limiter.refund(key),
    set: (key: never) => limiter.set(key, { remaining: 1 }),
    reset: (key: never) => limiter.reset(key),
    reserve: (key: never) => limiter.reserve(key),
    block: (key: never) => limiter.block(key, { duration: '1s' }),
  }

  it.each(Object.entries(calls))('%s takes a key that is a non-empty string', (_name, call) => {
    expectRefusal(() => call('' as never), "key must be a non-empty string, got ''")
    for (const [key, shown] of WRONG_TYPES) {
      if (typeof key !== 'string')
        expectRefusal(() => call(key as never), `key must be a non-empty string, got ${shown}`)
    }
    for (const key of [undefined, 5, Number.NaN]) {
      expectRefusal(() => call(key as never), `key must be a non-empty string, got ${key}`)
    }
  })

  it.each(['tryAcquire', 'peek', 'charge', 'refund', 'reserve', 'lease'] as const)(
    '%s takes options that are an object',
    (method) => {
      for (const [options, shown] of [...WRONG_TYPES, [3, '3'] as const]) {
        if (typeof options === 'object' && options !== null && !Array.isArray(options)) continue
        expectRefusal(
          () => limiter[method]('key', options as never),
          'options must be an object',
          'cost',
          `got ${shown}`,
        )
      }
      expectRefusal(
        () => limiter[method]('key', { csot: 3 } as never),
        `${method} has no option 'csot'; did you mean cost?`,
      )
      expectRefusal(() => limiter[method]('key', { [TEN_MB]: 3 } as never), "has no option 'xxxxx", 'it takes cost')
      expect(limiter.peek('key').remaining).toBe(5)
    },
  )

  const wrongSets: readonly (readonly [unknown, string])[] = [
    [undefined, 'set takes an object such as { remaining: 0 }, got undefined'],
    [3, 'set takes an object such as { remaining: 0 }, got 3'],
    [{}, 'remaining must be a whole number from 0 to 5, the quota, got undefined'],
    [{ remaning: 1 }, "set has no option 'remaning'; did you mean remaining?"],
    [{ remaining: '1' }, "remaining must be a whole number from 0 to 5, the quota, got '1'"],
    [{ remaining: -1 }, 'remaining must be a whole number from 0 to 5, the quota, got -1'],
    [{ remaining: 1.5 }, 'remaining must be a whole number from 0 to 5, the quota, got 1.5'],
    [{ remaining: 6 }, 'remaining must be a whole number from 0 to 5, the quota, got 6'],
    [{ remaining: Number.NaN }, 'remaining must be a whole number from 0 to 5, the quota, got NaN'],
  ]

  it.each(wrongSets)('set refuses %o', (options, message) => {
    expectRefusal(() => limiter.set('key', options as never), message)
    expect(limiter.peek('key').remaining).toBe(5)
  })

  it('set refuses a concurrency limit, because leases in flight cannot be set', () => {
    const places = createLimiter({ limit: concurrency({ max: 3 }) })
    places.lease('key')
    expectRefusal(() => places.set('key', { remaining: 3 }), 'concurrency counts leases in flight, which cannot be set')
    expect(places.peek('key').remaining).toBe(2)
  })

  const wrongBlocks: readonly (readonly [unknown, string])[] = [
    [undefined, "block takes an object such as { duration: '10m' }, got undefined"],
    ['1s', "block takes an object such as { duration: '10m' }, got '1s'"],
    [{}, "duration must be a duration such as '250ms'"],
    [{ duraton: '1s' }, "block has no option 'duraton'; did you mean duration?"],
    [{ duration: '0s' }, "duration must be a duration from 1ms to 36500d, got '0s'"],
    [{ duration: -5 }, "duration must be a duration such as '250ms', '1s', '1m', '1h' or '30d', got -5"],
    [{ duration: 600 }, "got 600: a bare number has no unit, write '600s' for seconds or '600ms' for milliseconds"],
    [{ duration: Number.NaN }, 'got NaN'],
    [{ duration: '5min' }, "duration must be written '5m', got '5min'"],
    [{ duration: '40000d' }, "duration must be a duration from 1ms to 36500d, got '40000d'"],
    [{ duration: TEN_MB }, "got 'xxxxx"],
  ]

  it('block takes a duration', () => {
    for (const [options, message] of wrongBlocks) {
      expectRefusal(() => limiter.block('key', options as never), message)
      expect(limiter.peek('key')).toMatchObject({ allowed: true, remaining: 5 })
    }
  })
})

describe('keys', () => {
  it.each(['__proto__', 'constructor', 'hasOwnProperty', '\0', ' ', '\ud800', '🔑', '\u00e9', 'e\u0301'])(
    '%j is a key like any other',
    (key) => {
      const limiter = createLimiter({ limit, clock: new ManualClock(1_745_000_100_000) })
      expect(limiter.peek(key).remaining).toBe(5)
      limiter.tryAcquire(key, { cost: 2 })
      expect(limiter.peek(key).remaining).toBe(3)
      expect(limiter.peek(`${key}.`).remaining).toBe(5)
      limiter.reset(key)
      expect(limiter.peek(key).remaining).toBe(5)
    },
  )

  it('keys of 10 MB differ by any character, and are not kept in memory', () => {
    const store = memoryStore({ clock: new ManualClock(1_745_000_100_000) })
    const limiter = createLimiter({ name: 'test', limit, store })
    const keys = [TEN_MB, `${TEN_MB}.`, `.${TEN_MB}`, `${TEN_MB}\u{1f511}`, `${TEN_MB.slice(1)}y`]
    for (const [i, key] of keys.entries()) limiter.tryAcquire(key, { cost: i + 1 })
    expect(keys.map((key) => limiter.peek(key).remaining)).toEqual([4, 3, 2, 1, 0])
    expect(store.stats().bytes).toBeLessThan(1_000_000)
  })

  it('a key with a lone surrogate equals the key with U+FFFD in its place', () => {
    const limiter = createLimiter({ limit, clock: new ManualClock(1_745_000_100_000) })
    limiter.tryAcquire('a\ud800b', { cost: 2 })
    expect(['a\ufffdb', 'a\udc00b', 'a\ufffd', 'ab'].map((key) => limiter.peek(key).remaining)).toEqual([3, 3, 5, 5])
  })
})

describe('createLimiter', () => {
  const store = memoryStore()
  const misuses: readonly (readonly [unknown, ...string[]])[] = [
    [
      undefined,
      'createLimiter takes an object with limit, name, store, clock, onFailure, blockFor, maxWaiters, got undefined',
    ],
    [{ limit, maxWaiters: 0 }, 'maxWaiters must be a whole number from 1'],
    [{ limit, maxWaiters: Infinity }, 'maxWaiters must be a whole number from 1'],
    [{ limit, maxWaiters: '10' }, 'maxWaiters must be a whole number from 1'],
    [limit, 'createLimiter takes { limit }, got the limit itself: write createLimiter({ limit })'],
    [
      { capacity: 20, refill: '5/s' },
      "createLimiter has no option 'capacity'; capacity is part of `limit` here, as in { limit: tokenBucket(",
    ],
    [{ quota: 5, window: '1m' }, "no option 'quota'; quota is part of `limit` here", 'as in { limit: fixedWindow('],
    [{}, "limit must be a limit such as tokenBucket({ capacity: 20, refill: '5/s' }), got undefined"],
    [{ limits: limit }, "createLimiter has no option 'limits'; did you mean limit?"],
    [{ limit: '5/s' }, "limit must be a limit such as tokenBucket({ capacity: 20, refill: '5/s' }), got '5/s'"],
    [{ limit: () => limit }, 'got a function: only rateLimit takes a function of the request as its limit'],
    [
      { limit: tokenBucket },
      "the function makes the limit, call it, as in tokenBucket({ capacity: 20, refill: '5/s' })",
    ],
    [{ limit: { ...limit, capacity: -1 } }, 'capacity must be a whole number'],
    [{ limit, store }, 'name', "must be a non-empty string such as 'search', got undefined"],
    [{ limit, store, name: '' }, 'name', "must be a non-empty string, got ''"],
    [{ limit, store, name: 5 }, 'name', 'must be a non-empty string, got 5'],
    [{ limit, name: '' }, "name must be a non-empty string, got ''"],
    [{ limit, store, name: 'x', clock: systemClock }, 'clock must be given to the store', 'memoryStore({ clock })'],
    [
      { limit, store: {}, name: 'x' },
      'store must be a store such as memoryStore() or redisStore(client), got an object',
    ],
    [
      { limit, store: memoryStore, name: 'x' },
      'store must be a store such as memoryStore() or redisStore(client), got a function',
    ],
    [{ limit, store: null, name: 'x' }, 'store must be a store such as memoryStore() or redisStore(client), got null'],
    [
      { limit, store: TEN_MB, name: 'x' },
      "store must be a store such as memoryStore() or redisStore(client), got 'xxxxx",
    ],
    [
      { limit, clock: Date },
      'clock must be an object with a method now() that returns epoch milliseconds, got a function',
    ],
    [
      { limit, clock: {} },
      'clock must be an object with a method now() that returns epoch milliseconds, got an object',
    ],
  ]

  it('rejects wrong options, and says what would be right', () => {
    for (const [options, ...parts] of misuses) expectRefusal(() => createLimiter(options as never), ...parts)
  })
})

describe('createLimiters', () => {
  it.each([
    ['a limit that is a number', { a: 5 }, {}, 'limit must be a limit such as'],
    ['an empty name', { '': limit }, {}, "must be a non-empty string, got ''"],
    ['a misspelt option', { a: limit }, { stor: 5 }, "createLimiters has no option 'stor'; did you mean store?"],
    [
      'a store that is no store',
      { a: limit },
      { store: {} },
      'store must be a store such as memoryStore() or redisStore(client), got an object',
    ],
    [
      'a store that is null',
      { a: limit },
      { store: null },
      'store must be a store such as memoryStore() or redisStore(client), got null',
    ],
    ['a clock beside a store', { a: limit }, { store: memoryStore(), clock: systemClock }, 'clock must be given to'],
    ['a clock that is a number', { a: limit }, { clock: 5 }, 'clock must be an object with a method now()'],
    ['no limits', undefined, {}, 'got undefined'],
    ['limits that are null', null, {}, 'got null'],
  ])('refuses %s', (_what, limits, options, message) => {
    expectRefusal(() => createLimiters(limits as never, options as never), message)
  })
})

describe('memoryStore', () => {
  it.each(['maxKeys', 'maxLogTimestamps'])('%s is a whole number from 1 to 2^30', (option) => {
    for (const [value, shown] of [
      ...WRONG_NUMBERS,
      ...WRONG_TYPES,
      [0, '0'] as const,
      [2 ** 31, '2147483648'] as const,
    ]) {
      expectRefusal(
        () => memoryStore({ [option]: value }),
        `${option} must be a whole number from 1 to`,
        `got ${shown}`,
      )
    }
  })

  const misuses: readonly (readonly [unknown, ...string[]])[] = [
    [{ onFull: 'drop' }, "onFull must be 'share' or 'deny', got 'drop'"],
    [{ clock: Date.now }, 'clock must be an object with a method now()', 'got a function'],
    [{ seed: [1] }, 'seed must be two whole numbers, got an array'],
    [{ seed: [1, 1.5] }, 'seed must be two whole numbers, got an array'],
    [{ maxkeys: 5 }, "memoryStore has no option 'maxkeys'; did you mean maxKeys?"],
    [null, 'memoryStore takes an object with maxKeys', 'got null'],
  ]

  it('refuses other options that are wrong', () => {
    for (const [options, ...parts] of misuses) expectRefusal(() => memoryStore(options as never), ...parts)
  })
})

describe('an asynchronous limiter', () => {
  const unasked: AsyncStore = {
    decide: () => Promise.reject(new Error('asked')),
    peek: () => Promise.reject(new Error('asked')),
    charge: () => Promise.reject(new Error('asked')),
    set: () => Promise.reject(new Error('asked')),
    refund: () => Promise.reject(new Error('asked')),
    reset: () => Promise.reject(new Error('asked')),
    block: () => Promise.reject(new Error('asked')),
  }
  const limiter = createLimiter({ name: 'test', limit, store: unasked })

  it('rejects wrong arguments, never throws them, and does not ask its store', async () => {
    for (const method of ['tryAcquire', 'charge', 'refund', 'reserve', 'lease'] as const) {
      const wrong = { limit } as never
      await expectRejection(limiter[method]('key', wrong), `${method} has no option 'limit'; it takes cost`)
      for (const [cost, shown] of [...WRONG_NUMBERS, ...WRONG_TYPES]) {
        await expectRejection(limiter[method]('key', { cost: cost as never }), `cost ${COST}${shown}`)
      }
      await expectRejection(limiter[method](''), "key must be a non-empty string, got ''")
    }
    await expectRejection(limiter.peek(''), "key must be a non-empty string, got ''")
    await expectRejection(limiter.reset(5 as never), 'key must be a non-empty string, got 5: write String(id)')
    await expectRejection(
      limiter.block('key', { duration: '0s' }),
      "duration must be a duration from 1ms to 36500d, got '0s'",
    )
  })
})

describe('a manual clock', () => {
  it('starts at a time and moves by a number of milliseconds', () => {
    for (const value of [Number.NaN, Infinity, -1, '5', null, undefined]) {
      expectRefusal(
        () => new ManualClock(value as never),
        'epochMs must be epoch milliseconds from 0, such as Date.UTC(2026, 0, 1), got ',
      )
    }
    const clock = new ManualClock(5)
    for (const value of [Number.NaN, Infinity, -Infinity, '5', null, undefined, 5n]) {
      expectRefusal(() => clock.advance(value as never), 'ms must be a number of milliseconds, got ')
    }
    expect(clock.now()).toBe(5)
  })
})
