import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Bounds } from '../../dist/http2/bounds.js'
import { FrameType } from '../../dist/http2/frame-type.js'
import { ErrorCode } from '../../dist/http2/http2-error.js'
import {
  call,
  callFields,
  data,
  END,
  END_HEADERS,
  FrameClient,
  frame,
  framed,
  headers,
  PREFACE,
  ping,
  reset,
  settings,
  uint32,
  windowUpdate,
} from './frame-client.js'
import { indexed, literals, remembered } from './hpack-encoding.js'
import { makeCertificate } from './make-certificate.js'
import { CHAT, ECHO, HELD, LARGE, startServer, type TestServer } from './test-methods.js'

const INITIAL_WINDOW_SIZE = 4
const { cancel, enhanceYourCalm, noError, protocolError, refusedStream } = ErrorCode

let running: TestServer
const clients: FrameClient[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  await running.close()
})

/** A server with these bounds, an attacker, and another client. */
async function start(bounds: Partial<Bounds> = {}, greeting?: Buffer) {
  running = await startServer({ bounds })
  const attacker = await FrameClient.open(running.port, greeting)
  const other = await FrameClient.open(running.port)
  clients.push(attacker, other)
  await isServed(other, 1)
  return { attacker, other }
}

async function isServed(client: FrameClient, streamId: number): Promise<void> {
  client.send(call(streamId, ECHO, 'unharmed'))
  expect((await client.answer(streamId)).body.toString('utf8', 5)).toBe('unharmed')
}

