import fc from 'fast-check'
import protobuf from 'protobufjs'
import { expect, it } from 'vitest'
import type { RateLimitRequest, RateLimitResponse } from '../../src/envoy/rate-limit-request.js'
import { readRateLimitRequest } from '../../src/envoy/read-rate-limit-request.js'
import { writeRateLimitResponse } from '../../src/envoy/write-rate-limit-response.js'
import { GRPC_STATUS, GrpcError } from '../../src/grpc/grpc-error.js'
import { decodeResponse, encodeRequest } from './envoy-protos.js'

const UINT32 = 2 ** 32 - 1
const uint32 = fc.oneof(fc.constantFrom(0, 1, 127, 128, 16_384, 2 ** 31, UINT32), fc.integer({ min: 0, max: UINT32 }))
const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', 'é', 'x'.repeat(127), 'x'.repeat(128), 'ä'.repeat(100), '漢'.repeat(6_000)),
)

const request = fc.record(
  {
    domain: text,
    hitsAddend: uint32,
    descriptors: fc.array(
      fc.record(
        {
          entries: fc.array(fc.record({ key: text, value: text }, { requiredKeys: [] }), { maxLength: 4 }),
          limit: fc.record({ requestsPerUnit: uint32, unit: fc.integer({ min: 0, max: 7 }) }, { requiredKeys: [] }),
          hitsAddend: fc.record({ value: fc.maxSafeNat() }, { requiredKeys: [] }),
          isNegativeHits: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 5 },
    ),
  },
  { requiredKeys: [] },
)

type Foreign = typeof request extends fc.Arbitrary<infer T> ? T : never

/** What our reader should say of a message that protobufjs wrote. */
function expected({ domain = '', hitsAddend = 0, descriptors = [] }: Foreign) {
  return {
    domain,
    hitsAddend,
    descriptors: descriptors.map(({ entries = [], limit, hitsAddend: own, isNegativeHits = false }) => ({
      entries: entries.map(({ key = '', value = '' }) => ({ key, value })),
      limit: limit && { requestsPerUnit: limit.requestsPerUnit ?? 0, unit: limit.unit ?? 0 },
      hitsAddend: own && (own.value ?? 0),
      isNegativeHits,
    })),
  }
}

/** Fields that our messages do not have, of every wire type. */
const unknownField = fc.constantFrom(
  [0xa0, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],
  [0xa2, 0x06, 3, 1, 2, 3],
  [0xa3, 0x06, 0x08, 1, 0x13, 0x1c - 8, 0xa4, 0x06],
  [0xa5, 0x06, 1, 2, 3, 4],
  // `domain` as a number: a field of another type than ours is an unknown one.
  [0x08, 5],
)

it('a request that protobufjs writes is read as it was', () => {
  fc.assert(
    fc.property(request, (given) => {
      expect(readRateLimitRequest(encodeRequest(given))).toEqual(expected(given))
    }),
  )
})

it('unknown fields before, between and behind are skipped', () => {
  fc.assert(
    fc.property(request, unknownField, unknownField, (given, before, behind) => {
      const inside = Buffer.from([0x12, before.length, ...before])
      const bytes = Buffer.concat([Buffer.from(before), encodeRequest(given), inside, Buffer.from(behind)])
      const read = readRateLimitRequest(bytes)
      const { descriptors, ...others } = expected(given)
      expect({ ...read, descriptors: read.descriptors.slice(0, -1) }).toEqual({ descriptors, ...others })
      // In a descriptor, the field 1 that is a number is unknown too.
      expect(read.descriptors.at(-1)).toEqual({
        entries: [],
        limit: undefined,
        hitsAddend: undefined,
        isNegativeHits: false,
      })
    }),
  )
})

it('any bytes are a request or INVALID_ARGUMENT, and a request stays the same if it is written again', () => {
  const pieces = fc.array(fc.oneof(fc.uint8Array({ maxLength: 6 }), request.map(encodeRequest)), { maxLength: 4 })
  let read = 0
  fc.assert(
    fc.property(pieces, (parts) => {
      const bytes = Buffer.concat(parts)
      let first: RateLimitRequest
      try {
        first = readRateLimitRequest(bytes)
        read++
      } catch (error) {
        expect(error).toBeInstanceOf(GrpcError)
        expect((error as GrpcError).code).toBe(GRPC_STATUS.invalidArgument)
        return
      }
      const again = first.descriptors.map((each) => {
        const { hitsAddend: value } = each
        return { ...each, hitsAddend: value === undefined ? undefined : { value } }
      })
      expect(readRateLimitRequest(encodeRequest({ ...first, descriptors: again }))).toEqual(first)
    }),
    { numRuns: 2_000 },
  )
  expect(read).toBeGreaterThan(200)
})

it('every message that is cut short is read as a shorter one or refused, and never reads beyond its end', () => {
  const whole = encodeRequest({
    domain: 'api',
    descriptors: [
      { entries: [{ key: 'user', value: 'ann' }], limit: { requestsPerUnit: 5, unit: 2 }, hitsAddend: { value: 3 } },
    ],
  })
  const behind = Buffer.alloc(64, 0x0a)
  for (let length = 0; length < whole.length; length++) {
    const bytes = Buffer.concat([whole.subarray(0, length), behind]).subarray(0, length)
    try {
      const { descriptors, domain } = readRateLimitRequest(bytes)
      expect([descriptors, ['', 'api'].includes(domain)]).toEqual([[], true])
    } catch (error) {
      expect((error as Error).message).toMatch(/^the message cannot be read: /)
    }
  }
})

it.each([
  ['a length beyond the message', [0x0a, 5, 1]],
  ['a length beyond the message around it', [0x12, 2, 0x0a, 2, 0, 0]],
  ['a number without an end', [0x18, ...Array(11).fill(0xff)]],
  ['a field without a number', [0x00, 0x01]],
  ['a type that does not exist', [0x0f]],
  ['a group without an end', [0x1b, 0x08, 1]],
  ['the end of another group', [0x1b, 0x24]],
  ['the end of no group', [0x1c]],
  ['groups that are nested too deep', Array(5_000).fill(0x1b)],
  ['a text that is not UTF-8', [0x0a, 2, 0xc3, 0x28]],
])('%s is refused', (_name, bytes) => {
  expect(() => readRateLimitRequest(Buffer.from(bytes))).toThrow(/^the message cannot be read/)
})

it('bytes of an entry that are not UTF-8 are read as U+FFFD: an error would let a client pass all limits', () => {
  const entry = [0x0a, 2, 0x75, 0xff, 0x12, 5, 0x61, 0xe9, 0xc3, 0xa9, 0x80]
  const bytes = Buffer.from([0x12, entry.length + 2, 0x0a, entry.length, ...entry])
  expect(readRateLimitRequest(bytes).descriptors[0].entries).toEqual([{ key: 'u\ufffd', value: 'a\ufffdé\ufffd' }])
})

it('a message that comes twice is merged, a number that comes twice is the last, and an unknown unit counts as none', () => {
  const descriptor = [0x12, 2, 0x08, 7, 0x12, 2, 0x10, 3, 0x1a, 2, 0x08, 1, 0x1a, 2, 0x08, 2, 0x20, 1, 0x20, 0]
  const bytes = Buffer.from([0x18, 1, 0x18, 9, 0x12, descriptor.length, ...descriptor, 0x12, 4, 0x12, 2, 0x10, 99])
  expect(readRateLimitRequest(bytes)).toEqual({
    domain: '',
    hitsAddend: 9,
    descriptors: [
      { entries: [], limit: { requestsPerUnit: 7, unit: 3 }, hitsAddend: 2, isNegativeHits: false },
      { entries: [], limit: { requestsPerUnit: 0, unit: 0 }, hitsAddend: undefined, isNegativeHits: false },
    ],
  })
})

it('more hits than a number can count are the most that it can, and more descriptors than 1,000 are refused', () => {
  const most = Buffer.from([0x12, 13, 0x1a, 11, 0x08, ...Array(9).fill(0xff), 0x01])
  expect(readRateLimitRequest(most).descriptors[0].hitsAddend).toBe(Number.MAX_SAFE_INTEGER)
  const empty = Buffer.from([0x12, 0])
  expect(readRateLimitRequest(Buffer.concat(Array(1_000).fill(empty))).descriptors).toHaveLength(1_000)
  expect(() => readRateLimitRequest(Buffer.concat(Array(1_001).fill(empty)))).toThrow(/at most 1,000 descriptors/)
})

const code = fc.constantFrom(0, 1, 2) as fc.Arbitrary<0 | 1 | 2>
const header = fc.record({ key: text, value: text })
const response: fc.Arbitrary<RateLimitResponse> = fc.record(
  {
    overallCode: code,
    statuses: fc.array(
      fc.record(
        {
          code,
          currentLimit: fc.record({
            requestsPerUnit: uint32,
            unit: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7) as fc.Arbitrary<0 | 1 | 7>,
            name: text,
          }),
          limitRemaining: uint32,
          untilResetMs: fc.oneof(fc.constantFrom(0, 1, 999, 1_000, 86_400_000), fc.nat()),
        },
        { requiredKeys: ['code', 'limitRemaining'] },
      ),
      { maxLength: 4 },
    ),
    responseHeaders: fc.array(header, { maxLength: 3 }),
    requestHeaders: fc.array(header, { maxLength: 2 }),
    rawBody: fc.uint8Array({ minLength: 1, maxLength: 300 }),
    metadata: fc.dictionary(text, fc.jsonValue({ maxDepth: 4 }), { maxKeys: 4 }),
  },
  { requiredKeys: ['overallCode', 'statuses', 'responseHeaders', 'requestHeaders'] },
)
const CODES = ['UNKNOWN', 'OK', 'OVER_LIMIT']
const UNITS = ['UNKNOWN', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'WEEK']

