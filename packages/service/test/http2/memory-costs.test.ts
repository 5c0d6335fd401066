import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FrameType } from '../../dist/http2/frame-type.js'
import {
  call,
  callFields,
  data,
  FrameClient,
  frame,
  framed,
  headers,
  reset,
  settings,
  windowUpdate,
} from './frame-client.js'
import { remembered } from './hpack-encoding.js'
import { CHAT, ECHO, LARGE } from './test-methods.js'

const MEBIBYTE = 2 ** 20
const CLIENTS = 10
const INITIAL_WINDOW_SIZE = 4

let child: ChildProcess
let port = 0
const clients: FrameClient[] = []

beforeAll(async () => {
  child = fork(fileURLToPath(new URL('./memory-child.mjs', import.meta.url)), { execArgv: [] })
  const [hello] = (await once(child, 'message')) as [{ readonly port: number }]
  port = hello.port
})
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})
afterAll(async () => {
  child.disconnect()
  await once(child, 'exit')
})

async function usage(): Promise<{ readonly bytes: number; readonly connections: number }> {
  child.send('usage')
  const [answer] = await once(child, 'message')
  return answer
}

/** What the server has when all clients have gone. It frees memory a little later than it collects garbage. */
async function idleBytes(most?: number): Promise<number> {
  let now = await usage()
  const isSettled = (looks: number) => now.connections === 0 && (most === undefined ? looks >= 3 : now.bytes <= most)
  for (let looks = 0; looks < 50 && !isSettled(looks); looks++) now = await usage()
  expect(now.connections).toBe(0)
  return now.bytes
}

async function open(greeting?: Buffer): Promise<FrameClient> {
  const client = await FrameClient.open(port, greeting)
  clients.push(client)
  return client
}

/** All of it has been read: a PING behind it was answered. */
async function isRead(client: FrameClient): Promise<void> {
  client.send(frame(FrameType.ping, 0, 0, Buffer.from('all read')))
  await client.next(({ type, payload }) => type === FrameType.ping && payload.toString() === 'all read')
}

async function isServed(): Promise<void> {
  const client = await open()
  client.send(call(1, ECHO, 'unharmed'))
  expect((await client.answer(1)).body.toString('utf8', 5)).toBe('unharmed')
}

/** What a connection may hold at most, and does hold when all of them do the same. */
test.each<[string, number, (client: FrameClient) => Promise<void>]>([
  ['nothing', 0.05, async () => {}],
  [
    '1,000 streams that are open',
    1.5,
    async (client) => {
      client.send(...Array.from({ length: 1_000 }, (_, i) => headers(1 + 2 * i, callFields(CHAT))))
      await isRead(client)
    },
  ],
  [
    'messages that promise a mebibyte, and have a byte of it',
    1.5,
    async (client) => {
      const beginning = Buffer.from([0, 0, 16, 0, 0, 1])
      for (let i = 0; i < 1_000; i++) client.send(headers(1 + 2 * i, callFields(ECHO)), data(1 + 2 * i, beginning, 0))
      await isRead(client)
    },
  ],
  [
    'messages of which all but a byte has come',
    5,
    async (client) => {
      const most = framed(Buffer.alloc(14_000)).subarray(0, -1)
      for (let i = 0; i < 500; i++) client.send(headers(1 + 2 * i, callFields(ECHO)), data(1 + 2 * i, most, 0))
      await isRead(client)
    },
  ],
  [
    'a table that is full, and a header block that is half-open',
    0.1,
    async (client) => {
      for (let i = 0; i < 100; i++) {
        const block = Buffer.concat([remembered(`x-${i}`, 'v'.repeat(1_000)), remembered('y', `${i}`)])
        client.send(frame(FrameType.headers, 5, 1 + 2 * i, block))
      }
      await isRead(client)
      client.send(headers(1_001, callFields(ECHO, ['x', 'v'.repeat(10_000)]), 0))
      client.send(frame(FrameType.continuation, 0, 1_001, Buffer.alloc(1_000)))
    },
  ],
  [
    'answers that wait for a window',
    1.6,
    async (client) => {
      client.send(settings([INITIAL_WINDOW_SIZE, 0]))
      for (let i = 0; i < 400; i++) client.send(call(1 + 2 * i, LARGE))
      await isRead(client)
    },
  ],
  [
    'answers that the client does not read',
    4,
    async (client) => {
      client.send(settings([INITIAL_WINDOW_SIZE, 2 ** 31 - 1]), windowUpdate(0, 2 ** 30))
      await isRead(client)
      client.socket.pause()
      for (let i = 0; i < 900; i++) client.send(call(1 + 2 * i, LARGE))
    },
  ],
])('a connection that holds %s takes at most %d MiB', { timeout: 60_000 }, async (_title, most, abuse) => {
  await isServed()
  for (const client of clients.splice(0)) client.close()
  const before = await idleBytes()
  const attackers = await Promise.all(Array.from({ length: CLIENTS }, () => open()))
  await Promise.all(attackers.map(abuse))
  await isServed()
  const { bytes, connections } = await usage()
  expect(connections).toBe(CLIENTS + 1)
  expect((bytes - before) / CLIENTS / MEBIBYTE).toBeLessThan(most)
  for (const client of clients.splice(0)) client.close()
  // Records of streams are kept for the next calls.
  const mostKept = before + 4 * MEBIBYTE
  expect(await idleBytes(mostKept)).toBeLessThan(mostKept)
})

describe('memory stays the same', () => {
  test.each<[string, (i: number) => Buffer]>([
    ['calls', (i) => call(i, ECHO, 'message')],
    ['calls that are reset', (i) => Buffer.concat([call(i, CHAT), reset(i)])],
    [
      'calls whose fields are new each time',
      (i) =>
        Buffer.concat([
          frame(
            FrameType.headers,
            4,
            i,
            Buffer.concat([headers(i, callFields(ECHO)).subarray(9), remembered(`x-${i}`, `${i}`)]),
          ),
          data(i, framed('m')),
        ]),
    ],
    ['calls of methods that do not exist', (i) => call(i, `/no.Such/Method${i}`)],
  ])('however many %s come', { timeout: 60_000 }, async (_title, parts) => {
    const run = async (calls: number) => {
      for (let done = 0; done < calls; done += 400) {
        const client = await FrameClient.open(port)
        client.send(...Array.from({ length: 400 }, (_, i) => parts(1 + 2 * i)))
        await isRead(client)
        client.close()
      }
    }
    await run(8_000)
    const most = (await idleBytes()) + 2 * MEBIBYTE
    await run(20_000)
    expect(await idleBytes(most)).toBeLessThan(most)
  })
})
