import {
  concurrency,
  fixedWindow,
  InvalidTypeError,
  InvalidValueError,
  leakyBucket,
  parseLimit,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import { describe, expect, it } from 'vitest'
import { expectRefusal, TEN_MB, WRONG_NUMBERS, WRONG_TYPES } from './refusals.js'

const WHOLE = /must be a whole number from 0 to 1(,000)+/
const RATE = "a rate such as '5/s', '100/m', '0.08/s' or '10/250ms'"
const DURATION = "a duration such as '250ms', '1s', '1m', '1h' or '30d'"

describe('a quota or capacity', () => {
  const makers: Readonly<Record<string, (value: unknown) => unknown>> = {
    'tokenBucket capacity': (value) => tokenBucket({ capacity: value as never, refill: '1/s' }),
    'leakyBucket capacity': (value) => leakyBucket({ capacity: value as never, drain: '1/s' }),
    'fixedWindow quota': (value) => fixedWindow({ quota: value as never, window: '1s' }),
    'slidingWindow quota': (value) => slidingWindow({ quota: value as never, window: '1s' }),
    'slidingLog quota': (value) => slidingLog({ quota: value as never, window: '1s' }),
    'concurrency max': (value) => concurrency({ max: value as never, ttl: '1s' }),
  }
  for (const [name, make] of Object.entries(makers)) {
    const option = name.split(' ')[1]
    it(`a quota or capacity that is not a whole number from 0 is refused: ${name}`, () => {
      for (const [value, shown] of WRONG_NUMBERS) {
        expect(() => make(value)).toThrow(InvalidValueError)
        expectRefusal(() => make(value), new RegExp(`^${option} `), WHOLE, `got ${shown}`)
      }
      for (const [value, shown] of [...WRONG_TYPES, [undefined, 'undefined'] as const]) {
        expect(() => make(value)).toThrow(InvalidTypeError)
        expectRefusal(() => make(value), new RegExp(`^${option} `), WHOLE, `got ${shown}`)
      }
      for (const value of [0, -0, 1]) expect(() => make(value)).not.toThrow()
      expect(Object.is((make(-0) as Record<string, unknown>)[option], 0)).toBe(true)
    })
  }

  it('a quota that is larger than the algorithm can count is refused', () => {
    expectRefusal(() => tokenBucket({ capacity: 1e15 + 1, refill: '1/s' }), 'capacity', '1000000000000001')
    expectRefusal(() => slidingLog({ quota: 1_000_001, window: '1s' }), 'quota', '0 to 1,000,000,', '1000001')
    expectRefusal(() => concurrency({ max: 1_000_001 }), 'max', '0 to 1,000,000,', '1000001')
    expect(fixedWindow({ quota: 1e15, window: '1s' }).quota).toBe(1e15)
  })

  it('a capacity that makes a bucket take longer than a lifetime to fill is refused', () => {
    const call = () => tokenBucket({ capacity: 1e15, refill: '1/s' })
    expectRefusal(
      call,
      'capacity of 1000000000000000',
      "refill '1/s'",
      'takes 3.17e+7 years to fill',
      'use a smaller capacity',
    )
  })
})

describe('slices and align', () => {
  const sliced = (slices: unknown) => slidingWindow({ quota: 1, window: '1s', slices: slices as never })
  const aligned = (align: unknown) => [
    () => slidingWindow({ quota: 1, window: '1s', align: align as never }),
    () => fixedWindow({ quota: 1, window: '1s', align: align as never }),
  ]

  it('slices must be a whole number from 1 to 100', () => {
    for (const [value, shown] of [...WRONG_NUMBERS, ...WRONG_TYPES, [0, '0'] as const, [101, '101'] as const]) {
      expectRefusal(() => sliced(value), /^slices must be a whole number from 1 to 100/, `got ${shown}`)
    }
    expect(sliced(undefined)).toEqual(sliced(1))
  })

  it('slices of a window of a century are at most 2', () => {
    const call = () => slidingWindow({ quota: 1, window: '36500d', slices: 100 })
    expectRefusal(call, /^slices must be at most 2 for so long a window/, 'got 100')
  })

  it("align must be 'epoch' or 'first'", () => {
    for (const [value, shown] of [...WRONG_TYPES, [5, '5'] as const, ['First', "'First'"] as const]) {
      for (const call of aligned(value)) expectRefusal(call, /^align must be 'epoch' or 'first'/, `got ${shown}`)
    }
  })
})

describe('a malformed rate', () => {
  const calls = (value: unknown) => [
    ['refill', () => tokenBucket({ capacity: 5, refill: value as never })] as const,
    ['drain', () => leakyBucket({ capacity: 5, drain: value as never })] as const,
  ]

  it.each([
    ['0/s', `${RATE}, above zero`],
    ['0.000/s', `${RATE}, above zero`],
    ['5/0s', 'a rate per 1ms to 36500d'],
    ['5/36501d', 'a rate per 1ms to 36500d'],
    ['5/999999999d', 'a rate per 1ms to 36500d'],
    ['x/s', RATE],
    ['1e400/s', RATE],
    ['-5/s', RATE],
    ['+5/s', RATE],
    ['5', RATE],
    ['5/', RATE],
    ['/s', RATE],
    ['', RATE],
    ['5/s ', "written '5/s'"],
    ['5 / s', "written '5/s'"],
    ['5/s/s', RATE],
    ['5,5/s', RATE],
    ['.5/s', RATE],
    ['5./s', RATE],
    ['5/-1s', RATE],
    ['٥/s', RATE],
    ['5/min', "written '5/m'"],
    ['5/sec', "written '5/s'"],
    ['2.5/30Seconds', "written '2.5/30s'"],
    ['5/hour', "written '5/h'"],
    ['5/days', "written '5/d'"],
    ['5/S', "written '5/s'"],
    ['5/MS', "written '5/ms'"],
    ['10 /sec', "written '10/s'"],
    ['10/ second', "written '10/s'"],
    ['10 / 2 Minutes', "written '10/2m'"],
    ['5 / week', 'in ms, s, m, h or d'],
    ['0 / sec', `${RATE}, above zero`],
    ['5 / 0 sec', 'a rate per 1ms to 36500d'],
    ['5/week', 'in ms, s, m, h or d'],
    ['0.3333333333/s', 'a rate of at most nine decimals'],
    ['5/__proto__', RATE],
    ['5/constructor', 'in ms, s, m, h or d'],
  ])('the rate %s is refused', (value, right) => {
    for (const [option, call] of calls(value)) expectRefusal(call, `${option} must be ${right}`, `got '${value}'`)
  })

  it('a rate that is a bare number is refused, because it does not say per what', () => {
    for (const value of [5, 0, Number.NaN, Infinity]) {
      for (const [option, call] of calls(value)) {
        expectRefusal(call, `${option} must be ${RATE}, got ${value}: a bare number does not say per what`)
      }
    }
  })

  it.each([
    [5, "5: a bare number does not say per what, write '5/s' for 5 a second"],
    [0.08, "0.08: a bare number does not say per what, write '0.08/s' for 0.08 a second"],
  ])('a rate of %d is refused with the rate in seconds', (value, right) => {
    for (const [option, call] of calls(value)) expectRefusal(call, `${option} must be ${RATE}, got ${right}`)
  })

  it('a bare number that is no rate in seconds either gets no such advice', () => {
    for (const value of [0, -5, 1 / 3, 1e300, Number.NaN]) expect(() => calls(value)[0][1]()).toThrow(/per what$/)
  })

  it('a rate that is not a string is refused', () => {
    for (const [value, shown] of [...WRONG_TYPES, [undefined, 'undefined'] as const]) {
      for (const [option, call] of calls(value)) expectRefusal(call, `${option} must be ${RATE}`, `got ${shown}`)
    }
  })

  it('a rate of ten million characters is refused at once', () => {
    for (const value of [
      TEN_MB,
      `${TEN_MB}/s`,
      `5/${TEN_MB}`,
      '1'.repeat(10_000_000),
      `0.${'0'.repeat(10_000_000)}1/s`,
    ]) {
      for (const [option, call] of calls(value)) expectRefusal(call, `${option} must be ${RATE}`, value.slice(0, 50))
    }
  })
})

describe('a malformed duration', () => {
  const calls = (value: unknown) => [
    () => fixedWindow({ quota: 1, window: value as never }),
    () => slidingWindow({ quota: 1, window: value as never }),
    () => slidingLog({ quota: 1, window: value as never }),
  ]

  const wrong: readonly (readonly [unknown, string, string])[] = [
    [0, DURATION, '0: a bare number has no unit'],
    [-1, DURATION, '-1: a bare number has no unit'],
    [60, DURATION, "60: a bare number has no unit, write '60s' for seconds or '60ms' for milliseconds"],
    [60_000, DURATION, "60000: a bare number has no unit, write '60000s' for seconds or '1m' for milliseconds"],
    [0.5, DURATION, "0.5: a bare number has no unit, write '0.5s' for seconds"],
    [
      86_400_000,
      DURATION,
      "86400000: a bare number has no unit, write '86400000s' for seconds or '1d' for milliseconds",
    ],
    [31_536_000_000, DURATION, "31536000000: a bare number has no unit, write '365d' for milliseconds"],
    ['0s', 'a duration from 1ms to 36500d', "'0s'"],
    ['0.5ms', 'a duration from 1ms to 36500d', "'0.5ms'"],
    ['40000d', 'a duration from 1ms to 36500d', "'40000d'"],
    ['999999999999999d', 'a duration from 1ms to 36500d', "'999999999999999d'"],
    ['1.0001ms', 'a whole number of microseconds', "'1.0001ms': write '1ms'"],
    ['0.3333333s', 'a whole number of microseconds', "'0.3333333s': write '333.333ms'"],
    ['0.3333333333s', 'a duration of at most nine decimals', "'0.3333333333s': write '333.333ms'"],
    ['1.0000000000s', 'a duration of at most nine decimals', "'1.0000000000s': write '1s'"],
    ['0.99999999999m', 'a duration of at most nine decimals', "'0.99999999999m': write '1m'"],
    [Number.NaN, DURATION, 'NaN'],
    [Infinity, DURATION, 'Infinity'],
    [2 ** 53, DURATION, '9007199254740992: a bare number has no unit'],
    ['', DURATION, "''"],
    ['1 s', "written '1s'", "'1 s'"],
    ['s', DURATION, "'s'"],
    ['5', DURATION, "'5': a bare number has no unit, write '5s' for seconds or '5ms' for milliseconds"],
    ['-1s', DURATION, "'-1s'"],
    ['1e3s', DURATION, "'1e3s'"],
    ['1m30s', DURATION, "'1m30s'"],
    ['PT1M', DURATION, "'PT1M'"],
    ['5min', "written '5m'", "'5min'"],
    ['1.5Hours', "written '1.5h'", "'1.5Hours'"],
    ['5S', "written '5s'", "'5S'"],
    ['5 min', "written '5m'", "'5 min'"],
    ['30 seconds', "written '30s'", "'30 seconds'"],
    ['1 hour', "written '1h'", "'1 hour'"],
    ['1 day', "written '1d'", "'1 day'"],
    [' 2 Minutes', "written '2m'", "' 2 Minutes'"],
    ['2 weeks', 'in ms, s, m, h or d', "'2 weeks'"],
    ['0 min', 'a duration from 1ms to 36500d', "'0 min'"],
    ['40000 days', 'a duration from 1ms to 36500d', "'40000 days'"],
    ['5w', 'in ms, s, m, h or d', "'5w'"],
    [null, DURATION, 'null'],
    [undefined, DURATION, 'undefined'],
    [5n, DURATION, '5n'],
    [[1_000], DURATION, 'an array'],
    [new Date(0), DURATION, 'an object'],
    [TEN_MB, DURATION, "'xxxxx"],
    [`1.${'0'.repeat(10_000_000)}s`, DURATION, "'1.000"],
  ]

  for (const [value, right, shown] of wrong) {
    it(`the duration ${String(value).slice(0, 40)} is refused`, () => {
      for (const call of calls(value)) expectRefusal(call, `window must be ${right}, got ${shown}`)
    })
  }

  it('durations of 1000 days and of a century are accepted', () => {
    expect(fixedWindow({ quota: 1, window: '1000d' }).window).toBe('1000d')
    expect(fixedWindow({ quota: 1, window: '36500d' }).window).toBe('36500d')
  })
})

describe('options', () => {
  const misspelt: readonly (readonly [() => unknown, string, string])[] = [
    [() => tokenBucket({ capacity: 1, refil: '1/s' } as never), "tokenBucket has no option 'refil'", 'mean refill?'],
    [() => tokenBucket({ Capacity: 1, refill: '1/s' } as never), "has no option 'Capacity'", 'mean capacity?'],
    [() => leakyBucket({ capacity: 1, drian: '1/s' } as never), "leakyBucket has no option 'drian'", 'mean drain?'],
    [
      () => tokenBucket({ capacity: 1, rate: '1/s' } as never),
      "tokenBucket has no option 'rate'",
      "rate is `refill` here, as in { capacity: 20, refill: '5/s' }",
    ],
    [
      () => leakyBucket({ capacity: 1, rate: '1/s' } as never),
      "leakyBucket has no option 'rate'",
      "rate is `drain` here, as in { capacity: 50, drain: '10/s' }",
    ],
    [() => leakyBucket({ capacity: 1, refill: '1/s' } as never), "has no option 'refill'", 'refill is `drain` here'],
    [() => fixedWindow({ quota: 1, windows: '1s' } as never), "fixedWindow has no option 'windows'", 'mean window?'],
    [() => slidingWindow({ quota: 1, window: '1s', slice: 2 } as never), "has no option 'slice'", 'mean slices?'],
    [() => concurrency({ maximum: 1 } as never), "concurrency has no option 'maximum'", 'it takes max, ttl'],
    [() => slidingLog({ qouta: 1, window: '1s' } as never), "slidingLog has no option 'qouta'", 'mean quota?'],
    [() => slidingLog({ quota: 1, window: '1s', align: 'first' } as never), "no option 'align'", 'takes quota, window'],
    [
      () => tokenBucket({ capacity: 1, refill: '1/s', ['__proto__']: 1 } as never),
      "'__proto__'",
      'it takes capacity, refill',
    ],
    [
      () => tokenBucket({ capacity: 1, refill: '1/s', [TEN_MB]: 1 }),
      "has no option 'xxxxx",
      'it takes capacity, refill',
    ],
  ]

  it('misspelt options are refused with the names that were probably meant', () => {
    for (const [call, ...parts] of misspelt) expectRefusal(call, ...parts)
  })

  it('options that are not an object are refused', () => {
    for (const make of [tokenBucket, leakyBucket, fixedWindow, slidingWindow, slidingLog, concurrency]) {
      for (const value of [undefined, null, 5, 'five', [], () => {}, TEN_MB]) {
        expectRefusal(() => make(value as never), `${make.name} takes an object with `, 'got ')
      }
    }
  })
})

describe('parseLimit', () => {
  const unknown: readonly (readonly [unknown, string])[] = [
    [{ algorithm: 'tokenbucket' }, "'tokenbucket' is unknown; did you mean 'token-bucket'?"],
    [{ algorithm: 'Token-Bucket' }, "'Token-Bucket' is unknown; did you mean 'token-bucket'?"],
    [{ algorithm: 'sliding_log' }, "'sliding_log' is unknown; did you mean 'sliding-log'?"],
    [{ algorithm: 'gcra' }, "'gcra' is unknown; use token-bucket, leaky-bucket, fixed-window"],
    [{ algorithm: '__proto__' }, "'__proto__' is unknown; use token-bucket"],
    [{ algorithm: 'toString' }, "'toString' is unknown; use token-bucket"],
    [{ algorithm: '' }, "'' is unknown; use token-bucket"],
    [{ algorithm: 5 }, '5 is unknown; use token-bucket'],
    [{ algorithm: null }, 'null is unknown; use token-bucket'],
    [{ algorithm: TEN_MB }, "'xxxxxxxxx"],
  ]

  it('refuses an unknown algorithm, and names the known ones or the one that was probably meant', () => {
    for (const [value, message] of unknown) expectRefusal(() => parseLimit(value), 'limit.algorithm', message)
  })

  it('refuses a value that is not a limit', () => {
    for (const value of [undefined, null, 5, 'token-bucket', TEN_MB, true, 5n, () => {}, {}, [], { limit: {} }]) {
      expectRefusal(() => parseLimit(value), 'limit must be a limit such as tokenBucket({', 'got ')
    }
  })

  it.each([
    [{ quota: 5, window: '1h' }, "{ algorithm: 'fixed-window', quota: 100, window: '1m' }"],
    [{ quota: 5, window: '1h', slices: 2 }, "{ algorithm: 'sliding-window', quota: 1000, window: '1s', slices: 10 }"],
    [{ capacity: 5, refill: '1/s' }, "{ algorithm: 'token-bucket', capacity: 20, refill: '5/s' }"],
    [{ capacity: 5, drain: '1/s' }, "{ algorithm: 'leaky-bucket', capacity: 50, drain: '10/s' }"],
    [{ max: 5 }, "{ algorithm: 'concurrency', max: 20, ttl: '30s' }"],
    [{}, "{ algorithm: 'token-bucket', capacity: 20, refill: '5/s' }"],
  ])('says that the algorithm of %o is missing, and shows such a limit as data', (value, data) => {
    expectRefusal(() => parseLimit(value), `algorithm is missing, as data a limit is written ${data}`)
    const shown = new Function(`return (${data})`)() as object
    expect(parseLimit(shown)).toEqual(shown)
  })

  it('checks every number as the function of the algorithm does', () => {
    const limit = { algorithm: 'token-bucket', capacity: 5, refill: '1/s' }
    expectRefusal(() => parseLimit({ ...limit, capacity: '5' }), 'capacity must be', "got '5'")
    expectRefusal(() => parseLimit({ ...limit, refill: '5/min' }), "refill must be written '5/m'")
    expectRefusal(() => parseLimit({ ...limit, quota: 5 }), "has no option 'quota'")
    expectRefusal(() => parseLimit({ algorithm: 'sliding-log', quota: 1 }), `window must be ${DURATION}, got undefined`)
    expect(parseLimit(limit)).toEqual(tokenBucket({ capacity: 5, refill: '1/s' }))
  })
})
