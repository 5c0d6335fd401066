import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { credentials, type ServiceError, status } from '@grpc/grpc-js'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GRPC_STATUS, GrpcError } from '../../src/grpc/grpc-error.js'
import type { GrpcMethod, StreamCall, StreamHandler } from '../../src/grpc/grpc-method.js'
import type { GrpcServerOptions } from '../../src/grpc/grpc-server.js'
import { framed } from '../../src/grpc/message-reader.js'
import { NodeGrpcServer } from '../../src/grpc/node-grpc-server.js'
import { AUTHORITY, CLIENT_CERTIFICATE, CLIENT_KEY, SERVER_CERTIFICATE, SERVER_KEY } from './certificates.js'
import { GrpcClient, until } from './grpc-client.js'

const HEAD = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Calls of `late` that wait for their answer. */
let waiting: ((answer: Uint8Array | Error) => void)[]
let streams: { call: StreamCall; handler: { [Name in keyof StreamHandler]: ReturnType<typeof vi.fn> } }[]
const fault = vi.fn()
const answered = vi.fn()

const METHODS = new Map<string, GrpcMethod>([
  ['/test.Test/Echo', { kind: 'unary', answer: (message) => Buffer.from(message) }],
  [
    '/test.Test/Late',
    {
      kind: 'unary',
      answer: () =>
        new Promise((resolve, reject) => {
          waiting.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)))
        }),
    },
  ],
  [
    '/test.Test/Refuse',
    {
      kind: 'unary',
      answer: (message) => {
        throw new GrpcError(GRPC_STATUS.invalidArgument, Buffer.from(message).toString())
      },
    },
  ],
  [
    '/test.Test/Fail',
    {
      kind: 'unary',
      answer: () => {
        throw new TypeError('a secret of the server')
      },
    },
  ],
  [
    '/test.Test/Talk',
    {
      kind: 'stream',
      open(call) {
        const handler = { message: vi.fn(), clientEnded: vi.fn(), closed: vi.fn() }
        streams.push({ call, handler })
        return handler
      },
    },
  ],
])

beforeEach(() => {
  waiting = []
  streams = []
  fault.mockReset()
  answered.mockReset()
})

async function serve(options: Partial<GrpcServerOptions> = {}) {
  const server = new NodeGrpcServer({ methods: METHODS, fault, answered, ...options })
  const port = await server.listen('127.0.0.1', 0)
  closers.push(() => server.close(0))
  return { server, port }
}

async function serveClient(options?: Partial<GrpcServerOptions>) {
  const { server, port } = await serve(options)
  const client = new GrpcClient(port)
  closers.push(() => client.close())
  return { server, port, client }
}

/** A connection of HTTP/2 that knows nothing of gRPC. */
function openSession(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  closers.push(() => session.destroy())
  return session
}

/** Head, body and trailers of an answer. */
async function read(stream: ClientHttp2Stream) {
  const parts: Buffer[] = []
  let head: object = {}
  let trailers: object = {}
  stream.on('response', (fields) => {
    head = { ...fields }
  })
  stream.on('trailers', (fields) => {
    trailers = { ...fields }
  })
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.on('error', () => {})
  await once(stream, 'close')
  return { head, trailers, body: Buffer.concat(parts), resetCode: stream.rstCode }
}

