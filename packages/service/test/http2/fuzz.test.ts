import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isLong } from '../../../sluice/test/property/arbitraries.js'
import { FrameType } from '../../dist/http2/frame-type.js'
import { ErrorCode } from '../../dist/http2/http2-error.js'
import {
  call,
  callFields,
  data,
  FrameClient,
  frame,
  framed,
  headers,
  PREFACE,
  ping,
  reset,
  settings,
  windowUpdate,
} from './frame-client.js'
import { indexed, literal, remembered, tableSize } from './hpack-encoding.js'
import { CHAT, ECHO, FAIL, HELD, LARGE, LATER, startServer, type TestServer } from './test-methods.js'

const RUNS = isLong ? 200_000 : 2_000
const MOST_MS = isLong ? 600_000 : 60_000
const codes: ReadonlySet<number> = new Set(Object.values(ErrorCode))

let running: TestServer
let other: FrameClient
let otherId = 1

beforeAll(async () => {
  // A connection that is ended must not wait for this client: there are thousands.
  running = await startServer({ bounds: { streams: 20, queuedBytes: 100_000, lingerMs: 100 } })
  other = await FrameClient.open(running.port, Buffer.concat([settings(), windowUpdate(0, 2 ** 30)]))
})
afterAll(async () => {
  other.close()
  await running.close()
})

const streamId = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(1, 3, 5, 7) },
  fc.constantFrom(0, 2, 9, 11, 2 ** 31 - 1),
)
const path = fc.constantFrom(ECHO, LATER, CHAT, LARGE, FAIL, HELD, '/no.Such/Method', '')
const junk = fc.uint8Array({ maxLength: 40 })
const flags = fc.oneof(fc.constantFrom(0, 1, 4, 5, 8, 9, 12, 13, 32, 37, 45), fc.nat({ max: 255 }))
const type = fc.oneof(fc.nat({ max: 9 }), fc.nat({ max: 255 }))
const message = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => framed(bytes)),
  fc.constantFrom('0', '7', '70000', 'end', 'fail', 'throw', '8 no', 'later 5 none').map((text) => framed(text)),
  fc.tuple(junk, fc.nat({ max: 3 })).map(([bytes, flag]) => framed(bytes, flag)),
  fc.nat({ max: 2 ** 31 }).map((length) => Buffer.concat([Buffer.from([0]), uint(length)])),
  junk.map((bytes) => Buffer.from(bytes)),
)
const field = fc.oneof(
  fc.nat({ max: 70 }).map((index) => indexed(index)),
  fc
    .tuple(
      fc.constantFrom(
        ':path',
        ':method',
        'te',
        'content-length',
        'grpc-timeout',
        'content-type',
        'X',
        'connection',
        '',
      ),
      fc.constantFrom('POST', ECHO, 'trailers', '6', '20m', '1n', 'application/grpc', '', ' ', '\n'),
      fc.boolean(),
    )
    .map(([name, value, isRemembered]) => (isRemembered ? remembered(name, value) : literal(name, value))),
  fc.nat({ max: 5_000 }).map((bytes) => tableSize(bytes)),
  junk.map((bytes) => Buffer.from(bytes)),
)

/** What a client may do next: mostly what is right. */
const deed = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(streamId, path, message)
      .map(([id, to, body]) => Buffer.concat([headers(id, callFields(to)), data(id, body)])),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(streamId, path, flags).map(([id, to, some]) => headers(id, callFields(to), some & 0xd7)),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(streamId, message, fc.constantFrom(0, 1)).map(([id, body, ends]) => data(id, body, ends)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(streamId, fc.constantFrom(0, 1, 100, 70_000, 2 ** 31 - 1))
      .map(([id, by]) => windowUpdate(id, by)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat({ max: 7 }), fc.constantFrom(0, 1, 100, 70_000, 2 ** 31 - 1, 2 ** 31))
      .map((pair) => settings(pair)),
  },
  { weight: 2, arbitrary: streamId.map((id) => reset(id)) },
  { weight: 1, arbitrary: fc.nat({ max: 1 }).map((ack) => ping(ack)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(flags, streamId, fc.array(field, { maxLength: 6 }))
      .map(([some, id, fields]) => frame(FrameType.headers, some, id, Buffer.concat(fields))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(flags, streamId, fc.array(field, { maxLength: 3 }))
      .map(([some, id, fields]) => frame(FrameType.continuation, some, id, Buffer.concat(fields))),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(type, flags, streamId, junk).map(([some, flag, id, bytes]) => frame(some, flag, id, bytes)),
  },
  { weight: 1, arbitrary: junk.map((bytes) => Buffer.from(bytes)) },
)

function uint(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** The connection that was fuzzed answers a PING, or was ended with a code. Every frame that it got is well-formed. */
async function isAliveOrEnded(client: FrameClient): Promise<void> {
  const data = Buffer.from('anythin?')
  client.send(frame(FrameType.ping, 0, 0, data))
  const isAnswer = ({ type: of, payload }: { readonly type: number; readonly payload: Buffer }) =>
    of === FrameType.ping && payload.equals(data)
  await client
    .until(() => client.isClosed || client.frames.some(isAnswer) || client.goawayText !== undefined)
    .catch(() => {})
  for (const { type: of, payload } of client.frames) {
    expect(payload.length).toBeLessThanOrEqual(16_384)
    if (of === FrameType.goaway) expect(codes).toContain(payload.readUInt32BE(4))
    if (of === FrameType.rstStream) expect(codes).toContain(payload.readUInt32BE())
  }
}

test(`whatever a client sends, the server goes on and others are served (${RUNS} clients)`, {
  timeout: MOST_MS,
}, async () => {
  const clientSends = fc.record({
    deeds: fc.array(deed, { minLength: 1, maxLength: 25 }),
    /** Where the bytes are cut into writes. */
    cuts: fc.array(fc.nat({ max: 200 }), { maxLength: 12 }),
    /** A client may leave in the middle. */
    leaves: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(clientSends, async ({ deeds, cuts, leaves }) => {
      const client = await FrameClient.connect(running.port)
      const bytes = Buffer.concat([PREFACE, settings(), ...deeds])
      let at = 0
      for (const cut of cuts) {
        client.send(bytes.subarray(at, at + cut))
        at = Math.min(bytes.length, at + cut)
        await new Promise((resolve) => setImmediate(resolve))
      }
      client.send(bytes.subarray(at))
      if (!leaves) await isAliveOrEnded(client)
      client.close()
      for (const held of running.held.splice(0)) held.resolve(Buffer.from('late'))
      other.frames.length = 0
      other.send(call(otherId, ECHO, 'unharmed'))
      expect((await other.answer(otherId)).body.toString('utf8', 5)).toBe('unharmed')
      otherId += 2
      expect(
        running.faults.filter((fault) => !(fault instanceof TypeError && fault.message === 'a secret of the server')),
      ).toEqual([])
      running.faults.length = 0
      running.events.length = 0
      running.answered.length = 0
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: MOST_MS - 20_000 },
  )
  while (running.server.connections > 1) await new Promise((resolve) => setImmediate(resolve))
})