/** Sends `parts` again and again until the connection is closed, and returns the code of its GOAWAY. */
async function flood(attacker: FrameClient, parts: (i: number) => Uint8Array): Promise<number | undefined> {
  for (let i = 0; i < 200_000 && !attacker.isClosed; i += 500) {
    attacker.send(...Array.from({ length: 500 }, (_, j) => parts(i + j)))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return attacker.isClosed ? await attacker.goaway() : undefined
}

const resetCodes = (client: FrameClient) =>
  client.frames.filter(({ type }) => type === FrameType.rstStream).map(({ payload }) => payload.readUInt32BE())

describe('a flood of frames that make no progress ends its connection: ENHANCE_YOUR_CALM', () => {
  test.each<[string, (i: number) => Uint8Array]>([
    ['PING', () => ping()],
    ['acknowledgements of PING', () => ping(1)],
    ['SETTINGS', () => settings([INITIAL_WINDOW_SIZE, 70_000])],
    ['acknowledgements of SETTINGS', () => frame(FrameType.settings, 1, 0)],
    ['PRIORITY', (i) => frame(FrameType.priority, 0, 1 + 2 * i, Buffer.alloc(5))],
    ['WINDOW_UPDATE of the connection', () => windowUpdate(0, 1)],
    ['WINDOW_UPDATE of a stream', () => windowUpdate(1, 1)],
    ['RST_STREAM of a stream that is closed', () => reset(1)],
    ['GOAWAY', () => frame(FrameType.goaway, 0, 0, Buffer.alloc(8))],
    ['frames of an unknown type', () => frame(0x55, 0, 0, Buffer.alloc(10))],
    ['empty DATA', () => data(3, Buffer.alloc(0), 0)],
    ['DATA that is all padding', () => frame(FrameType.data, 0x8, 3, Buffer.from([2, 0, 0]))],
    ['DATA of a call that was answered', () => data(5, Buffer.alloc(1), 0)],
    ['HEADERS of a call that was answered', () => headers(5, [['a', 'b']], END)],
  ])('%s', async (_title, parts) => {
    const { attacker, other } = await start()
    attacker.send(call(1, ECHO), headers(3, callFields(CHAT)), headers(5, callFields('/no.Such/Method')))
    await attacker.answer(5)
    expect(await flood(attacker, parts)).toBe(enhanceYourCalm)
    expect(attacker.goawayText).toMatch('no progress')
    await isServed(other, 3)
  })

  test('CONTINUATION without bytes', async () => {
    const { attacker, other } = await start()
    attacker.send(headers(1, callFields(ECHO), 0))
    expect(await flood(attacker, () => frame(FrameType.continuation, 0, 1))).toBe(enhanceYourCalm)
    await isServed(other, 3)
  })

  test('CONTINUATION without end', async () => {
    const { attacker, other } = await start()
    attacker.send(headers(1, callFields(ECHO), 0))
    const part = frame(FrameType.continuation, 0, 1, literals([['x-name', 'x'.repeat(1_000)]]))
    expect(await flood(attacker, () => part)).toBe(enhanceYourCalm)
    expect(attacker.goawayText).toMatch('a header block has more than 16384 bytes')
    await isServed(other, 3)
  })

  test('but not a client that makes calls meanwhile, as clients do', async () => {
    const { attacker } = await start({ idleFrames: 20, idleFramesPerSecond: 0 })
    for (let i = 0; i < 500; i++) {
      attacker.send(call(1 + 2 * i, ECHO), windowUpdate(0, 6), ping())
      await attacker.answer(1 + 2 * i)
      attacker.frames.length = 0
    }
    expect(running.echoed()).toBe(501)
  })
})

describe('rapid resets', () => {
  test('end their connection: ENHANCE_YOUR_CALM', async () => {
    const { attacker, other } = await start()
    const parts = (i: number) => Buffer.concat([headers(1 + 2 * i, callFields(ECHO)), reset(1 + 2 * i)])
    expect(await flood(attacker, parts)).toBe(enhanceYourCalm)
    expect(attacker.goawayText).toMatch('too many calls were reset')
    await isServed(other, 3)
  })

  test.each<[string, (streamId: number) => Buffer]>([
    ['a window', (id) => Buffer.concat([headers(id, callFields(CHAT)), windowUpdate(id, 0)])],
    ['wrong fields', (id) => headers(id, callFields(''))],
    ['a wrong length', (id) => headers(id, callFields(ECHO, ['content-length', '9']), END)],
  ])('that the server is made to do by %s end their connection as well', async (_title, fault) => {
    const { attacker, other } = await start()
    const parts = (i: number) => fault(1 + 2 * i)
    expect(await flood(attacker, parts)).toBe(enhanceYourCalm)
    expect(resetCodes(attacker).every((code) => code === protocolError)).toBe(true)
    await isServed(other, 3)
  })

  test('cannot begin more work at a time than honest calls can', async () => {
    const { attacker, other } = await start({ streams: 50, resets: 100_000, idleFrames: 100_000 })
    attacker.send(...Array.from({ length: 5_000 }, (_, i) => Buffer.concat([call(1 + 2 * i, HELD), reset(1 + 2 * i)])))
    attacker.send(ping())
    await attacker.next(({ type }) => type === FrameType.ping)
    expect(running.held.length).toBe(50)
    expect(new Set(resetCodes(attacker))).toEqual(new Set([refusedStream]))
    for (const held of running.held) held.resolve(Buffer.from('late'))
    await isServed(attacker, 10_001)
    await isServed(other, 3)
  })

  test('of complete requests harm no other call: Envoy makes them when its own clients go away', async () => {
    const { attacker } = await start({ resets: 1, resetsPerSecond: 0, idleFrames: 10, idleFramesPerSecond: 0 })
    for (let i = 0; i < 200; i++) {
      attacker.send(call(1 + 2 * i, HELD), reset(1 + 2 * i))
      await running.until(() => running.held.length > i)
      running.held[i].resolve(Buffer.from('late'))
    }
    await isServed(attacker, 401)
  })

  test('are not what a client does that runs out of patience', async () => {
    const { attacker } = await start({ rapidResetMs: 0, resets: 1, resetsPerSecond: 0 })
    for (let i = 0; i < 200; i++) {
      attacker.send(headers(1 + 2 * i, callFields(CHAT)))
      await running.until(() => running.events.length > i)
      attacker.send(reset(1 + 2 * i))
      await running.until(() => running.events.filter((event) => event === 'closed').length > i)
    }
    await isServed(attacker, 401)
  })
})

describe('header bombs', () => {
  test('of one field that is repeated by its number are answered 431', async () => {
    const { attacker, other } = await start()
    const bomb = Buffer.concat([remembered('x-bomb', 'b'.repeat(3_900)), ...new Array(10_000).fill(indexed(62))])
    for (let i = 0; i < 20; i++) attacker.send(frame(FrameType.headers, END, 1 + 2 * i, bomb))
    for (let i = 0; i < 20; i++) expect((await attacker.answer(1 + 2 * i)).fields[':status']).toBe('431')
    await isServed(attacker, 41)
    await isServed(other, 3)
  })

  test('of many fields are answered 431', async () => {
    const { attacker } = await start()
    const fields = Array.from({ length: 600 }, (_, i) => ['x', `${i}`] as const)
    attacker.send(headers(1, callFields(ECHO, ...fields), END))
    expect((await attacker.answer(1)).fields[':status']).toBe('431')
    await isServed(attacker, 3)
  })
})

describe('streams', () => {
  test('beyond the bound are refused, and a client that opens 10,000 is ended', async () => {
    const { attacker, other } = await start()
    attacker.send(...Array.from({ length: 2_000 }, (_, i) => headers(1 + 2 * i, callFields(CHAT))))
    await attacker.until(() => resetCodes(attacker).length === 1_000)
    expect(running.events.length).toBe(1_000)
    expect(new Set(resetCodes(attacker))).toEqual(new Set([refusedStream]))
    expect(await flood(attacker, (i) => headers(4_001 + 2 * i, callFields(CHAT)))).toBe(enhanceYourCalm)
    await running.until(() => running.events.filter((event) => event === 'closed').length === 1_000)
    await isServed(other, 3)
  })

  test('hold no more unfinished messages than the connection may', async () => {
    const { attacker, other } = await start({ partialBytes: 100_000 })
    const half = framed('m'.repeat(20_000)).subarray(0, 15_000)
    for (let i = 0; i < 10; i++) attacker.send(headers(1 + 2 * i, callFields(ECHO)), data(1 + 2 * i, half, 0))
    attacker.send(ping())
    await attacker.next(({ type }) => type === FrameType.ping)
    const refused = attacker.frames.filter(({ type }) => type === FrameType.headers)
    expect(refused.length).toBeGreaterThan(3)
    expect((await attacker.answer(19)).fields).toMatchObject({ 'grpc-status': '8' })
    // Those that hold something can end, and then there is room again.
    attacker.send(data(1, Buffer.alloc(5_005)))
    expect((await attacker.answer(1)).body.length).toBe(20_005)
    await isServed(attacker, 21)
    await isServed(other, 3)
  })
})

describe('a client that does not take its answers', () => {
  test('because its window is 0 loses the calls after a while', async () => {
    const { attacker, other } = await start({ stalledMs: 40 }, settings([INITIAL_WINDOW_SIZE, 0]))
    attacker.send(call(1, ECHO, 'a'), call(3, LARGE, '100'))
    expect([(await attacker.answer(1)).resetCode, (await attacker.answer(3)).resetCode]).toEqual([cancel, cancel])
    await isServed(other, 3)
  })

  test('and has lost them may have as many wait again', async () => {
    const bounds = { stalledMs: 40, queuedBytes: 50_000 }
    const { attacker } = await start(bounds, settings([INITIAL_WINDOW_SIZE, 0]))
    for (const first of [1, 7, 13]) {
      const ids = [first, first + 2, first + 4]
      attacker.send(...ids.map((id) => call(id, LARGE, '20000')))
      const answers = await Promise.all(ids.map((id) => attacker.answer(id)))
      expect(answers.map(({ resetCode }) => resetCode)).toEqual([cancel, cancel, cancel])
    }
  })

  test('because its window is 0 has no more waiting than the bound', async () => {
    const { attacker } = await start({ queuedBytes: 100_000 }, settings([INITIAL_WINDOW_SIZE, 0]))
    for (let i = 0; i < 20; i++) attacker.send(call(1 + 2 * i, LARGE, '20000'))
    expect((await attacker.answer(39)).resetCode).toBe(enhanceYourCalm)
    expect(resetCodes(attacker).length).toBe(15)
    attacker.send(settings([INITIAL_WINDOW_SIZE, 1_000_000]), windowUpdate(0, 1_000_000))
    expect((await attacker.answer(1)).body.length).toBe(20_005)
  })

  test('because it does not read is not read from, and is cut after a while', async () => {
    const greeting = Buffer.concat([settings([INITIAL_WINDOW_SIZE, 2 ** 31 - 1]), windowUpdate(0, 2 ** 30)])
    const { attacker, other } = await start({ stalledMs: 100, queuedBytes: 100_000 }, greeting)
    attacker.socket.pause()
    const asked = 10_000
    attacker.send(...Array.from({ length: asked }, (_, i) => call(1 + 2 * i, LARGE, '10000')))
    await waitUntil(() => running.server.connections === 1)
    const answered = running.answered.filter((each) => each.startsWith(LARGE)).length
    expect(answered).toBeLessThan(asked / 2)
    await isServed(other, 3)
  })

  test('and others that do not either are cut when too much waits for all of them together', async () => {
    const greeting = Buffer.concat([settings([INITIAL_WINDOW_SIZE, 2 ** 31 - 1]), windowUpdate(0, 2 ** 30)])
    const { attacker, other } = await start(
      { lingerMs: 40, queuedBytes: 10_000_000, allQueuedBytes: 100_000 },
      greeting,
    )
    attacker.socket.pause()
    attacker.send(...Array.from({ length: 900 }, (_, i) => call(1 + 2 * i, LARGE, '10000')))
    // Long before `stalledMs`: the sum of all is too much.
    await waitUntil(() => running.server.connections === 1)
    await isServed(other, 3)
  })

  test('for a while gets all of them when it reads again', async () => {
    const greeting = Buffer.concat([settings([INITIAL_WINDOW_SIZE, 2 ** 31 - 1]), windowUpdate(0, 2 ** 30)])
    const { attacker, other } = await start({ queuedBytes: 50_000 }, greeting)
    attacker.socket.pause()
    const message = (i: number) => `${i} `.repeat(2_000)
    attacker.send(...Array.from({ length: 900 }, (_, i) => call(1 + 2 * i, ECHO, message(i))))
    await running.until(() => running.answered.length > 20)
    // What waits for one client is not what another one gets.
    for (let i = 0; i < 50; i++) await isServed(other, 3 + 2 * i)
    attacker.socket.resume()
    for (let i = 0; i < 900; i++)
      expect((await attacker.answer(1 + 2 * i)).body.toString('utf8', 5) === message(i)).toBe(true)
  })
})

describe('a slow client', () => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a part of the preface', PREFACE.subarray(0, 10)],
    ['the preface alone', PREFACE],
    ['a part of its SETTINGS', Buffer.concat([PREFACE, settings([1, 1]).subarray(0, 12)])],
  ])('is cut if it says %s', async (_title, bytes) => {
    running = await startServer({ bounds: { helloMs: 40 } })
    const client = await FrameClient.connect(running.port)
    client.send(bytes)
    await client.closed
    await waitUntil(() => running.server.connections === 0)
  })

  test('is cut if it does not finish the TLS handshake', async () => {
    const { cert, key } = makeCertificate('server')
    running = await startServer({ tls: { cert, key }, bounds: { helloMs: 40 } })
    const socket = connectTcp(running.port, '127.0.0.1')
    socket.resume().on('error', () => {})
    await once(socket, 'close')
    await waitUntil(() => running.server.connections === 0)
  })

  test.each([
    ['header block', headers(1, callFields(ECHO), 0)],
    ['head of a frame', headers(1, callFields(ECHO)).subarray(0, 5)],
    ['frame', headers(1, callFields(ECHO)).subarray(0, 30)],
  ])('is ended if it leaves a %s half-open', async (_title, bytes) => {
    const { attacker, other } = await start({ blockMs: 40 })
    attacker.send(bytes)
    expect(await attacker.goaway()).toBe(enhanceYourCalm)
    await isServed(other, 3)
  })

  test('that sends a frame byte by byte is ended in time', async () => {
    const { attacker } = await start({ blockMs: 60 })
    const drip = async () => {
      for (const byte of data(1, Buffer.alloc(16_000))) {
        if (attacker.isClosed) return
        attacker.send(Buffer.from([byte]))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await Promise.all([drip(), attacker.closed])
    expect(await attacker.goaway()).toBe(enhanceYourCalm)
  })

  test('loses a call whose request does not come', async () => {
    const { attacker, other } = await start({ requestMs: 40 })
    attacker.send(headers(1, callFields(ECHO)), headers(3, callFields(ECHO)), data(3, framed('abc').subarray(0, 6), 0))
    attacker.send(
      headers(5, [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/'],
      ]),
      headers(7, callFields(CHAT)),
    )
    expect((await attacker.answer(1)).fields['grpc-status']).toBe('4')
    expect((await attacker.answer(3)).fields['grpc-status']).toBe('4')
    expect((await attacker.answer(5)).resetCode).toBe(cancel)
    // A stream of messages may be silent.
    attacker.send(data(7, framed('still there'), 0), data(7, Buffer.alloc(0)))
    expect((await attacker.answer(7)).trailers['grpc-status']).toBe('0')
    await isServed(other, 3)
  })

  test('that is idle is asked to leave', async () => {
    const { attacker } = await start({ idleMs: 40 })
    const farewell = await attacker.next(({ type, flags }) => type === FrameType.ping && flags === 0)
    attacker.send(call(1, ECHO, 'not lost'), frame(FrameType.ping, 1, 0, farewell.payload))
    expect((await attacker.answer(1)).body.toString('utf8', 5)).toBe('not lost')
    expect(await attacker.goaway()).toBe(noError)
  })
})

