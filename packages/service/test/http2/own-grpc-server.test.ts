import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callFields, data, FrameClient, framed, headers, reset } from './frame-client.js'
import { BROKEN, CHAT, ECHO, FAIL, HELD, LARGE, LATER, startServer, type TestServer } from './test-methods.js'

/** An answer as node:http2 sees it. */
interface Seen {
  readonly status: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: Buffer
  readonly trailers: Readonly<Record<string, unknown>>
}

let running: TestServer
let session: ClientHttp2Session

beforeEach(async () => {
  running = await startServer()
  session = connect(`http://127.0.0.1:${running.port}`)
  session.on('error', () => {})
})
afterEach(async () => {
  session.destroy()
  await running.close()
})

/** Calls with node:http2, and sends the parts of the body one by one. */
function request(fields: OutgoingHttpHeaders, ...parts: readonly Uint8Array[]): Promise<Seen> {
  const stream = session.request({
    ':method': 'POST',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...fields,
  })
  for (const part of parts) stream.write(part)
  stream.end()
  return new Promise((resolve, reject) => {
    const body: Buffer[] = []
    let head: Readonly<Record<string, unknown>> = {}
    let trailers: Readonly<Record<string, unknown>> = {}
    stream.on('response', (headers) => {
      head = headers
    })
    stream.on('trailers', (headers) => {
      trailers = headers
    })
    stream.on('data', (chunk: Buffer) => body.push(chunk))
    stream.on('error', reject)
    stream.on('end', () =>
      resolve({ status: Number(head[':status']), fields: head, body: Buffer.concat(body), trailers }),
    )
  })
}

const unary = (path: string, message: string, fields: OutgoingHttpHeaders = {}) =>
  request({ ':path': path, ...fields }, framed(message))

describe('a unary call', () => {
  test.each([
    ['at once', ECHO],
    ['by a promise', LATER],
  ])('is answered %s with a message and grpc-status 0', async (_title, path) => {
    for (const message of ['', 'a', 'x'.repeat(100), 'y'.repeat(100_000)]) {
      const { status, fields, body, trailers } = await unary(path, message)
      expect(status).toBe(200)
      expect(fields['content-type']).toBe('application/grpc')
      expect(body.equals(framed(message))).toBe(true)
      expect(trailers['grpc-status']).toBe('0')
    }
    expect(running.answered).toEqual(new Array(4).fill(`${path} 0`))
  })

  test('may be one of many at a time, whose answers do not mix', async () => {
    const messages = Array.from({ length: 500 }, (_, i) => `${i} ${'z'.repeat(i)}`)
    const seen = await Promise.all(messages.map((message, i) => unary(i % 2 ? ECHO : LATER, message)))
    expect(seen.map(({ body }) => body.toString('utf8', 5))).toEqual(messages)
  })

  test('may come in parts of any length', async () => {
    const bytes = framed('x'.repeat(1_000))
    for (const length of [1, 3, 5, 6, 400]) {
      const parts = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
        bytes.subarray(i * length, (i + 1) * length),
      )
      const { body } = await request({ ':path': ECHO }, ...parts)
      expect(body.equals(bytes)).toBe(true)
    }
  })

  test('takes and gives messages that exceed every window', async () => {
    const { body, trailers } = await unary(ECHO, 'm'.repeat(1_000_000))
    expect(body.length).toBe(1_000_005)
    expect(trailers['grpc-status']).toBe('0')
    const large = await unary(LARGE, '3000000')
    expect(large.body.length).toBe(3_000_005)
  })
})