describe('a unary call', () => {
  it('is answered with its message, also an empty and a large one', async () => {
    const { client } = await serveClient()
    for (const size of [0, 1, 300, 16_384, 70_000, 1024 * 1024]) {
      const message = Buffer.alloc(size, 7)
      expect((await client.unary('/test.Test/Echo', message)).equals(message)).toBe(true)
    }
    expect(answered.mock.calls.map(([path, code]) => [path, code])).toEqual(Array(6).fill(['/test.Test/Echo', 0]))
    for (const [, , ms] of answered.mock.calls) expect(ms).toBeGreaterThanOrEqual(0)
  })

  it('is answered later, while others are answered', async () => {
    const { client } = await serveClient()
    const late = client.unary('/test.Test/Late', Buffer.from('a'))
    await until(() => waiting.length === 1)
    await client.unary('/test.Test/Echo', Buffer.from('b'))
    waiting[0](Buffer.from('done'))
    expect((await late).toString()).toBe('done')
  })

  it('gets an error as status and text, whatever the text', async () => {
    const { client } = await serveClient()
    for (const text of ['plain', '100 % über\r\n\u0000 漢字 🙂', ''])
      expect(await client.failure('/test.Test/Refuse', Buffer.from(text))).toEqual([status.INVALID_ARGUMENT, text])
    const long = await client.failure('/test.Test/Refuse', Buffer.alloc(5_000, 'x'))
    expect(long[1]).toBe(`${'x'.repeat(1_023)}…`)
    expect(fault).not.toHaveBeenCalled()
  })

  it('gets INTERNAL without the text if the server fails, and the server hears of it', async () => {
    const { client } = await serveClient()
    const [code, text] = await client.failure('/test.Test/Fail', Buffer.alloc(1))
    expect([code, text]).toEqual([status.INTERNAL, expect.not.stringContaining('secret')])
    const late = client.failure('/test.Test/Late', Buffer.alloc(1))
    await until(() => waiting.length === 1)
    waiting[0](new Error('another secret'))
    expect((await late)[0]).toBe(status.INTERNAL)
    expect(fault.mock.calls.map(([error]) => error.message)).toEqual(['a secret of the server', 'another secret'])
  })

  it('of a method that does not exist is UNIMPLEMENTED', async () => {
    const { client } = await serveClient()
    expect(await client.failure('/test.Test/Nothing', Buffer.alloc(9))).toEqual([
      status.UNIMPLEMENTED,
      'there is no method /test.Test/Nothing',
    ])
  })

  it('ends when its deadline passes, and one that comes too late is not decided', async () => {
    const { client, port } = await serveClient()
    const [code] = await client.failure('/test.Test/Late', Buffer.alloc(1), { timeoutMs: 60 })
    expect(code).toBe(status.DEADLINE_EXCEEDED)
    const stream = openSession(port).request({ ...HEAD, ':path': '/test.Test/Late', 'grpc-timeout': '40m' })
    stream.write(framed(Buffer.from('x')))
    const { head } = await read(stream)
    expect(head).toMatchObject({ 'grpc-status': '4', 'grpc-message': 'the deadline of the call has passed' })
    const late = openSession(port).request({ ...HEAD, ':path': '/test.Test/Echo', 'grpc-timeout': '1n' })
    late.end(framed(Buffer.from('x')))
    expect((await read(late)).head).toMatchObject({ 'grpc-status': '4' })
    await until(() => answered.mock.calls.length === 3)
    expect(waiting).toHaveLength(1)
  })

  it('with a malformed timeout is refused', async () => {
    const { port } = await serve()
    const session = openSession(port)
    for (const timeout of ['20', 'm', '123456789m', '-1m', '1.5S', '20x']) {
      const stream = session.request({ ...HEAD, ':path': '/test.Test/Echo', 'grpc-timeout': timeout })
      stream.end(framed(Buffer.from('x')))
      expect((await read(stream)).head).toMatchObject({ 'grpc-status': '3' })
    }
  })

  it('that is compressed is UNIMPLEMENTED, and with a wrong prefix INTERNAL', async () => {
    const { port } = await serve()
    const session = openSession(port)
    const ask = async (flag: number, fields: object) => {
      const stream = session.request({ ...HEAD, ':path': '/test.Test/Echo', ...fields })
      const bytes = framed(Buffer.from('x'))
      bytes[0] = flag
      stream.end(bytes)
      return ((await read(stream)).head as Record<string, string>)['grpc-status']
    }
    expect(await ask(1, { 'grpc-encoding': 'gzip' })).toBe('12')
    expect(await ask(1, {})).toBe('13')
    expect(await ask(2, {})).toBe('13')
    expect(await ask(0, { 'grpc-encoding': 'gzip' })).toBeUndefined()
  })

  it('with no message, several messages or half a message is refused', async () => {
    const { port } = await serve()
    const session = openSession(port)
    const ask = async (body: Buffer | undefined) => {
      const stream = session.request({ ...HEAD, ':path': '/test.Test/Echo' }, { endStream: body === undefined })
      if (body !== undefined) stream.end(body)
      const { 'grpc-status': code, 'grpc-message': text } = (await read(stream)).head as Record<string, string>
      return [code, text]
    }
    const one = framed(Buffer.from('abc'))
    expect(await ask(undefined)).toEqual(['12', 'the method takes one message, got none'])
    expect(await ask(Buffer.alloc(0))).toEqual(['12', 'the method takes one message, got none'])
    expect(await ask(Buffer.concat([one, one]))).toEqual(['12', 'the method takes one message, got several'])
    expect(await ask(one.subarray(0, 6))).toEqual(['13', 'the call ends within a message'])
    expect(await ask(one.subarray(0, 3))).toEqual(['13', 'the call ends within a message'])
  })

  it('that comes byte by byte is answered', async () => {
    const { port } = await serve()
    const stream = openSession(port).request({ ...HEAD, ':path': '/test.Test/Echo' })
    const answer = read(stream)
    const bytes = framed(Buffer.from('hello'))
    for (const byte of bytes) {
      stream.write(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    stream.end()
    const { body, trailers } = await answer
    expect([body.equals(bytes), trailers]).toEqual([true, expect.objectContaining({ 'grpc-status': '0' })])
  })

  it('that is too large is refused before it has come', async () => {
    const { port } = await serve()
    const stream = openSession(port).request({ ...HEAD, ':path': '/test.Test/Echo' })
    stream.write(Buffer.from([0, 0, 0x10, 0, 1]))
    const { head, resetCode } = await read(stream)
    expect(head).toMatchObject({
      'grpc-status': '8',
      'grpc-message': 'received message larger than max (1048577 vs. 1048576)',
    })
    expect(resetCode).toBe(constants.NGHTTP2_NO_ERROR)
  })

  it('has the fields of gRPC and nothing else', async () => {
    const { port } = await serve()
    const stream = openSession(port).request({
      ...HEAD,
      ':path': '/test.Test/Echo',
      'content-type': 'application/grpc+proto',
    })
    stream.end(framed(Buffer.from('x')))
    const { head, trailers } = await read(stream)
    expect(Object.entries(head)).toEqual(Object.entries({ ':status': 200, 'content-type': 'application/grpc' }))
    expect(Object.entries(trailers)).toEqual([['grpc-status', '0']])
  })
})

it('a request that is no call of gRPC gets a status of HTTP', async () => {
  const { port } = await serve()
  const session = openSession(port)
  const ask = async (fields: object) => {
    const stream = session.request({ ...HEAD, ':path': '/test.Test/Echo', ...fields })
    stream.end()
    return (await read(stream)).head
  }
  expect(await ask({ ':method': 'GET' })).toMatchObject({ ':status': 405, allow: 'POST' })
  expect(await ask({ 'content-type': 'application/json' })).toMatchObject({ ':status': 415 })
  expect(await ask({ 'content-type': 'application/grpc-web' })).toMatchObject({ ':status': 415 })
})

describe('a call of many messages', () => {
  it('gets and sends messages until the server ends it', async () => {
    const { client } = await serveClient()
    const stream = client.bidiStream('/test.Test/Talk')
    const got: string[] = []
    stream.on('data', (message: Buffer) => got.push(message.toString()))
    stream.write(Buffer.from('one'))
    stream.write(Buffer.from('two'))
    await until(() => streams[0]?.handler.message.mock.calls.length === 2)
    expect(streams[0].handler.message.mock.calls.map(([message]) => Buffer.from(message).toString())).toEqual([
      'one',
      'two',
    ])
    streams[0].call.send(Buffer.from('first'))
    streams[0].call.send(Buffer.from('second'))
    await until(() => got.length === 2)
    stream.end()
    await until(() => streams[0].handler.clientEnded.mock.calls.length === 1)
    const ended = once(stream, 'status')
    streams[0].call.end()
    expect((await ended)[0].code).toBe(status.OK)
    expect(got).toEqual(['first', 'second'])
    expect(streams[0].handler.closed).toHaveBeenCalledTimes(1)
    streams[0].call.send(Buffer.from('ignored'))
    streams[0].call.end()
  })

  it('ends with an error before and after the first message', async () => {
    const { client } = await serveClient()
    for (const [i, isEarly] of [true, false].entries()) {
      const stream = client.serverStream('/test.Test/Talk', Buffer.from('x'))
      stream.on('data', () => {})
      const failed = once(stream, 'error')
      await until(() => streams.length === i + 1)
      if (!isEarly) streams[i].call.send(Buffer.from('x'))
      streams[i].call.end(new GrpcError(GRPC_STATUS.notFound, 'it is gone'))
      const [error] = (await failed) as [ServiceError]
      expect([error.code, error.details]).toEqual([status.NOT_FOUND, 'it is gone'])
    }
  })

  it('is told once when the client cancels or its connection is lost', async () => {
    const { client } = await serveClient()
    const stream = client.bidiStream('/test.Test/Talk')
    stream.on('error', () => {})
    await until(() => streams.length === 1)
    stream.cancel()
    await until(() => streams[0].handler.closed.mock.calls.length === 1)
    const other = client.bidiStream('/test.Test/Talk')
    other.on('error', () => {})
    await until(() => streams.length === 2)
    client.close()
    other.cancel()
    await until(() => streams[1].handler.closed.mock.calls.length === 1)
    expect(answered.mock.calls.map(([, code]) => code)).toEqual([status.CANCELLED, status.CANCELLED])
  })

  it('is cut if the client reads nothing, and the server keeps no more than a mebibyte for it', async () => {
    const { port } = await serve()
    const session = openSession(port)
    const stream = session.request({ ...HEAD, ':path': '/test.Test/Talk' })
    stream.on('error', () => {})
    stream.pause()
    await until(() => streams.length === 1)
    for (let i = 0; i < 40; i++) streams[0].call.send(Buffer.alloc(64 * 1024))
    expect(streams[0].handler.closed).toHaveBeenCalledTimes(1)
  })
})

describe('over TLS', () => {
  const tls = { cert: SERVER_CERTIFICATE, key: SERVER_KEY }
  const authority = Buffer.from(AUTHORITY)

  it('a client that trusts the authority is answered', async () => {
    const { port } = await serve({ tls })
    const client = new GrpcClient(port, { credentials: credentials.createSsl(authority), host: 'localhost' })
    closers.push(() => client.close())
    expect((await client.unary('/test.Test/Echo', Buffer.from('x'))).toString()).toBe('x')
  })

  it('with a client authority, only clients with its certificate are answered', async () => {
    const { port } = await serve({ tls: { ...tls, clientCa: AUTHORITY } })
    const known = credentials.createSsl(authority, Buffer.from(CLIENT_KEY), Buffer.from(CLIENT_CERTIFICATE))
    const client = new GrpcClient(port, { credentials: known, host: 'localhost' })
    const stranger = new GrpcClient(port, { credentials: credentials.createSsl(authority), host: 'localhost' })
    closers.push(
      () => client.close(),
      () => stranger.close(),
    )
    expect((await client.unary('/test.Test/Echo', Buffer.from('x'))).toString()).toBe('x')
    expect((await stranger.failure('/test.Test/Echo', Buffer.from('x'), { timeoutMs: 3_000 }))[0]).toBe(
      status.UNAVAILABLE,
    )
    expect((await client.unary('/test.Test/Echo', Buffer.from('y'))).toString()).toBe('y')
  })
})

describe('a server that closes', () => {
  it('answers calls in flight, takes no new connection, and resolves', async () => {
    const { client, server, port } = await serveClient()
    const late = client.unary('/test.Test/Late', Buffer.from('a'))
    await until(() => waiting.length === 1)
    const closed = server.close(5_000)
    await expect(once(connectTcp(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED')
    waiting[0](Buffer.from('done'))
    expect((await late).toString()).toBe('done')
    await closed
    await until(() => server.connections === 0)
  })

  it('ends calls of many messages, and cuts what is left at the deadline', async () => {
    const { client, server, port } = await serveClient()
    const talk = client.bidiStream('/test.Test/Talk')
    const failed = once(talk, 'error')
    const silent = connectTcp(port, '127.0.0.1')
    silent.on('error', () => {})
    await until(() => streams.length === 1 && server.connections === 2)
    const late = client.failure('/test.Test/Late', Buffer.from('a'))
    await until(() => waiting.length === 1)
    await server.close(50)
    const [error] = (await failed) as [ServiceError]
    expect([error.code, error.details]).toEqual([status.UNAVAILABLE, 'the service is shutting down'])
    expect((await late)[0]).toBe(status.UNAVAILABLE)
    silent.destroy()
  })
})
