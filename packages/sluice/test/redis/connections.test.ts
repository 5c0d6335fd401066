import type { EventEmitter } from 'node:events'
import { Redis } from 'ioredis'
import { createClient, createClientPool, createSentinel } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { runnerOf } from '../../src/stores/redis/clients/runner-of.js'
import { ioredisOptions, nodeRedisOptions } from '../../src/stores/redis/index.js'
import { until } from './faults-until.js'
import { SilentWire } from './silent-wire.js'

let server: RedisServer
let wire: SilentWire

beforeAll(async () => {
  server = await startRedis()
  wire = await SilentWire.to(server.port)
})

afterAll(async () => {
  await wire?.stop()
  await server?.stop()
})

const connectionsOf = (client: object) => runnerOf(client).connections?.('sluice:t:{key}a') ?? []

/** Asks for something that is never answered. */
const ask = (client: object) => runnerOf(client).eval('return 1', ['sluice:t:{key}a'], [])

/** Not `once`, which an error would end. */
const next = (client: EventEmitter, event: string) => new Promise<void>((resolve) => client.once(event, resolve))

const CLIENTS = {
  ioredis: {
    make(options: object = {}) {
      const client = new Redis(wire.port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true, ...options })
      client.on('error', () => {})
      return { client, connect: () => client.connect(), close: () => client.disconnect() }
    },
    notAgain: { retryStrategy: null },
  },
  'node-redis': {
    make(options: object = {}) {
      const client = createClient({
        ...nodeRedisOptions,
        socket: { host: '127.0.0.1', port: wire.port, ...options },
      })
      client.on('error', () => {})
      return { client, connect: () => client.connect(), close: () => client.destroy() }
    },
    notAgain: { reconnectStrategy: false },
  },
}

describe.each(Object.entries(CLIENTS))('%s', (_, { make, notAgain }) => {
  it('shows a connection that can be dropped: what waits is rejected, and the client connects again', async () => {
    const { client, connect, close } = make()
    try {
      await connect()
      wire.silence()
      const asked = ask(client).then(
        () => 'answered',
        () => 'rejected',
      )
      const [connection] = connectionsOf(client)
      expect(connection.isReady).toBe(true)
      const isReady = next(client, 'ready')
      connection.drop()
      expect(await asked).toBe('rejected')
      await isReady
      expect(await ask(client)).toBe(1)
    } finally {
      close()
    }
  })

  it('shows a connection whose handshake hangs, and another one after it was dropped', async () => {
    const { client, connect, close } = make()
    try {
      await connect()
      wire.beginBlackHole()
      const asked = ask(client).catch(() => 'rejected')
      connectionsOf(client)[0].drop()
      expect(await asked).toBe('rejected')
      await next(client, 'connect')
      await until('the handshake hangs', () => connectionsOf(client).length === 1)
      const [hanging] = connectionsOf(client)
      expect(hanging.isReady).toBe(false)
      wire.endBlackHole()
      const isReady = next(client, 'ready')
      hanging.drop()
      await isReady
      const answered = ask(client)
      const [another] = connectionsOf(client)
      expect(another.isReady).toBe(true)
      expect(another.id).not.toBe(hanging.id)
      expect(await answered).toBe(1)
    } finally {
      wire.endBlackHole()
      close()
    }
  })

  it('shows no connection of a client that was closed, was never connected, or would not connect again', async () => {
    const { client, connect, close } = make()
    expect(connectionsOf(client)).toEqual([])
    await connect()
    wire.silence()
    ask(client).catch(() => {})
    expect(connectionsOf(client)).toHaveLength(1)
    close()
    expect(connectionsOf(client)).toEqual([])

    const last = make(notAgain)
    await last.connect()
    wire.silence()
    ask(last.client).catch(() => {})
    expect(connectionsOf(last.client)).toEqual([])
    last.close()
  })
})

it('a pool and a Sentinel of node-redis show no connections', async () => {
  const pool = createClientPool({ socket: { host: '127.0.0.1', port: server.port }, ...nodeRedisOptions })
  await pool.connect()
  expect(connectionsOf(pool)).toEqual([])
  pool.destroy()
  expect(connectionsOf(createSentinel({ name: 'a', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }))).toEqual([])
})