test('a client that calls now and then is not idle', async () => {
  const { attacker } = await start({ idleMs: 400 }, Buffer.concat([settings(), windowUpdate(0, 2 ** 30)]))
  const untilMs = performance.now() + 1_000
  for (let id = 1; performance.now() < untilMs; id += 2) {
    await isServed(attacker, id)
    attacker.frames.length = 0
    expect(attacker.goawayText).toBeUndefined()
  }
})

test('connections beyond the bound are closed, and others go on', async () => {
  const { other } = await start({ connections: 2 })
  const third = await FrameClient.connect(running.port)
  await third.closed
  await isServed(other, 3)
  expect(running.server.connections).toBe(2)
})

test('a connection that was ended does not wait for a client that does not close', async () => {
  const { attacker } = await start({ lingerMs: 30 })
  attacker.socket.pause()
  attacker.send(frame(FrameType.ping, 0, 1, Buffer.alloc(8)))
  await waitUntil(() => running.server.connections === 1)
  expect(running.server.connections).toBe(1)
})

/** Looks at each turn of the event loop. */
async function waitUntil(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

test('GOAWAY says what was wrong', async () => {
  const { attacker } = await start()
  attacker.send(
    headers(1, callFields(ECHO), END_HEADERS),
    frame(FrameType.priority, 0, 3, Buffer.concat([uint32(3), Buffer.alloc(1)])),
  )
  expect(await attacker.goaway()).toBe(protocolError)
  expect(attacker.goawayText).toBe('stream 3 depends on itself')
})