describe('an error', () => {
  test.each(['', 'later '])('%sis answered without a message, with its text percent-encoded', async (later) => {
    const { status, fields, body } = await unary(FAIL, `${later}8 no room: 100 % für "ß" 🙂\n`)
    expect(status).toBe(200)
    expect(body.length).toBe(0)
    expect(fields['content-type']).toBe('application/grpc')
    expect(fields['grpc-status']).toBe('8')
    expect(fields['grpc-message']).toBe('no room: 100 %25 f%C3%BCr "%C3%9F" %F0%9F%99%82%0A')
  })

  test('may have no text, and a long one is cut', async () => {
    expect((await unary(FAIL, '5 ')).fields['grpc-message']).toBeUndefined()
    expect((await unary(FAIL, '5  in spaces ')).fields['grpc-message']).toBe('%20in spaces%20')
    const { fields } = await unary(FAIL, `5 ${'ß'.repeat(5_000)}`)
    expect(fields['grpc-message']).toBe(`${'%C3%9F'.repeat(1_023)}%E2%80%A6`)
  })

  test('of the server itself is INTERNAL, and its text stays here', async () => {
    const { fields } = await unary(BROKEN, '')
    expect(fields['grpc-status']).toBe('13')
    expect(fields['grpc-message']).not.toMatch('secret')
    expect(running.faults).toEqual([new TypeError('a secret of the server')])
  })

  test.each<[string, string, OutgoingHttpHeaders, Uint8Array[], string, RegExp]>([
    ['a method that does not exist', '/test.Test/None', {}, [framed('a')], '12', /no method \/test.Test\/None/],
    ['no message', ECHO, {}, [], '12', /takes one message, got none/],
    ['two messages', ECHO, {}, [framed('a'), framed('b')], '12', /takes one message, got several/],
    ['a part of a message', ECHO, {}, [framed('abc').subarray(0, 7)], '13', /ends within a message/],
    ['a part of a prefix', ECHO, {}, [Buffer.alloc(2)], '13', /ends within a message/],
    ['a compressed message', ECHO, { 'grpc-encoding': 'gzip' }, [framed('a', 1)], '12', /not be compressed, got gzip/],
    ['compression without a name', ECHO, {}, [framed('a', 1)], '13', /grpc-encoding does not say how/],
    ['a wrong prefix', ECHO, {}, [framed('a', 7)], '13', /prefix of a message is not valid/],
    [
      'a message that is too large',
      ECHO,
      {},
      [Buffer.from([0, 0xff, 0xff, 0xff, 0xff])],
      '8',
      /4294967295 vs. 1048576/,
    ],
    ['a malformed timeout', ECHO, { 'grpc-timeout': '5 minutes' }, [framed('a')], '3', /eight digits and a unit/],
    ['no time', ECHO, { 'grpc-timeout': '0m' }, [framed('a')], '4', /deadline/],
    ['nearly no time', ECHO, { 'grpc-timeout': '1n' }, [framed('a')], '4', /deadline/],
  ])('%s is answered with its status', async (_title, path, fields, parts, status, message) => {
    const answer = await request({ ':path': path, ...fields }, ...parts)
    expect(answer.fields['grpc-status']).toBe(status)
    expect(decodeURIComponent(String(answer.fields['grpc-message']))).toMatch(message)
    expect(running.echoed()).toBe(0)
  })
})

describe('a deadline', () => {
  test('that passes is answered DEADLINE_EXCEEDED, and the late answer goes nowhere', async () => {
    const { fields } = await unary(HELD, '', { 'grpc-timeout': '20m' })
    expect(fields['grpc-status']).toBe('4')
    running.held[0].resolve(Buffer.from('late'))
    expect((await unary(ECHO, 'next')).body.toString('utf8', 5)).toBe('next')
    expect(running.answered).toEqual([`${HELD} 4`, `${ECHO} 0`])
  })

  test('holds also for a request that does not come', async () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': ECHO,
      'content-type': 'application/grpc',
      'grpc-timeout': '20m',
    })
    const status = await new Promise((resolve) => stream.on('response', (fields) => resolve(fields['grpc-status'])))
    expect(status).toBe('4')
  })

  test('of a call that was answered is not that of the next call', async () => {
    expect((await unary(LATER, 'a', { 'grpc-timeout': '500m' })).trailers['grpc-status']).toBe('0')
    const next = unary(HELD, '')
    const untilMs = performance.now() + 600
    while (performance.now() < untilMs) await new Promise((resolve) => setImmediate(resolve))
    running.held[0].resolve(Buffer.from('in time'))
    expect((await next).body.toString('utf8', 5)).toBe('in time')
  })

  test.each(['1H', '99999999H', '10S', '20000m', '90000000u', '99999999n'])(
    'of %s is far enough for an answer',
    async (timeout) => {
      expect((await unary(LATER, 'a', { 'grpc-timeout': timeout })).trailers['grpc-status']).toBe('0')
    },
  )
})

