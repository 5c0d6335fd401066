import fc from 'fast-check'
import { fixedWindow, InvalidTypeError } from 'sluice'
import { describe, type ParsedRateLimit, parseRateLimit } from 'sluice/http'
import { type BareItem, DisplayString, type Item, type List, parseList, serializeList, Token } from 'structured-headers'
import { afterEach, beforeEach, expect, it, describe as suite, vi } from 'vitest'
import { anyVerdict, dialects, level, NOW_MS, verdictOf } from './verdicts.js'

const NOW = { nowMs: NOW_MS }
const NOW_SECONDS = NOW_MS / 1_000
const NOTHING = { quotas: [] }

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => {
  vi.restoreAllMocks()
})

suite('each form that servers have', () => {
  it.each<[string, Record<string, string>, ParsedRateLimit]>([
    [
      'the draft of today',
      { 'RateLimit-Policy': '"burst";q=100;w=60, "daily";q=1000;w=86400', RateLimit: '"burst";r=50;t=30' },
      {
        quotas: [
          { name: 'burst', quota: 100, windowSeconds: 60, remaining: 50, resetAfterMs: 30_000 },
          { name: 'daily', quota: 1_000, windowSeconds: 86_400 },
        ],
      },
    ],
    [
      'the draft as express-rate-limit writes it, with a partition key',
      {
        'RateLimit-Policy': '"100-in-1min"; q=100; w=60; pk=:NzZhYzJmY2Q=:',
        RateLimit: '"100-in-1min"; r=99; t=60; pk=:NzZhYzJmY2Q=:',
      },
      { quotas: [{ name: '100-in-1min', quota: 100, windowSeconds: 60, remaining: 99, resetAfterMs: 60_000 }] },
    ],
    [
      'names that are tokens, or have escapes',
      { RateLimit: 'burst;r=1,"a\\"b\\\\c";r=2' },
      {
        quotas: [
          { name: 'burst', remaining: 1 },
          { name: 'a"b\\c', remaining: 2 },
        ],
      },
    ],
    [
      'revision 07',
      { 'RateLimit-Policy': '100;w=60', RateLimit: 'limit=100, remaining=50, reset=5' },
      { quotas: [{ quota: 100, windowSeconds: 60, remaining: 50, resetAfterMs: 5_000 }] },
    ],
    [
      'revision 07 without a policy or spaces',
      { RateLimit: 'limit=100,remaining=0,reset=5' },
      { quotas: [{ quota: 100, remaining: 0, resetAfterMs: 5_000 }] },
    ],
    [
      'revision 06',
      {
        'RateLimit-Limit': '100',
        'RateLimit-Remaining': '50',
        'RateLimit-Reset': '5',
        'RateLimit-Policy': '100;w=60;comment="x"',
      },
      { quotas: [{ quota: 100, windowSeconds: 60, remaining: 50, resetAfterMs: 5_000 }] },
    ],
    [
      'revision 03, with policies in the limit',
      { 'RateLimit-Limit': '10, 10;w=1, 50;w=60', 'RateLimit-Remaining': '9', 'RateLimit-Reset': '1' },
      { quotas: [{ quota: 10, remaining: 9, resetAfterMs: 1_000 }] },
    ],
    [
      'RateLimit-Reset as a time, which the draft never had',
      { 'RateLimit-Limit': '100', 'RateLimit-Remaining': '50', 'RateLimit-Reset': String(NOW_SECONDS + 42) },
      { quotas: [{ quota: 100, remaining: 50, resetAfterMs: 42_000 }] },
    ],
    [
      'X-RateLimit with a time, as GitHub has it',
      { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': String(NOW_SECONDS + 3_600) },
      { quotas: [{ quota: 60, remaining: 59, resetAfterMs: 3_600_000 }] },
    ],
    [
      'X-RateLimit with a time in milliseconds',
      { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': String(NOW_MS + 1_234) },
      { quotas: [{ quota: 60, remaining: 59, resetAfterMs: 1_234 }] },
    ],
    [
      'X-RateLimit with seconds from now',
      { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': '17' },
      { quotas: [{ quota: 60, remaining: 59, resetAfterMs: 17_000 }] },
    ],
    [
      'X-RateLimit with a date',
      { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': '2026-01-01T00:00:09.5Z' },
      { quotas: [{ quota: 60, remaining: 59, resetAfterMs: 9_500 }] },
    ],
    [
      'X-Rate-Limit, and a time that is over',
      { 'X-Rate-Limit-Limit': '15', 'X-Rate-Limit-Remaining': '0', 'X-Rate-Limit-Reset': String(NOW_SECONDS - 5) },
      { quotas: [{ quota: 15, remaining: 0, resetAfterMs: 0 }] },
    ],
    ['one without a limit', { 'X-RateLimit-Remaining': '3' }, { quotas: [{ remaining: 3 }] }],
    [
      'several dialects at once: the newest counts',
      { RateLimit: '"a";r=1', 'RateLimit-Remaining': '2', 'X-RateLimit-Remaining': '3' },
      { quotas: [{ name: 'a', remaining: 1 }] },
    ],
    [
      'several limiters with one name, each with its own numbers',
      {
        'RateLimit-Policy': '"default";q=5;w=1, "default";q=9;w=60',
        RateLimit: '"default";r=4;t=1, "default";r=0;t=60',
      },
      {
        quotas: [
          { name: 'default', quota: 5, windowSeconds: 1, remaining: 4, resetAfterMs: 1_000 },
          { name: 'default', quota: 9, windowSeconds: 60, remaining: 0, resetAfterMs: 60_000 },
        ],
      },
    ],
  ])('%s', (_name, headers, wanted) => {
    expect(parseRateLimit(headers, NOW)).toEqual(wanted)
  })

  it("a time counts from the response's date, otherwise from nowMs, otherwise from now", () => {
    const headers = { 'X-RateLimit-Remaining': '3', 'X-RateLimit-Reset': String(NOW_SECONDS + 60) }
    const after = (more: object, options?: object) =>
      parseRateLimit({ ...headers, ...more }, options).quotas[0].resetAfterMs
    expect(after({ Date: 'Thu, 01 Jan 2026 00:00:50 GMT' }, NOW)).toBe(10_000)
    expect(after({ Date: 'soon 3' }, NOW)).toBe(60_000)
    expect(after({ Date: '1' }, NOW)).toBe(60_000)
    vi.spyOn(Date, 'now').mockReturnValue(NOW_MS + 20_000)
    expect(after({})).toBe(40_000)
  })
})

suite('Retry-After', () => {
  it.each([
    ['5', 5_000],
    ['0', 0],
    [' 5 ', 5_000],
    ['1.5', 1_500],
    ['3153600000', 3_153_600_000_000],
    ['Thu, 01 Jan 2026 00:00:07 GMT', 7_000],
    ['Thursday, 01-Jan-26 00:00:07 GMT', 7_000],
    ['Thu Jan  1 00:00:07 2026', 7_000],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 0],
  ])('%j is %d ms', (text, ms) => {
    expect(parseRateLimit({ 'Retry-After': text }, NOW)).toEqual({ quotas: [], retryAfterMs: ms })
  })

  it('of a date without a zone it is UTC, wherever the client is', () => {
    vi.stubEnv('TZ', 'America/New_York')
    try {
      expect(parseRateLimit({ 'retry-after': 'Thu Jan  1 00:00:07 2026' }, NOW).retryAfterMs).toBe(7_000)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it.each([
    '',
    '-1',
    '+5',
    '1e3',
    'NaN',
    'Infinity',
    '0x10',
    '5s',
    '5 seconds',
    '5, 6',
    'soon',
    'soon 3',
    '1/2/2026',
    '5.',
    '.5',
    '9'.repeat(16),
    '9'.repeat(400),
    'Thu, 99 Jan 2026 99:99:99 GMT',
    'Thu, 01 Foo 2026 00:00:07 GMT',
    '٣',
  ])('%j is not a date', (text) => {
    expect(parseRateLimit({ 'Retry-After': text }, NOW)).toEqual(NOTHING)
  })
})

suite('whatever holds the fields', () => {
  const fields = { 'RateLimit-Policy': '"a";q=5;w=60', RateLimit: '"a";r=4;t=9', 'Retry-After': '9' }
  const wanted = {
    quotas: [{ name: 'a', quota: 5, windowSeconds: 60, remaining: 4, resetAfterMs: 9_000 }],
    retryAfterMs: 9_000,
  }
  const recased = (change: (name: string) => string) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [change(name), value]))
  const odd = (name: string) => [...name].map((c, i) => (i % 2 ? c.toLowerCase() : c.toUpperCase())).join('')

  it.each([
    ['Headers', new Headers(fields)],
    ['the headers of a Response', new Response('', { headers: fields }).headers],
    ['an object', fields],
    ['an object in lower case', recased((name) => name.toLowerCase())],
    ['an object in upper case', recased((name) => name.toUpperCase())],
    ['an object in odd case', recased(odd)],
    ['an object without a prototype', Object.assign(Object.create(null), fields)],
    ['pairs', Object.entries(fields)],
    ['pairs in lower case', Object.entries(recased((name) => name.toLowerCase()))],
    ['a Map', new Map(Object.entries(fields))],
    ['an iterator', Object.entries(fields).values()],
    ['whatever has a get', { get: (name: string) => new Headers(fields).get(name) }],
    ['values that are arrays', { ...fields, RateLimit: ['"a";r=4;t=9'], 'Retry-After': ['9'] }],
    ['a number', { ...fields, 'Retry-After': 9 }],
    ['absent values', { ...fields, 'X-RateLimit-Limit': undefined, Date: null, other: {}, get: 'x' }],
  ])('%s', (_name, headers) => {
    expect(parseRateLimit(headers as Record<string, string>, NOW)).toEqual(wanted)
  })

  it('a field that is there several times is one list', () => {
    const parts = ['"a";r=4', '"b";r=3, "c";r=2']
    const names = [
      { name: 'a', remaining: 4 },
      { name: 'b', remaining: 3 },
      { name: 'c', remaining: 2 },
    ]
    const headers = new Headers()
    for (const part of parts) headers.append('RateLimit', part)
    for (const source of [headers, { RateLimit: parts }, parts.map((part) => ['ratelimit', part] as const)])
      expect(parseRateLimit(source).quotas).toEqual(names)
  })

  it.each([
    [null],
    [undefined],
    [5],
    ['RateLimit: "a";r=1'],
    [true],
    [() => {}],
    [['RateLimit', '"a";r=1']],
    [[null]],
    [[[1, '2']]],
  ])('%j is a mistake of the caller, and the error says how to fix it', (headers) => {
    const parse = () => parseRateLimit(headers as never)
    expect(parse).toThrow(InvalidTypeError)
    expect(parse).toThrow(
      /^headers must be a Headers, an object of header fields by name, or pairs of name and value, got /,
    )
  })
})

suite('nonsense', () => {
  it.each([
    ['no fields', {}],
    ['empty ones', { RateLimit: '', 'RateLimit-Policy': '', 'RateLimit-Limit': '', 'X-RateLimit-Remaining': ' ' }],
    ['garbage', { RateLimit: '%%%', 'RateLimit-Policy': '{"a":1}', 'RateLimit-Limit': 'many', 'Retry-After': 'later' }],
    ['a negative remainder', { RateLimit: '"a";r=-1' }],
    ['a fraction', { RateLimit: '"a";r=1.5', 'RateLimit-Remaining': '1.5' }],
    ['no number', { RateLimit: '"a";r=NaN', 'RateLimit-Limit': 'NaN', 'X-RateLimit-Limit': 'Infinity' }],
    ['text for a number', { RateLimit: '"a";r="5"' }],
    ['an item without its required parameter', { RateLimit: '"a";t=5', 'RateLimit-Policy': '"a";w=5' }],
    ['numbers that are too large', { RateLimit: `"a";r=${'9'.repeat(16)}`, 'RateLimit-Limit': '9'.repeat(16) }],
    ['half a list', { RateLimit: '"a";r=1, "b";r=' }],
    ['a list that goes on after its end', { RateLimit: '"a";r=1,' }],
    ['a string without an end', { RateLimit: '"a";r=1, "b;r=2' }],
    ['characters that are not ASCII', { RateLimit: '"ü";r=1' }],
    ['half a dictionary', { RateLimit: 'limit=100, remaining=' }],
    ['a dictionary of negative numbers', { RateLimit: 'limit=-100, remaining=-1, reset=-5' }],
    ['an inner list', { RateLimit: '("a" "b");r=1' }],
    ['a policy of no name', { 'RateLimit-Policy': '100;w=60' }],
    ['negative numbers', { 'X-RateLimit-Limit': '-5', 'X-RateLimit-Remaining': '-1', 'X-RateLimit-Reset': '-9' }],
    [
      'values of no text',
      { RateLimit: Symbol('x'), 'Retry-After': Object.create(null), 'RateLimit-Limit': [null, {}] },
    ],
  ])('is left out: %s', (_name, headers) => {
    expect(parseRateLimit(headers as Record<string, string>, NOW)).toEqual(NOTHING)
  })

  it.each([
    [
      'of a list',
      { RateLimit: '"a";r=1;t=-5, "b";r=x, 5;r=2, "c";r=3;t="soon"', 'RateLimit-Policy': '"a";q=9;w=0' },
      [
        { name: 'a', quota: 9, remaining: 1 },
        { name: 'c', remaining: 3 },
      ],
    ],
    [
      'beside a list that is broken',
      { RateLimit: '"a";r=1, "b', 'RateLimit-Policy': '"a";q=9' },
      [{ name: 'a', quota: 9 }],
    ],
    ['of a dictionary', { RateLimit: 'limit=100, remaining, reset="x"' }, [{ quota: 100 }]],
    [
      'of single fields',
      { 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': '-1', 'X-RateLimit-Reset': 'x' },
      [{ quota: 5 }],
    ],
  ])('leaves what makes sense: %s', (_name, headers, quotas) => {
    expect(parseRateLimit({ ...headers, 'Retry-After': 'later' })).toEqual({ quotas })
  })

  it('is never thrown at the caller, nor believed', () => {
    const pieces = fc.constantFrom(
      '"a"',
      'a',
      ';',
      '=',
      ',',
      ' ',
      'r',
      'q',
      't',
      'w',
      '1',
      '-',
      '.',
      '9'.repeat(15),
      '9'.repeat(16),
      '"',
      '\\',
      ':',
      '?1',
      '(',
      ')',
      '@1',
      '%"a"',
      'limit=',
      'remaining=',
      'reset=',
      'NaN',
      'Infinity',
      '1e9',
      'Thu, 01 Jan 2026 00:00:07 GMT',
      '\t',
      '\n',
      'ü',
    )
    const texts = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join('')),
    )
    const names = ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'Date'].concat(
      ['RateLimit-', 'X-RateLimit-', 'X-Rate-Limit-'].flatMap((prefix) =>
        ['Limit', 'Remaining', 'Reset'].map((name) => prefix + name),
      ),
    )
    const fields = fc.dictionary(fc.constantFrom(...names), texts, { maxKeys: 8, noNullPrototype: true })
    fc.assert(
      fc.property(fields, (headers) => {
        const { quotas, retryAfterMs } = parseRateLimit(headers, NOW)
        for (const { name, resetAfterMs, windowSeconds, ...counts } of quotas) {
          if (name !== undefined) expect(name).toBeTypeOf('string')
          for (const count of Object.values(counts)) expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
          if (windowSeconds !== undefined) expect(Number.isSafeInteger(windowSeconds) && windowSeconds > 0).toBe(true)
          expect(resetAfterMs === undefined || (Number.isFinite(resetAfterMs) && resetAfterMs >= 0)).toBe(true)
        }
        expect(retryAfterMs === undefined || (Number.isFinite(retryAfterMs) && retryAfterMs >= 0)).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  /** Valid dates as another type that is no number: structured-headers 2.1 takes a date only at the end of a field. */
  const withoutDates = (text: string) => text.replace(/@-?\d{1,15}(?![\d.])/g, '?1')

  /** The names and remaining units that another library reads in a field. */
  function othersRead(text: string): { name: string; remaining: number }[] {
    let items: List
    try {
      // Blanks around a field are not part of it.
      items = parseList(withoutDates(text.trim()))
    } catch {
      return []
    }
    return items.flatMap(([value, parameters]) => {
      const remaining = parameters.get('r')
      const isName = typeof value === 'string' || value instanceof Token
      return isName && Number.isSafeInteger(remaining) && (remaining as number) >= 0
        ? [{ name: String(value), remaining: remaining as number }]
        : []
    })
  }

  it('reads a list as structured-headers does, or not at all', () => {
    const bare = fc.constantFrom(
      '"a"',
      '"b c"',
      '"\\""',
      'tok',
      '5',
      '-1.5',
      '?1',
      '@12',
      '%"f%c3%bc"',
      '("a" b;r=1)',
      '()',
    )
    const known = ';r=1|; r=7|;r=2.5|;r=@5|;r=%"5"|;r=:NQ==:|;t="x"|;t'
    const unknown = ';x=?0|;y=:eA==:|;*=a/b|;x=@1659578233|;x=@-1|;x=%"caf%c3%a9"'
    const wrong = ';R=1|;x=@1.5|;x=@|;x=%"%C3"|;x=%"%ff"|;x=%|;x=(1 2)'
    const parameter = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...known.split('|')) },
      { weight: 9, arbitrary: fc.constantFrom(...unknown.split('|')) },
      { weight: 1, arbitrary: fc.constantFrom(...wrong.split('|')) },
    )
    const item = fc.tuple(bare, fc.array(parameter, { maxLength: 4 })).map(([value, rest]) => value + rest.join(''))
    const list = fc.tuple(fc.array(item, { minLength: 1, maxLength: 4 }), fc.constantFrom(',', ', ', '\t,'))
    const junk = fc.constantFrom('', '', '', ',', ';', ' ', '\t', '"', '=', '\\', 'ü', '@', '%', '(', ')')
    const texts = fc
      .tuple(list, junk, fc.nat(40))
      .map(([[items, comma], more, at]) => [items.join(comma), more, at] as const)
      .map(([text, more, at]) => text.slice(0, at) + more + text.slice(at))
    let both = 0
    fc.assert(
      fc.property(texts, (text) => {
        const named = othersRead(text)
        if (named.length > 0) both++
        expect(parseRateLimit({ RateLimit: text }).quotas).toEqual(named)
      }),
      { numRuns: 5_000 },
    )
    expect(both).toBeGreaterThan(100)
  })

  it.each([
    ['an integer', '-7'],
    ['a decimal', '1.5'],
    ['a string', '"a, b;r=9"'],
    ['a token', 'a/b:c'],
    ['bytes', ':eA==:'],
    ['true', '?1'],
    ['a date', '@1659578233'],
    ['a date before 1970', '@-1'],
    ['a display string', '%"caf%c3%a9, \\;r=9"'],
  ])('skips a parameter that is %s and has an unknown name, and an item without a quota', (_type, value) => {
    const quotas = [{ name: 'a', remaining: 1, resetAfterMs: 5_000 }]
    expect(parseRateLimit({ RateLimit: `"a";x=${value};r=1;y=${value};t=5` }).quotas).toEqual(quotas)
    const noNames = `(${value});r=7, ("b";r=8 ${value});r=9;x=${value}, ();r=3`
    expect(parseRateLimit({ RateLimit: `${noNames}, "a";r=1;t=5` }).quotas).toEqual(quotas)
    expect(parseRateLimit({ RateLimit: `limit=9;x=${value}, x=${value}, y=(${value} 1), remaining=1` }).quotas).toEqual(
      [{ quota: 9, remaining: 1 }],
    )
  })

  it.each([
    ['a date', '@5'],
    ['a display string', '%"5"'],
    ['bytes', ':NQ==:'],
  ])('does not take %s for a number or a name', (_type, value) => {
    expect(parseRateLimit({ RateLimit: `"a";r=${value}, ${value};r=1, "b";r=2;t=${value}` }).quotas).toEqual([
      { name: 'b', remaining: 2 },
    ])
  })

  it('reads quotas among parameters of every type of RFC 9651, wherever they stand', () => {
    const key = fc.stringMatching(/^[a-z*][a-z\d_.*-]{0,6}$/).filter((name) => name !== 'r' && name !== 't')
    const ascii = fc.string({ unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)) })
    const bare: fc.Arbitrary<BareItem> = fc.oneof(
      fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
      fc.integer({ min: -999_999_999, max: 999_999_999 }).map((thousandths) => thousandths / 1_000),
      ascii,
      fc.stringMatching(/^[A-Za-z*][\w!#$%&'*+.^`|~:/-]{0,8}$/).map((text) => new Token(text)),
      fc.uint8Array({ maxLength: 9 }),
      fc.boolean(),
      fc.integer({ min: -9_999_999_999, max: 9_999_999_999 }).map((seconds) => new Date(seconds * 1_000)),
      fc.string({ unit: 'grapheme' }).map((text) => new DisplayString(text.toWellFormed())),
    )
    const parameters = fc.array(fc.tuple(key, bare), { maxLength: 4 })
    const quota = fc.record({ name: ascii, r: fc.nat(), t: fc.nat(), before: parameters, after: parameters })
    const item = fc.tuple(bare, parameters).map(([value, more]): Item => [value, new Map(more)])
    const inner = fc.tuple(fc.array(item, { maxLength: 3 }), parameters)
    fc.assert(
      fc.property(fc.array(quota, { minLength: 1, maxLength: 3 }), inner, (told, [items, more]) => {
        const list: List = told.flatMap(
          ({ name, r, t, before, after }): List => [
            [name, new Map<string, BareItem>([...before, ['r', r], ...after, ['t', t]])],
            [items, new Map<string, BareItem>([...more, ['r', 1]])],
          ],
        )
        const quotas = told.map(({ name, r, t }) => ({ name, remaining: r, resetAfterMs: t * 1_000 }))
        expect(parseRateLimit({ RateLimit: serializeList(list) }).quotas).toEqual(quotas)
      }),
      { numRuns: 1_000 },
    )
  })

  const long = (text: string) => text.repeat(Math.ceil(100_000 / text.length))
  it.each([
    ['spaces', long(' ')],
    ['a digit, and spaces', `1${long(' ')}x`],
    ['digits', long('1')],
    ['digits and commas', long('1,')],
    ['a string without an end', `"${long('a')}`],
    ['a string of backslashes', `"${long('\\\\')}`],
    ['quotes', long('"')],
    ['empty strings', long('"",')],
    ['items', `${long('"a";r=1, ')}x`],
    ['parameters', `"a"${long(';a=1')};`],
    ['semicolons', `"a"${long(';')}`],
    ['semicolons and spaces', `"a";${long(' ')}`],
    ['members of a dictionary', `${long('limit=1, ')}!`],
    ['keys', long('a')],
    ['commas', long(',')],
    ['tabs and commas', `"a"${long('\t')},${long('\t')}x`],
    ['colons', long(':')],
    ['parentheses', long('(')],
    ['an inner list without an end', `(${long('a ')}`],
    ['spaces in an inner list', `(a${long(' ')}`],
    ['inner lists', long('(a b);r=1, ')],
    ['a display string without an end', `%"${long('%c3%a9')}`],
    ['display strings', long('%"%c3%a9", ')],
    ['dates', long('@1, ')],
    ['words like a date', `Thu, ${long('01 Jan ')}`],
    ['lines', long('1,\n')],
  ])('does not take long: 100 kB of %s', (_name, text) => {
    // So long that it is refused, and as long as it is read.
    for (const hostile of [text, text.slice(0, 16_000)]) {
      for (const names of [
        ['RateLimit', 'RateLimit-Policy'],
        ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
        ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
        ['Date', 'Retry-After'],
      ]) {
        const headers = Object.fromEntries(names.map((name) => [name, hostile]))
        // CPU time, because other processes may take some of the wall time.
        const took = Array.from({ length: 5 }, () => {
          const before = process.cpuUsage()
          parseRateLimit(headers)
          return process.cpuUsage(before).user / 1_000
        })
        expect(Math.min(...took), names[0]).toBeLessThan(50)
      }
    }
  })
})

suite('everything that describe says comes back', () => {
  /** What other eyes than ours see in the fields. */
  function expected(headers: Readonly<Record<string, string>>): ParsedRateLimit {
    const retryAfter = headers['Retry-After']
    const wait = retryAfter === undefined ? {} : { retryAfterMs: Number(retryAfter) * 1_000 }
    if (headers.RateLimit !== undefined) {
      const policies = parseList(headers['RateLimit-Policy']) as Item[]
      const quotas = (parseList(headers.RateLimit) as Item[]).map(([name, parameters], i) => {
        const t = parameters.get('t') as number | undefined
        const w = policies[i][1].get('w') as number | undefined
        return {
          name: name as string,
          quota: policies[i][1].get('q') as number,
          ...(w !== undefined && { windowSeconds: w }),
          remaining: parameters.get('r') as number,
          ...(t !== undefined && { resetAfterMs: t * 1_000 }),
        }
      })
      return { quotas, ...wait }
    }
    const six = headers['RateLimit-Limit'] !== undefined
    const prefix = six ? 'RateLimit-' : 'X-RateLimit-'
    if (headers[`${prefix}Limit`] === undefined) return { quotas: [], ...wait }
    const reset = Number(headers[`${prefix}Reset`])
    const { 'RateLimit-Policy': policy } = headers
    return {
      quotas: [
        {
          quota: Number(headers[`${prefix}Limit`]),
          ...(six && policy !== undefined && { windowSeconds: Number(policy.split('w=')[1]) }),
          remaining: Number(headers[`${prefix}Remaining`]),
          resetAfterMs: (six ? reset : reset - NOW_SECONDS) * 1_000,
        },
      ],
      ...wait,
    }
  }

  /** A delay of 31 years looks like a time, and seconds of the year 5138 look like milliseconds of this year. */
  const isPlain = (headers: Readonly<Record<string, string>>) =>
    headers.RateLimit !== undefined ||
    (headers['RateLimit-Reset'] === undefined
      ? Number(headers['X-RateLimit-Reset'] ?? NOW_SECONDS) < 1e11 &&
        Number(headers['X-RateLimit-Reset'] ?? NOW_SECONDS) >= NOW_SECONDS
      : Number(headers['RateLimit-Reset']) < 1e9)

  it('in every dialect, of every verdict', () => {
    let plain = 0
    fc.assert(
      fc.property(anyVerdict, dialects, (verdict, spoken) => {
        const { headers } = describe(verdict, spoken, { ...NOW, expose: true })
        if (!isPlain(headers)) return
        plain++
        const wanted = expected(headers)
        expect(parseRateLimit(headers, NOW)).toEqual(wanted)
        expect(parseRateLimit(new Headers(headers), NOW)).toEqual(wanted)
      }),
      { numRuns: 1_000 },
    )
    expect(plain).toBeGreaterThan(500)
  })

  it('of a great many levels with long names', () => {
    const levels = Array.from({ length: 120 }, (_, i) => level(`${'x'.repeat(61)}${100 + i}`))
    const { headers } = describe(verdictOf(...levels))
    expect(headers['RateLimit-Policy'].length).toBeGreaterThan(8_192)
    expect(parseRateLimit(headers).quotas.map(({ name }) => name)).toEqual(levels.map(({ name }) => name))
  })

  it('a wait of a hundred years too', () => {
    const limit = fixedWindow({ quota: 1, window: '36500d' })
    const ms = 36_500 * 86_400_000
    const verdict = verdictOf(
      level('a', { allowed: false, remaining: 0, retryAfterMs: ms, nextUnitAfterMs: ms, resetAfterMs: ms }, { limit }),
    )
    const wanted = { name: 'a', quota: 100, windowSeconds: ms / 1_000, remaining: 0, resetAfterMs: ms }
    expect(parseRateLimit(describe(verdict).headers)).toEqual({ quotas: [{ ...wanted, quota: 1 }], retryAfterMs: ms })
  })
})
