import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { afterEach, describe, expect, test } from 'vitest'
import type { GrpcTls } from '../../dist/grpc/grpc-server.js'
import { makeCertificate } from './make-certificate.js'
import { BROKEN, CHAT, ECHO, FAIL, HELD, LARGE, LATER, startServer, type TestServer } from './test-methods.js'

const authority = makeCertificate('authority')
const server = makeCertificate('server', authority)
const client = makeCertificate('client', authority)
const stranger = makeCertificate('client', makeCertificate('authority'))

let running: TestServer
const clients: Client[] = []
const asIs = (bytes: Buffer) => bytes

async function start(tls?: GrpcTls): Promise<void> {
  running = await startServer(tls === undefined ? {} : { tls })
}

function open(secured: ChannelCredentials = credentials.createInsecure()): Client {
  const opened = new Client(`127.0.0.1:${running.port}`, secured, {
    'grpc.ssl_target_name_override': 'localhost',
  })
  clients.push(opened)
  return opened
}

function call(on: Client, path: string, message: string, deadline?: number): Promise<string> {
  const options = deadline === undefined ? {} : { deadline: Date.now() + deadline }
  return new Promise((resolve, reject) => {
    on.makeUnaryRequest(path, asIs, asIs, Buffer.from(message), new Metadata(), options, (error, answer) => {
      if (error) reject(error)
      else resolve((answer as Buffer).toString())
    })
  })
}

const errorOf = (answer: Promise<unknown>) =>
  answer.then(
    () => undefined,
    (error: ServiceError) => error,
  )

afterEach(async () => {
  for (const each of clients.splice(0)) each.close()
  await running.close(1_000)
})

describe.each([
  ['over plain TCP', undefined, undefined],
  ['over TLS', { cert: server.cert, key: server.key }, () => credentials.createSsl(Buffer.from(authority.cert))],
  [
    'over TLS with client certificates',
    { cert: server.cert, key: server.key, clientCa: authority.cert },
    () => credentials.createSsl(Buffer.from(authority.cert), Buffer.from(client.key), Buffer.from(client.cert)),
  ],
])('a client of @grpc/grpc-js %s', (_title, tls, secured) => {
  test('calls many times at once, with small and large messages', async () => {
    await start(tls)
    const on = open(secured?.())
    const messages = Array.from({ length: 300 }, (_, i) => 'm'.repeat(i * 7))
    expect(await Promise.all(messages.map((each, i) => call(on, i % 2 ? ECHO : LATER, each)))).toEqual(messages)
    expect(await call(on, ECHO, 'l'.repeat(1_000_000))).toBe('l'.repeat(1_000_000))
    expect((await call(on, LARGE, '2000000')).length).toBe(2_000_000)
  })

  test('is told of errors', async () => {
    await start(tls)
    const on = open(secured?.())
    expect(await errorOf(call(on, FAIL, '8 über'))).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: 'über' })
    expect(await errorOf(call(on, FAIL, 'later 5 none'))).toMatchObject({ code: status.NOT_FOUND, details: 'none' })
    expect(await errorOf(call(on, BROKEN, ''))).toMatchObject({ code: status.INTERNAL })
    expect(await errorOf(call(on, '/no.Such/Method', ''))).toMatchObject({ code: status.UNIMPLEMENTED })
    expect(await errorOf(call(on, ECHO, 'x'.repeat(1_048_577)))).toMatchObject({ code: status.RESOURCE_EXHAUSTED })
    expect(await call(on, ECHO, 'still here')).toBe('still here')
  })

  test('gives up at its deadline, and cancels', async () => {
    await start(tls)
    const on = open(secured?.())
    expect(await call(on, ECHO, 'connected')).toBe('connected')
    expect(await errorOf(call(on, HELD, '', 30))).toMatchObject({ code: status.DEADLINE_EXCEEDED })
    // Its deadline may have passed before it came.
    const begun = running.held.length
    const cancelled = on.makeUnaryRequest(HELD, asIs, asIs, Buffer.from(''), () => {})
    await running.until(() => running.held.length > begun)
    cancelled.cancel()
    await running.until(() => running.answered.includes(`${HELD} 1`))
    for (const held of running.held) held.resolve(Buffer.from('late'))
    expect(await call(on, ECHO, 'next')).toBe('next')
  })

  test('talks both ways', async () => {
    await start(tls)
    const chat = open(secured?.()).makeBidiStreamRequest(CHAT, asIs, asIs)
    const seen: string[] = []
    chat.on('data', (message: Buffer) => seen.push(message.toString()))
    for (const message of ['one', '', 'three']) chat.write(Buffer.from(message))
    chat.end()
    const [{ code }] = await once(chat, 'status')
    expect({ seen, code }).toEqual({ seen: ['one', '', 'three'], code: status.OK })
  })

  test('finishes its calls while the server closes', async () => {
    await start(tls)
    const on = open(secured?.())
    const last = call(on, HELD, '')
    await running.until(() => running.held.length === 1)
    const closing = running.close(10_000)
    running.held[0].resolve(Buffer.from('done'))
    expect(await last).toBe('done')
    on.close()
    await closing
  })
})

describe('a server that demands client certificates', () => {
  const tls = { cert: server.cert, key: server.key, clientCa: authority.cert }

  test.each([
    ['without one', () => credentials.createSsl(Buffer.from(authority.cert))],
    [
      'with one of another authority',
      () => credentials.createSsl(Buffer.from(authority.cert), Buffer.from(stranger.key), Buffer.from(stranger.cert)),
    ],
  ])('refuses a client %s', async (_title, secured) => {
    await start(tls)
    expect(await errorOf(call(open(secured()), ECHO, 'a', 5_000))).toMatchObject({ code: status.UNAVAILABLE })
    expect(running.echoed()).toBe(0)
  })
})

test('a TLS client that does not ask for HTTP/2 is refused', async () => {
  await start({ cert: server.cert, key: server.key })
  for (const ALPNProtocols of [[], ['http/1.1']]) {
    const socket = connectTls({ port: running.port, host: '127.0.0.1', ca: authority.cert, ALPNProtocols })
    socket.on('error', () => {})
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))
  }
  expect(await call(open(credentials.createSsl(Buffer.from(authority.cert))), ECHO, 'a')).toBe('a')
})