describe('a request that is no call', () => {
  test.each<[string, OutgoingHttpHeaders, number]>([
    ['another method', { ':method': 'GET' }, 405],
    ['no content type', { 'content-type': undefined }, 415],
    ['JSON', { 'content-type': 'application/json' }, 415],
    ['gRPC-Web', { 'content-type': 'application/grpc-web' }, 415],
    ['messages in JSON', { 'content-type': 'application/grpc+json' }, 415],
  ])('with %s is answered in HTTP', async (_title, fields, status) => {
    const answer = await request({ ':path': ECHO, ...fields })
    expect(answer.status).toBe(status)
    expect(answer.fields['content-type']).toMatch('text/plain')
    expect(answer.body.toString()).toMatch('gRPC')
    if (status === 405) expect(answer.fields.allow).toBe('POST')
  })

  test.each(['application/grpc+proto', 'application/grpc;charset=utf-8', 'Application/gRPC'])(
    'is not one of the type %s',
    async (type) => {
      expect((await unary(ECHO, 'a', { 'content-type': type })).trailers['grpc-status']).toBe('0')
    },
  )

  test('over HTTP/1 is answered in HTTP/1', async () => {
    const socket = connectTcp(running.port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    let answer = ''
    for await (const chunk of socket) answer += chunk
    expect(answer).toMatch(/^HTTP\/1.1 505 /)
    expect(answer).toMatch('This port speaks HTTP/2')
  })
})

describe('a call with streams of messages', () => {
  /** Opens a call, and collects what comes. */
  function chat(fields: OutgoingHttpHeaders = {}) {
    const stream = session.request({ ':method': 'POST', ':path': CHAT, 'content-type': 'application/grpc', ...fields })
    const seen = { body: '', status: undefined as unknown, code: undefined as unknown }
    stream.on('response', (headers) => {
      seen.status = headers['grpc-status']
    })
    stream.on('trailers', (trailers) => {
      seen.status = trailers['grpc-status']
    })
    stream.on('data', (chunk) => {
      seen.body += chunk.toString('latin1')
    })
    stream.on('error', () => {})
    const closed = new Promise<typeof seen>((resolve) =>
      stream.on('close', () => resolve({ ...seen, code: stream.rstCode })),
    )
    return { stream, closed }
  }

  test('passes messages both ways until the client ends it', async () => {
    const { stream, closed } = chat()
    stream.write(Buffer.concat([framed('one'), framed('two'), framed('three').subarray(0, 7)]))
    stream.end(framed('three').subarray(7))
    expect(await closed).toEqual({
      body: Buffer.concat([framed('one'), framed('two'), framed('three')]).toString('latin1'),
      status: '0',
      code: 0,
    })
    expect(running.events).toEqual(['open', 'message one', 'message two', 'message three', 'ended', 'closed'])
    expect(running.answered).toEqual([`${CHAT} 0`])
  })

  test.each([
    ['end', '0'],
    ['fail', '3'],
    ['throw', '13'],
  ])('is ended by the server, while the client goes on (%s)', async (message, status) => {
    const { stream, closed } = chat()
    stream.write(framed(message))
    expect(await closed).toMatchObject({ status, code: 0 })
    expect(running.events).toEqual(['open', `message ${message}`, 'closed'])
  })

  test('is told when the client cancels it', async () => {
    const client = await FrameClient.open(running.port)
    client.send(headers(1, callFields(CHAT)), data(1, framed('one'), 0))
    await running.until(() => running.events.includes('message one'))
    client.send(reset(1))
    await running.until(() => running.events.includes('closed'))
    expect(running.answered).toEqual([`${CHAT} 1`])
  })

  test('is told when the connection is lost', async () => {
    chat()
    await running.until(() => running.events.includes('open'))
    session.destroy()
    await running.until(() => running.events.includes('closed'))
    expect(running.events).toEqual(['open', 'closed'])
  })

  test('ends when its deadline passes', async () => {
    const { closed } = chat({ 'grpc-timeout': '20m' })
    expect(await closed).toMatchObject({ status: '4' })
    expect(running.events).toEqual(['open', 'closed'])
  })
})

describe('close', () => {
  test('lets calls in flight end, and takes no more', async () => {
    const last = unary(HELD, '')
    await running.until(() => running.held.length === 1)
    const closing = running.close(10_000)
    await new Promise((resolve) => session.once('goaway', resolve))
    running.held[0].resolve(Buffer.from('done'))
    expect((await last).body.toString('utf8', 5)).toBe('done')
    await closing
    expect(running.server.connections).toBe(0)
  })

  test('ends calls that have no end of their own', async () => {
    const stream = session.request({ ':method': 'POST', ':path': CHAT, 'content-type': 'application/grpc' })
    const status = new Promise((resolve) => stream.on('response', (fields) => resolve(fields['grpc-status'])))
    stream.on('error', () => {})
    await running.until(() => running.events.includes('open'))
    await running.close(10_000)
    expect(await status).toBe('14')
  })

  test('cuts what is left after its deadline', async () => {
    const last = unary(HELD, '')
    await running.until(() => running.held.length === 1)
    await running.close(20)
    expect(await last).toMatchObject({ fields: {}, trailers: {} })
    expect(running.server.connections).toBe(0)
    running.held[0].resolve(Buffer.from('late'))
  })
})

test('listen rejects if the port is taken', async () => {
  const other = await startServer()
  await other.close()
  await expect(other.server.listen('127.0.0.1', running.port)).rejects.toThrow('EADDRINUSE')
})
