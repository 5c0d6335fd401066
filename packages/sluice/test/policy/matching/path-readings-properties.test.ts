import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodedSegment } from '../../../src/policy/matching/decoded-segment.js'
import { PathReadings, plainPath } from '../../../src/policy/matching/path-readings.js'

const segments = fc.array(
  fc
    .string({ unit: fc.constantFrom(...'abcXYZ019-_~.,=@:é漢😀'), minLength: 1, maxLength: 5 })
    .filter((text) => !/^\.\.?$/.test(text)),
  { maxLength: 5 },
)

/** Other spellings of a path, at each of its segments. */
const disguises = fc.array(
  fc.record({
    before: fc.constantFrom('', '', '/', './', 'x/../', '%2e/', 'x/%2E%2e/', '/./'),
    escaped: fc.nat(),
    lower: fc.boolean(),
    slash: fc.constantFrom('/', '/', '\\', '//'),
  }),
  { minLength: 6, maxLength: 6 },
)

/** Escapes some of the characters, selected by the bits of a number. */
function escapeSome(text: string, bits: number, lower: boolean): string {
  return [...text]
    .map((character, i) => {
      if (((bits >> i) & 1) === 0) return character
      const escaped = Array.from(
        new TextEncoder().encode(character),
        (byte) => `%${byte.toString(16).padStart(2, '0')}`,
      ).join('')
      return lower ? escaped : escaped.toUpperCase()
    })
    .join('')
}

test('every mixture of spellings meets the level of the path, and has its key', () => {
  fc.assert(
    fc.property(
      segments,
      disguises,
      fc.constantFrom('', 'http://example.com', 'https://[::1]:80'),
      fc.constantFrom('', '/', '/.', '?a=/../b', '#', '/?', '/x/..', ';x', ';/../y'),
      (parts, ways, origin, end) => {
        const path = parts
          .map((part, i) => `${ways[i].slash}${ways[i].before}${escapeSome(part, ways[i].escaped, ways[i].lower)}`)
          .join('')
        // An origin needs a slash after it. Otherwise, the text after two slashes may be a host.
        const text = `${origin}${path.replace(/^[\\/]+/, '/') || '/'}${end}`
        const meant = `/${parts.join('/')}`.toLowerCase()
        const readings = new PathReadings([text])
        expect(readings.folded, text).toContain(meant)
        // `#` ends the path for some routers, and belongs to it for others.
        expect(readings.key, text).toBe(end === '#' && origin === '' ? '//' : meant)
      },
    ),
    { numRuns: 3_000 },
  )
})

/** Texts with many special characters, and with needless or broken escapes. */
const texts = fc.string({
  unit: fc.constantFrom(
    ...'/a.\\?#:;~éA漢%25fFeE',
    '%25',
    '%2F',
    '%3f',
    '%23',
    '%5C',
    '%2e',
    '%C3%A9',
    '%c3',
    '%FF',
    '%41',
  ),
  maxLength: 20,
})

test('a path has one reading exactly if plainPath accepts it', () => {
  fc.assert(
    fc.property(fc.oneof(texts, fc.string({ unit: fc.constantFrom(...'/ab.?') })), (text) => {
      const plain = plainPath(`/${text}`)
      const { exact, folded, key } = new PathReadings([`/${text}`])
      if (plain !== undefined && plain !== '/') expect([exact, folded, key]).toEqual([[plain], [plain], plain])
      for (const each of exact) expect(each).toMatch(/^\//)
      // The number of readings is bounded for any text.
      expect(exact.length).toBeLessThan(40)
    }),
    { numRuns: 5_000 },
  )
})

test('a path written as a pattern is among the readings of that path', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const written = `/${text.split(/[?#]/)[0]}`
      const asWritten = `/${written.slice(1).split('/').map(decodedSegment).join('/')}`
      expect(new PathReadings([written]).exact).toContain(asWritten)
    }),
    { numRuns: 5_000 },
  )
})

/** The bytes of a segment, with escapes decoded. */
function bytesOf(segment: string): readonly number[] {
  const parts = segment.split(/(%[\dA-Fa-f]{2})/)
  return parts.flatMap((part, i) => (i % 2 === 1 ? [Number.parseInt(part.slice(1), 16)] : [...Buffer.from(part)]))
}

test('decoding keeps different segments different', () => {
  const text = fc.string({ unit: fc.constantFrom(...'/%?#\\.*:ab2Fé漢😀'), minLength: 1, maxLength: 6 })
  const bytes = fc.oneof(
    text.map((each) => [...Buffer.from(each)]),
    fc.array(fc.oneof(fc.nat(255), fc.constantFrom(0x2f, 0x25, 0xc3, 0xa9, 0xe0, 0xed, 0xa0, 0x80, 0xf0)), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  const lists = fc.array(bytes, { minLength: 1, maxLength: 4 })
  const escaped = (byte: number) => `%${byte.toString(16).padStart(2, '0')}`
  fc.assert(
    fc.property(lists, (list) => {
      const plain = list.map((each) => decodedSegment(each.map(escaped).join('')))
      expect(plain.map(bytesOf)).toEqual(list)
    }),
    { numRuns: 5_000 },
  )
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (list) => {
      expect(list.map((each) => decodeURIComponent(decodedSegment(encodeURIComponent(each))))).toEqual(list)
    }),
    { numRuns: 2_000 },
  )
})

test('any text is read without an error', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'/.%2eEfF5cC\\?#\n\0\ud800') })),
      (text) => {
        for (const target of [text, `/${text}`]) {
          const readings = new PathReadings([target])
          expect(readings.exact.length).toBeGreaterThan(0)
          expect(readings.key).toMatch(/^[/*]/)
        }
      },
    ),
    { numRuns: 3_000 },
  )
})

test('reading a very long path takes linear time', () => {
  // A hundred thousand characters each: a quadratic algorithm would take minutes.
  for (const part of [
    '/',
    '/a',
    '/..',
    '/./',
    '%2e',
    '/%',
    '\\',
    'a',
    ':',
    'a:',
    '?',
    '/a/..',
    'http://',
    '%2F',
    '/%ff',
  ]) {
    const { exact, key } = new PathReadings([`/${part.repeat(100_000 / part.length)}`])
    expect(exact.length).toBeGreaterThan(0)
    expect(key.startsWith('/')).toBe(true)
  }
})

function bestMs(run: () => void): number {
  let best = Infinity
  for (let round = 0; round < 7; round++) {
    const start = performance.now()
    run()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

test.each(['/%', '/%ff', '/%c3', '/%zz'])(
  'a path of malformed escapes, %s, costs no more to read than one of good ones',
  (part) => {
    // The longest request line that Node.js accepts.
    const bad = part.repeat(16_000 / part.length)
    const good = '/%41'.repeat(4_000)
    expect(bestMs(() => new PathReadings([bad]))).toBeLessThan(10 * bestMs(() => new PathReadings([good])))
  },
)