/** The response with every default left out, as protobufjs shows it. */
function shown({ overallCode, statuses, responseHeaders, requestHeaders, rawBody, metadata }: RateLimitResponse) {
  const headers = (all: RateLimitResponse['responseHeaders']) =>
    all.map(({ key, value }) => withoutDefaults({ key, value }))
  return withoutDefaults({
    overallCode: CODES[overallCode],
    statuses: statuses.map(({ code: own, currentLimit, limitRemaining, untilResetMs }) =>
      withoutDefaults({
        code: CODES[own],
        currentLimit: currentLimit && withoutDefaults({ ...currentLimit, unit: UNITS[currentLimit.unit] }),
        limitRemaining,
        durationUntilReset:
          untilResetMs === undefined
            ? undefined
            : withoutDefaults({ seconds: Math.floor(untilResetMs / 1_000), nanos: (untilResetMs % 1_000) * 1e6 }),
      }),
    ),
    responseHeadersToAdd: headers(responseHeaders),
    requestHeadersToAdd: headers(requestHeaders),
    rawBody: rawBody && Buffer.from(rawBody).toString('base64'),
    dynamicMetadata: metadata && struct(metadata),
  })
}

function withoutDefaults(fields: object): object {
  const isDefault = (value: unknown) => [undefined, '', 0, 'UNKNOWN'].includes(value as never)
  const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isDefault(value) && !isEmptyList(value)))
}

