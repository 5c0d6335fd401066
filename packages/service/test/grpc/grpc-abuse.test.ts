import { constants } from 'node:http2'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { GrpcMethod } from '../../src/grpc/grpc-method.js'
import { framed } from '../../src/grpc/message-reader.js'
import { NodeGrpcServer } from '../../src/grpc/node-grpc-server.js'
import { frame, uint32 } from '../http2/frame-client.js'
import { GrpcClient, until } from './grpc-client.js'
import { FLAG, head, RawConnection, TYPE } from './raw-frames.js'

const ECHO = '/test.Test/Echo'
let calls: number
const METHODS = new Map<string, GrpcMethod>([
  [
    ECHO,
    {
      kind: 'unary',
      answer: (message) => {
        calls++
        return Buffer.from(message)
      },
    },
  ],
])

let server: NodeGrpcServer
let port: number
let attacker: RawConnection
let bystander: GrpcClient
beforeEach(async () => {
  calls = 0
  server = new NodeGrpcServer({ methods: METHODS }, { pingMs: 500, slowestMs: 1_000 })
  port = await server.listen('127.0.0.1', 0)
  attacker = new RawConnection(port)
  bystander = new GrpcClient(port)
  await isServed()
  attacker.greet()
  await until(() => attacker.counts.has(TYPE.settings))
})
afterEach(async () => {
  attacker.socket.destroy()
  bystander.close()
  await server.close(0)
})

/** Another connection is answered. */
async function isServed(): Promise<void> {
  expect((await bystander.unary(ECHO, Buffer.from('still here'))).toString()).toBe('still here')
}

/** Sends frames in batches until the server ends the connection. Returns how many batches that took. */
async function flood(batchOf: (i: number) => readonly Buffer[], most = 2_000): Promise<number> {
  for (let i = 0; i < most; i++) {
    attacker.send(...batchOf(i))
    await new Promise(setImmediate)
    if (attacker.isClosed) return i
  }
  await until(() => attacker.isClosed)
  return most
}

it('rapid resets end the connection, and no other', async () => {
  const openAndReset = (id: number) => [
    frame(TYPE.headers, FLAG.endHeaders, id, head(ECHO)),
    frame(TYPE.reset, 0, id, uint32(constants.NGHTTP2_CANCEL)),
  ]
  await flood((i) => Array.from({ length: 50 }, (_, j) => openAndReset(2 * (i * 50 + j) + 1)).flat())
  await isServed()
  expect(calls).toBe(2)
})

it.each([
  ['PING', () => frame(TYPE.ping, 0, 0, Buffer.alloc(8))],
  ['SETTINGS', () => frame(TYPE.settings, 0, 0)],
])('a flood of %s frames ends the connection, and no other', async (_name, make) => {
  await flood(() => Array.from({ length: 100 }, make))
  expect(attacker.goawayCode ?? constants.NGHTTP2_ENHANCE_YOUR_CALM).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
  await isServed()
})

it('a connection that says nothing is ended', async () => {
  const silent = new RawConnection(port)
  await until(() => silent.isClosed)
  await isServed()
})

it('pings of an honest client are answered', async () => {
  for (let i = 0; i < 100; i++) attacker.send(frame(TYPE.ping, 0, 0, Buffer.alloc(8)))
  await until(() => attacker.counts.get(TYPE.ping) === 100)
  expect(attacker.isClosed).toBe(false)
})

it('a header list without an end and one that is too large are refused', async () => {
  const large = Object.fromEntries(Array.from({ length: 160 }, (_, i) => [`x-${i}`, 'v'.repeat(120)]))
  attacker.send(frame(TYPE.headers, FLAG.endStream | FLAG.endHeaders, 1, head(ECHO, large)))
  await until(() => attacker.isClosed)
  expect(calls).toBe(1)
  await isServed()
  attacker = new RawConnection(port)
  attacker.greet()
  attacker.send(frame(TYPE.headers, 0, 3, head(ECHO)))
  await flood(() => Array.from({ length: 20 }, () => frame(TYPE.continuation, 0, 3, Buffer.alloc(16_000, 0x40))))
  expect(calls).toBe(2)
  await isServed()
})

it('more streams than allowed are refused, and their bodies are not kept', async () => {
  const bodies = (id: number) => [
    frame(TYPE.headers, FLAG.endHeaders, id, head(ECHO)),
    frame(TYPE.data, 0, id, framed(Buffer.alloc(100)).subarray(0, 20)),
  ]
  for (let i = 0; i < 1_050; i++) attacker.send(...bodies(2 * i + 1))
  await until(() => attacker.isClosed || (attacker.counts.get(TYPE.reset) ?? 0) >= 50)
  expect(calls).toBe(1)
  await isServed()
})

it('a message that does not come is DEADLINE_EXCEEDED after a while, and so are those that come byte by byte', async () => {
  for (const id of [1, 3]) attacker.send(frame(TYPE.headers, FLAG.endHeaders, id, head(ECHO)))
  const slow = framed(Buffer.alloc(100))
  let at = 0
  await until(() => {
    if (at < 50) attacker.send(frame(TYPE.data, 0, 3, slow.subarray(at, ++at)))
    // Each answer is one frame of header fields.
    return attacker.counts.get(TYPE.headers) === 2
  })
  expect([calls, at < 105]).toEqual([1, true])
  await isServed()
})

it('bytes that are no HTTP/2 end the connection', async () => {
  attacker.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(10)))
  await until(() => attacker.isClosed)
  await isServed()
})

it('a client whose window stays zero is cut off from its answers, and harms no other', async () => {
  attacker.send(frame(TYPE.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(0)])))
  for (let i = 0; i < 200; i++)
    attacker.send(
      frame(TYPE.headers, FLAG.endHeaders, 2 * i + 1, head(ECHO)),
      frame(TYPE.data, FLAG.endStream, 2 * i + 1, framed(Buffer.alloc(10))),
    )
  await until(() => calls === 201)
  await isServed()
  attacker.send(frame(TYPE.windowUpdate, 0, 1, uint32(100)))
  await until(() => (attacker.counts.get(TYPE.data) ?? 0) >= 1)
  await until(() => (attacker.counts.get(TYPE.reset) ?? 0) === 199)
})
