import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FrameType } from '../../dist/http2/frame-type.js'
import { ErrorCode } from '../../dist/http2/http2-error.js'
import {
  call,
  callFields,
  data,
  END,
  END_HEADERS,
  END_STREAM,
  type Frame,
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
import { type Field, indexed, literal, literals, number, remembered, tableSize } from './hpack-encoding.js'
import { CHAT, ECHO, HELD, LARGE, LATER, startServer, type TestServer } from './test-methods.js'

const HEADER_TABLE_SIZE = 1
const INITIAL_WINDOW_SIZE = 4
const MAX_FRAME_SIZE = 5

let running: TestServer
const clients: FrameClient[] = []

beforeEach(async () => {
  running = await startServer()
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  await running.close()
})

async function open(greeting?: Buffer): Promise<FrameClient> {
  const client = await FrameClient.open(running.port, greeting)
  clients.push(client)
  return client
}

async function echo(client: FrameClient, streamId: number, message = `message ${streamId}`): Promise<void> {
  client.send(call(streamId, ECHO, message))
  const { body, trailers } = await client.answer(streamId)
  expect(body.toString('utf8', 5)).toBe(message)
  expect(trailers['grpc-status']).toBe('0')
}

const dataBytes = (client: FrameClient) =>
  client.frames.filter(({ type }) => type === FrameType.data).reduce((sum, { payload }) => sum + payload.length, 0)

describe('what comes', () => {
  test('may be cut anywhere', async () => {
    const client = await FrameClient.connect(running.port)
    clients.push(client)
    const bytes = Buffer.concat([PREFACE, settings(), call(1, ECHO, 'one'), ping(), call(3, ECHO, 'two')])
    for (const byte of bytes) {
      client.send(Buffer.from([byte]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await client.answer(1)).body.toString('utf8', 5)).toBe('one')
    expect((await client.answer(3)).body.toString('utf8', 5)).toBe('two')
  })

  test('is answered in one write, if it came in one read', async () => {
    const client = await open()
    let reads = 0
    client.socket.on('data', () => reads++)
    client.send(...Array.from({ length: 50 }, (_, i) => call(1 + 2 * i, ECHO, `${i}`)))
    await client.answer(99)
    expect(reads).toBe(1)
    for (let i = 0; i < 50; i++) expect((await client.answer(1 + 2 * i)).body.toString('utf8', 5)).toBe(`${i}`)
  })

  test('answers of promises that settle together leave in one write', async () => {
    const client = await open()
    let reads = 0
    client.socket.on('data', () => reads++)
    client.send(...Array.from({ length: 50 }, (_, i) => call(1 + 2 * i, LATER, `${i}`)))
    await client.answer(99)
    expect(reads).toBe(1)
  })

  test('may have padding and priorities, which change nothing', async () => {
    const client = await open()
    const block = literals(callFields(ECHO))
    const padded = Buffer.concat([Buffer.from([4]), uint32(0), Buffer.from([200]), block, Buffer.alloc(4)])
    client.send(
      frame(FrameType.priority, 0, 7, Buffer.concat([uint32(3), Buffer.from([1])])),
      frame(FrameType.headers, END_HEADERS | 0x8 | 0x20, 1, padded),
      frame(FrameType.data, 0x8, 1, Buffer.concat([Buffer.from([3]), framed('abc').subarray(0, 6), Buffer.alloc(3)])),
      frame(FrameType.data, 0x8 | 1, 1, Buffer.concat([Buffer.from([0]), framed('abc').subarray(6)])),
    )
    expect((await client.answer(1)).body.toString('utf8', 5)).toBe('abc')
  })

  test('may have header blocks of many parts, and trailers', async () => {
    const client = await open()
    const block = literals(callFields(ECHO))
    const parts = [block.subarray(0, 1), block.subarray(1, 20), Buffer.alloc(0), block.subarray(20)]
    client.send(
      frame(FrameType.headers, 0, 1, parts[0]),
      frame(FrameType.continuation, 0, 1, parts[1]),
      frame(FrameType.continuation, 0, 1, parts[2]),
      frame(FrameType.continuation, END_HEADERS, 1, parts[3]),
      data(1, framed('abc'), 0),
      headers(1, [['some', 'trailer']], END),
    )
    expect((await client.answer(1)).body.toString('utf8', 5)).toBe('abc')
  })

  test('may end a call that has begun as trailers only, without a message', async () => {
    const client = await open()
    client.send(headers(1, callFields(ECHO), END))
    expect((await client.answer(1)).trailers).toMatchObject({ 'grpc-status': '12' })
  })

  test('may have frames and settings of unknown types', async () => {
    const client = await open(settings([0x99, 1], [0x6, 5]))
    client.send(frame(0x77, 0xff, 0, Buffer.alloc(20)), frame(0x77, 0, 5, Buffer.alloc(2)), ping())
    const { payload } = await client.next(({ type, flags }) => type === FrameType.ping && flags === 1)
    expect(payload.toString()).toBe('12345678')
    await echo(client, 1)
  })
})

describe('header blocks', () => {
  const numbers = (...indices: readonly number[]) => Buffer.concat(indices.map(indexed))
  const rest = Buffer.concat([literal(':scheme', 'http'), literal('content-type', 'application/grpc')])
  const unary = (streamId: number, block: Buffer, message: string) =>
    Buffer.concat([frame(FrameType.headers, END_HEADERS, streamId, block), data(streamId, framed(message))])

  test('that are equal mean something else when the table has changed', async () => {
    const client = await open()
    const newest = Buffer.concat([numbers(3), indexed(62), rest])
    client.send(
      unary(1, Buffer.concat([numbers(3), remembered(':path', ECHO), rest]), 'first'),
      unary(3, newest, 'second'),
      unary(5, newest, 'third'),
      unary(7, Buffer.concat([numbers(3), remembered(':path', '/no.Such/Method'), rest]), ''),
      unary(9, newest, ''),
      unary(11, newest, ''),
      unary(13, Buffer.concat([numbers(3), indexed(63), rest]), 'fourth'),
    )
    await client.answer(13)
    const statuses = [1, 3, 5, 7, 9, 11, 13].map(async (id) => (await client.answer(id)).trailers['grpc-status'])
    expect(await Promise.all(statuses)).toEqual(['0', '0', '0', '12', '12', '12', '0'])
  })

  test('that were remembered are wrong when the table was emptied', async () => {
    const client = await open()
    const newest = Buffer.concat([numbers(3), indexed(62), rest])
    client.send(unary(1, Buffer.concat([numbers(3), remembered(':path', ECHO), rest]), ''))
    client.send(unary(3, newest, ''), unary(5, newest, ''))
    await client.answer(5)
    client.send(unary(7, Buffer.concat([tableSize(0), numbers(3), literal(':path', ECHO), rest]), ''))
    await client.answer(7)
    client.send(unary(9, newest, ''))
    expect(await client.goaway()).toBe(ErrorCode.compressionError)
  })

  test('of calls that are refused or cancelled still change the table', async () => {
    const client = await open()
    const ends = frame(FrameType.headers, END, 1, Buffer.concat([numbers(2), remembered(':path', ECHO), rest]))
    // Stream 3 is reset by the server, and the client goes on with it.
    client.send(ends, call(3, '/no.Such/Method'))
    await client.answer(3)
    client.send(headers(5, callFields('/no.Such/Method')))
    await client.next(({ type, streamId }) => type === FrameType.rstStream && streamId === 5)
    client.send(frame(FrameType.headers, END, 5, remembered('x-trailer', 'a')))
    client.send(unary(7, Buffer.concat([numbers(3, 63), rest]), 'known'))
    expect((await client.answer(7)).body.toString('utf8', 5)).toBe('known')
  })

  test('of answers fit a client with a table of any size', async () => {
    for (const bytes of [0, 50, 104, 4_095, 4_096, 65_536]) {
      const client = await open(settings([HEADER_TABLE_SIZE, bytes]))
      for (const id of [1, 3, 5]) await echo(client, id)
      client.send(settings([HEADER_TABLE_SIZE, 10], [HEADER_TABLE_SIZE, 4_096]))
      for (const id of [7, 9]) await echo(client, id)
      client.send(call(11, '/no.Such/Method'), call(13, ECHO, 'last'))
      expect((await client.answer(11)).fields).toMatchObject({ ':status': '200', 'grpc-status': '12' })
      expect((await client.answer(13)).fields).toEqual({ ':status': '200', 'content-type': 'application/grpc' })
      const blocks = client.frames.filter(({ type }) => type === FrameType.headers).map(({ payload }) => payload)
      // The first block after the table shrank says so.
      expect(blocks[6][0]).toBe(bytes < 4_096 ? 0x88 : 0x20)
      if (bytes < 4_096) expect(blocks[0][0]).toBe(0x20)
    }
  })

  test('of answers are three bytes together when the client knows them', async () => {
    const client = await open()
    for (const id of [1, 3]) await echo(client, id)
    const lengths = client.frames.filter(({ type }) => type === FrameType.headers).map(({ payload }) => payload.length)
    expect(lengths.slice(2)).toEqual([2, 1])
  })
})

describe('flow control', () => {
  test('sends no more than the windows of the stream and of the connection allow', async () => {
    const client = await open(settings([INITIAL_WINDOW_SIZE, 10]))
    client.send(call(1, LARGE, '100'))
    await client.until(() => dataBytes(client) === 10)
    client.send(windowUpdate(1, 1), ping())
    await client.next(({ type }) => type === FrameType.ping)
    expect(dataBytes(client)).toBe(11)
    client.send(settings([INITIAL_WINDOW_SIZE, 0]), windowUpdate(1, 9), ping())
    await client.until(() => client.frames.filter(({ type }) => type === FrameType.ping).length === 2)
    // 20 bytes are allowed, 11 sent, 10 taken back: the window is -1.
    expect(dataBytes(client)).toBe(11)
    client.send(settings([INITIAL_WINDOW_SIZE, 1_000_000]))
    expect((await client.answer(1)).body.length).toBe(105)
    client.send(call(3, LARGE, '70000'))
    await client.until(() => dataBytes(client) === 65_535)
    client.send(windowUpdate(0, 2 ** 31 - 1))
    expect((await client.answer(3)).body.length).toBe(70_005)
  })

  test('counts small answers as well', async () => {
    const client = await open()
    for (let i = 0; i < 100; i++) client.send(call(1 + 2 * i, ECHO, 'm'.repeat(995)))
    client.send(ping())
    await client.next(({ type }) => type === FrameType.ping)
    expect(dataBytes(client)).toBe(65_535)
    client.send(windowUpdate(0, 100_000))
    for (let i = 0; i < 100; i++) expect((await client.answer(1 + 2 * i)).body.length).toBe(1_000)
    expect(dataBytes(client)).toBe(100_000)
  })

  test('does not hold up calls that have a window', async () => {
    const client = await open(settings([INITIAL_WINDOW_SIZE, 0]))
    client.send(call(1, ECHO, 'one'), call(3, ECHO, 'two'), windowUpdate(3, 100))
    expect((await client.answer(3)).body.toString('utf8', 5)).toBe('two')
    client.send(windowUpdate(1, 100))
    expect((await client.answer(1)).body.toString('utf8', 5)).toBe('one')
  })

  test('splits frames, and takes a frame of the largest size', async () => {
    const client = await open(settings([MAX_FRAME_SIZE, 16_777_215], [INITIAL_WINDOW_SIZE, 1_000_000]))
    client.send(headers(1, callFields(ECHO)), data(1, framed('x'.repeat(16_379))))
    const { body } = await client.answer(1)
    expect(body.length).toBe(16_384)
    client.send(call(3, LARGE, '20000'))
    await client.answer(3)
    const lengths = client.frames.filter(({ type, streamId }) => type === FrameType.data && streamId === 3)
    expect(lengths.map(({ payload }) => payload.length)).toEqual([16_384, 3_621])
  })

  test('allows a client to send for ever', async () => {
    const client = await open(settings([INITIAL_WINDOW_SIZE, 2 ** 31 - 1]))
    client.send(headers(1, callFields(CHAT)), windowUpdate(0, 2 ** 30))
    const part = framed('m'.repeat(10_000))
    let streamWindow = 262_144
    let window = 1_048_576
    let at = 0
    const credit = () => {
      for (const { type, streamId, payload } of client.frames.slice(at)) {
        if (type === FrameType.windowUpdate && streamId === 1) streamWindow += payload.readUInt32BE()
        if (type === FrameType.windowUpdate && streamId === 0) window += payload.readUInt32BE()
      }
      at = client.frames.length
      return Math.min(window, streamWindow) >= part.length
    }
    // The first update of the connection is part of the greeting.
    window -= 1_048_576 - 65_535
    for (let i = 0; i < 300; i++) {
      await client.until(credit)
      client.send(data(1, part, 0))
      streamWindow -= part.length
      window -= part.length
    }
    client.send(data(1, Buffer.alloc(0)))
    expect((await client.answer(1)).body.length).toBe(300 * part.length)
  })
})

test('a request that is no call is answered before its end, if it has none', async () => {
  const client = await open()
  client.send(
    headers(1, [
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', '/upload'],
    ]),
  )
  for (let i = 0; i < 8; i++) client.send(data(1, Buffer.alloc(16_384), 0))
  const { fields, resetCode } = await client.answer(1)
  expect([fields[':status'], resetCode ?? ErrorCode.noError]).toEqual(['415', ErrorCode.noError])
  client.send(data(1, Buffer.alloc(16_384), 0))
  await echo(client, 3)
})

test('a request that is no call is answered once, however it goes on', async () => {
  const client = await open(settings([INITIAL_WINDOW_SIZE, 0]))
  const fields: Field[] = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', '/upload'],
  ]
  client.send(headers(1, fields))
  for (let i = 0; i < 20; i++) client.send(data(1, Buffer.alloc(16_384), i === 19 ? END_STREAM : 0))
  client.send(windowUpdate(1, 1_000))
  expect((await client.answer(1)).body.toString()).toMatch('application/grpc')
  expect(client.frames.filter(({ type }) => type === FrameType.headers).length).toBe(1)
})

describe('a fault of one call resets it, and others go on', () => {
  const wrongFields: [string, Field[]][] = [
    ['upper case in a name', callFields(ECHO, ['X-Name', 'a'])],
    ['a name with a space', callFields(ECHO, ['x name', 'a'])],
    ['an empty name', callFields(ECHO, ['', 'a'])],
    ['a line break in a value', callFields(ECHO, ['x-name', 'a\nb'])],
    ['a NUL in a value', callFields(ECHO, ['x-name', 'a\0b'])],
    ['a space around a value', callFields(ECHO, ['x-name', ' a'])],
    ['a field of HTTP/1', callFields(ECHO, ['connection', 'close'])],
    ['another te', callFields(ECHO, ['te', 'gzip'])],
    ['two paths', callFields(ECHO, [':path', ECHO])],
    ['a pseudo field behind others', [...callFields(ECHO).slice(0, 3), ['te', 'trailers'], [':authority', 'a']]],
    ['a pseudo field of an answer', [[':status', '200'], ...callFields(ECHO)]],
    ['no path', callFields(ECHO).filter(([name]) => name !== ':path')],
    ['an empty path', callFields('')],
    ['no scheme', callFields(ECHO).filter(([name]) => name !== ':scheme')],
    ['no method', callFields(ECHO).filter(([name]) => name !== ':method')],
    ['a length that is no number', callFields(ECHO, ['content-length', '-1'])],
    ['two lengths', callFields(ECHO, ['content-length', '6'], ['content-length', '7'])],
  ]

  test.each(wrongFields)('PROTOCOL_ERROR: %s', async (_title, fields) => {
    const client = await open()
    client.send(headers(1, fields), data(1, framed('a')))
    expect((await client.answer(1)).resetCode).toBe(ErrorCode.protocolError)
    expect(running.echoed()).toBe(0)
    await echo(client, 3)
  })

  test.each<[string, number, Buffer[]]>([
    [
      'a body that is shorter than its length',
      1,
      [headers(1, callFields(ECHO, ['content-length', '7'])), data(1, framed('a'))],
    ],
    [
      'a body that is longer than its length',
      1,
      [headers(1, callFields(ECHO, ['content-length', '5'])), data(1, framed('a'))],
    ],
    ['no body, and a length', 1, [headers(1, callFields(ECHO, ['content-length', '5']), END)]],
    ['trailers that do not end the stream', 1, [headers(1, callFields(ECHO)), headers(1, [['a', 'b']])]],
    ['trailers with a pseudo field', 1, [headers(1, callFields(ECHO)), headers(1, [[':path', 'b']], END)]],
    ['a window that grows by nothing', 1, [headers(1, callFields(ECHO)), windowUpdate(1, 0)]],
    ['a window that is too large', 3, [headers(1, callFields(ECHO)), windowUpdate(1, 2 ** 31 - 1)]],
    ['DATA after the end', 5, [call(1, HELD), data(1, framed('a'))]],
    ['HEADERS after the end', 5, [call(1, HELD), headers(1, callFields(ECHO))]],
  ])('%s (error %i)', async (_title, code, frames) => {
    const client = await open()
    client.send(...frames)
    expect((await client.answer(1)).resetCode).toBe(code)
    await echo(client, 3)
  })
})

describe('a fault of the connection ends it with its code', () => {
  const greeted = (...frames: Buffer[]) => [PREFACE, settings(), ...frames]
  const { protocolError, frameSizeError, flowControlError, compressionError, streamClosed } = ErrorCode

  test.each<[string, number, Buffer[]]>([
    ['no preface', protocolError, [Buffer.from('this is another protocol')]],
    ['no SETTINGS', protocolError, [PREFACE, ping()]],
    ['an acknowledgement first', protocolError, [PREFACE, frame(FrameType.settings, 1, 0)]],
    ['a frame that is too large', frameSizeError, greeted(frame(FrameType.data, 0, 1, Buffer.alloc(16_385)))],
    ['HEADERS on no stream', protocolError, greeted(headers(0, callFields(ECHO)))],
    ['HEADERS on a stream of the server', protocolError, greeted(headers(2, callFields(ECHO)))],
    [
      'HEADERS on a stream that was skipped',
      protocolError,
      greeted(headers(5, callFields(HELD)), headers(3, callFields(ECHO))),
    ],
    ['HEADERS on a stream that has ended', streamClosed, greeted(call(1, ECHO), headers(1, callFields(ECHO)))],
    [
      'HEADERS that end inside their priority',
      frameSizeError,
      greeted(frame(FrameType.headers, 0x24, 1, Buffer.alloc(3))),
    ],
    ['HEADERS with too much padding', protocolError, greeted(frame(FrameType.headers, 0xc, 1, Buffer.from([9, 1])))],
    ['HEADERS padded by nothing', frameSizeError, greeted(frame(FrameType.headers, 0xc, 1))],
    [
      'HEADERS that depend on themselves',
      protocolError,
      greeted(frame(FrameType.headers, 0x24, 1, Buffer.concat([uint32(1), Buffer.alloc(1)]))),
    ],
    ['DATA on no stream', protocolError, greeted(data(0, Buffer.alloc(0)))],
    ['DATA on a stream that was never opened', protocolError, greeted(data(1, Buffer.alloc(0)))],
    ['DATA on a stream that has ended', streamClosed, greeted(call(1, ECHO), data(1, Buffer.alloc(0)))],
    ['DATA after RST_STREAM', streamClosed, greeted(headers(1, callFields(ECHO)), reset(1), data(1, Buffer.alloc(0)))],
    [
      'DATA with too much padding',
      protocolError,
      greeted(headers(1, callFields(ECHO)), frame(FrameType.data, 8, 1, Buffer.from([1]))),
    ],
    ['a block that is interrupted', protocolError, greeted(headers(1, callFields(ECHO), 0), ping())],
    [
      'a block that another stream continues',
      protocolError,
      greeted(headers(1, callFields(ECHO), 0), frame(FrameType.continuation, 4, 3)),
    ],
    ['CONTINUATION of nothing', protocolError, greeted(frame(FrameType.continuation, 4, 1))],
    ['a block that is not HPACK', compressionError, greeted(frame(FrameType.headers, END, 1, Buffer.from([0x80])))],
    [
      'trailers that are not HPACK',
      compressionError,
      greeted(headers(1, callFields(ECHO)), frame(FrameType.headers, END, 1, number(99, 7, 0x80))),
    ],
    ['PRIORITY of a wrong length', frameSizeError, greeted(frame(FrameType.priority, 0, 1, Buffer.alloc(4)))],
    ['PRIORITY of no stream', protocolError, greeted(frame(FrameType.priority, 0, 0, Buffer.alloc(5)))],
    [
      'PRIORITY of itself',
      protocolError,
      greeted(frame(FrameType.priority, 0, 3, Buffer.concat([uint32(3), Buffer.alloc(1)]))),
    ],
    ['RST_STREAM of a wrong length', frameSizeError, greeted(frame(FrameType.rstStream, 0, 1, Buffer.alloc(5)))],
    ['RST_STREAM on no stream', protocolError, greeted(reset(0))],
    ['RST_STREAM on a stream that was never opened', protocolError, greeted(reset(1))],
    ['SETTINGS on a stream', protocolError, greeted(frame(FrameType.settings, 0, 1))],
    ['SETTINGS of a wrong length', frameSizeError, greeted(frame(FrameType.settings, 0, 0, Buffer.alloc(5)))],
    [
      'an acknowledgement that says something',
      frameSizeError,
      greeted(frame(FrameType.settings, 1, 0, Buffer.alloc(6))),
    ],
    ['SETTINGS with a push that is neither on nor off', protocolError, greeted(settings([2, 2]))],
    ['SETTINGS with a window that is too large', flowControlError, greeted(settings([4, 2 ** 31]))],
    ['SETTINGS with frames that are too small', protocolError, greeted(settings([5, 16_383]))],
    ['SETTINGS with frames that are too large', protocolError, greeted(settings([5, 2 ** 24]))],
    [
      'SETTINGS that make a window too large',
      flowControlError,
      greeted(headers(1, callFields(CHAT)), windowUpdate(1, 2 ** 31 - 65_536), settings([4, 65_536])),
    ],
    ['PUSH_PROMISE', protocolError, greeted(frame(FrameType.pushPromise, 4, 1, Buffer.alloc(4)))],
    ['PING on a stream', protocolError, greeted(frame(FrameType.ping, 0, 1, Buffer.alloc(8)))],
    ['PING of a wrong length', frameSizeError, greeted(frame(FrameType.ping, 0, 0, Buffer.alloc(7)))],
    ['GOAWAY on a stream', protocolError, greeted(frame(FrameType.goaway, 0, 1, Buffer.alloc(8)))],
    ['GOAWAY of a wrong length', frameSizeError, greeted(frame(FrameType.goaway, 0, 0, Buffer.alloc(7)))],
    ['WINDOW_UPDATE of a wrong length', frameSizeError, greeted(frame(FrameType.windowUpdate, 0, 0, Buffer.alloc(3)))],
    ['WINDOW_UPDATE by nothing', protocolError, greeted(windowUpdate(0, 0))],
    ['WINDOW_UPDATE beyond the largest window', flowControlError, greeted(windowUpdate(0, 2 ** 31 - 1))],
    ['WINDOW_UPDATE on a stream that was never opened', protocolError, greeted(windowUpdate(1, 1))],
  ])('%s (error %i)', async (_title, code, frames) => {
    const other = await open()
    const client = await FrameClient.connect(running.port)
    clients.push(client)
    client.send(...frames)
    expect(await client.goaway()).toBe(code)
    expect(client.goawayText).not.toBe('')
    await echo(other, 1)
    expect(running.faults).toEqual([])
  })
})

describe('GOAWAY of a server that closes', () => {
  const goaways = (client: FrameClient) => client.frames.filter(({ type }: Frame) => type === FrameType.goaway)
  const lastIds = (client: FrameClient) => goaways(client).map(({ payload }) => payload.readUInt32BE())

  test('names the last call when the client has heard of it, and later calls are refused', async () => {
    const client = await open()
    client.send(call(1, HELD))
    await running.until(() => running.held.length === 1)
    const closing = running.close(10_000)
    const farewell = await client.next(({ type, flags }) => type === FrameType.ping && flags === 0)
    expect(lastIds(client)).toEqual([2 ** 31 - 1])
    // This call left before the client heard.
    client.send(call(3, ECHO, 'still'), frame(FrameType.ping, 1, 0, farewell.payload))
    expect((await client.answer(3)).body.toString('utf8', 5)).toBe('still')
    await client.until(() => goaways(client).length === 2)
    expect(lastIds(client)).toEqual([2 ** 31 - 1, 3])
    client.send(call(5, ECHO, 'late'))
    expect((await client.answer(5)).resetCode).toBe(ErrorCode.refusedStream)
    running.held[0].resolve(Buffer.from('done'))
    expect((await client.answer(1)).body.toString('utf8', 5)).toBe('done')
    await closing
    expect(client.isClosed || (await client.goaway()) === ErrorCode.noError).toBe(true)
  })
})

test('a client may end a stream by an empty frame, and a message may be empty', async () => {
  const client = await open()
  client.send(headers(1, callFields(ECHO)), data(1, framed(''), 0), data(1, Buffer.alloc(0), END_STREAM))
  expect((await client.answer(1)).body).toEqual(framed(''))
})