function struct(fields: object): object {
  const entries = Object.entries(fields)
  return entries.length === 0 ? {} : { fields: Object.fromEntries(entries.map(([name, each]) => [name, value(each)])) }
}

function value(given: unknown): object {
  if (given === null) return { nullValue: 'NULL_VALUE' }
  if (Array.isArray(given)) return { listValue: given.length === 0 ? {} : { values: given.map(value) } }
  if (typeof given === 'object') return { structValue: struct(given) }
  return { [`${typeof given === 'boolean' ? 'bool' : typeof given}Value`]: given }
}

it('protobufjs reads every response that we write, and sees what was written', () => {
  fc.assert(
    fc.property(response, (given) => {
      const decoded = JSON.parse(JSON.stringify(decodeResponse(writeRateLimitResponse(given)), base64))
      expect(decoded).toEqual(JSON.parse(JSON.stringify(shown(given))))
    }),
  )
})

function base64(_name: string, given: unknown): unknown {
  const { type, data } = (given ?? {}) as { type?: string; data?: number[] }
  return type === 'Buffer' ? Buffer.from(data ?? []).toString('base64') : given
}

it('numbers that do not fit are the largest that do', () => {
  const currentLimit = { requestsPerUnit: 1e15, unit: 1, name: 'x' } as const
  const status = { code: 1, currentLimit, limitRemaining: Infinity, untilResetMs: Infinity } as const
  const bytes = writeRateLimitResponse({ overallCode: 1, statuses: [status], responseHeaders: [], requestHeaders: [] })
  expect(decodeResponse(bytes).statuses).toEqual([
    {
      code: 'OK',
      currentLimit: { requestsPerUnit: UINT32, unit: 'SECOND', name: 'x' },
      limitRemaining: UINT32,
      durationUntilReset: { seconds: 315_576_000_000 },
    },
  ])
})

it('a response is a copy: the next one does not change it', () => {
  const write = (overallCode: 1 | 2) =>
    writeRateLimitResponse({ overallCode, statuses: [], responseHeaders: [], requestHeaders: [] })
  const first = write(1)
  write(2)
  expect([...first]).toEqual([0x08, 1])
  expect(protobuf.Reader.create(first).uint32()).toBe(8)
})
