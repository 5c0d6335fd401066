import { createServer } from 'node:net'
import { Redis } from 'ioredis'
import { type AsyncStore, createPolicy, fixedWindow, type OnFailure } from 'sluice'
import { ioredisOptions, type RedisStoreOptions, redisStore } from 'sluice/redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../../../scripts/redis-server.mjs'
import { limitedServer, type Options, statusOf, waitingStore } from './limited-server.js'

const limit = fixedWindow({ quota: 2, window: '100d' })

/** More than any answer may take: a deadline of 50 ms, and a machine that is busy. */
const BOUND_MS = 4_000

async function timely<T>(promise: Promise<T>): Promise<T> {
  const started = performance.now()
  const answer = await promise
  expect(performance.now() - started).toBeLessThan(BOUND_MS)
  return answer
}

/** Takes connections and says nothing. */
const silent = createServer((socket) => void socket.on('error', () => {}).resume())
const ports = { closed: 0, silent: 0 }

beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  ports.silent = (silent.address() as { port: number }).port
  ports.closed = await freePort()
})

afterAll(() => void silent.close())

function storeOn(port: number, options: RedisStoreOptions = {}): AsyncStore {
  const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, retryStrategy: () => 50 })
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return redisStore(client, options)
}

describe.each(['closed', 'silent'] as const)('a Redis that is %s', (how) => {
  const guards: [what: string, options: (onFailure: OnFailure) => Options][] = [
    ['a limit', (onFailure) => ({ limit, name: 'a', store: storeOn(ports[how]), onFailure })],
    ['a limit of its store', (onFailure) => ({ limit, name: 'a', store: storeOn(ports[how], { onFailure }) })],
    [
      'a limit that holds',
      (onFailure) => ({ limit, name: 'a', store: storeOn(ports[how]), onFailure, settle: () => 0 }),
    ],
    [
      'a policy',
      (onFailure) => ({
        policy: createPolicy({ name: 'p', store: storeOn(ports[how]), levels: [{ name: 'all', limit, onFailure }] }),
      }),
    ],
  ]

  it.each(guards)('%s that fails closed denies every request, in time, and says why', async (_what, options) => {
    const degraded: unknown[] = []
    const app = await limitedServer({
      ...options('closed'),
      onDenied: (_request, response, verdict) => {
        degraded.push(verdict.degraded)
        response.end()
      },
    })
    const responses = await timely(Promise.all(Array.from({ length: 10 }, () => fetch(app.origin))))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([429]))
    for (const { headers } of responses) expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(degraded).toEqual(new Array(10).fill('closed'))
    expect(app.handled).toEqual([])
  })

  it.each(guards)('%s that fails open admits every request, in time', async (_what, options) => {
    const app = await limitedServer(options('open'))
    const statuses = await timely(Promise.all(Array.from({ length: 10 }, () => statusOf(app))))
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  it.each(guards.filter(([what]) => what !== 'a limit that holds'))(
    '%s that is local admits its quota',
    async (_what, options) => {
      const app = await limitedServer(options('local'))
      const statuses = await timely(Promise.all(Array.from({ length: 10 }, () => statusOf(app))))
      expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    },
  )
})

describe('a third-party store that fails', () => {
  const failing = (decide: () => Promise<never>, told: Partial<AsyncStore> = {}): AsyncStore => {
    const { store } = waitingStore()
    return { ...store, decide, refund: decide, charge: decide, ...told }
  }
  const failures: [how: string, decide: () => Promise<never>][] = [
    ['rejects', () => Promise.reject(new Error('no store'))],
    [
      'throws',
      () => {
        throw new Error('no store')
      },
    ],
    ['answers with something else', async () => ({ allowed: true, decisions: [{}], takenUs: [0] }) as never],
  ]
  const guards: [what: string, options: (store: AsyncStore, onFailure: OnFailure) => Options][] = [
    ['a limit', (store, onFailure) => ({ limit, name: 'a', store, onFailure })],
    ['a limit of its store', (store, onFailure) => ({ limit, name: 'a', store: { ...store, onFailure } })],
    ['a limit that holds', (store, onFailure) => ({ limit, name: 'a', store, onFailure, settle: () => 1 })],
    [
      'a policy',
      (store, onFailure) => ({
        policy: createPolicy({ name: 'p', store, levels: [{ name: 'all', limit, onFailure }] }),
      }),
    ],
  ]

  it.each(failures.flatMap(([how, decide]) => guards.map(([what, options]) => [how, what, decide, options] as const)))(
    'and %s is answered by onFailure, in front of %s',
    async (_how, _what, decide, options) => {
      for (const [onFailure, passed] of [
        ['open', 5],
        ['closed', 0],
        ['local', 2],
      ] as const) {
        const app = await limitedServer(options(failing(decide), onFailure))
        const statuses = []
        for (let i = 0; i < 5; i++) statuses.push(await timely(statusOf(app)))
        expect(statuses.filter((status) => status === 200)).toHaveLength(passed)
        expect(statuses.filter((status) => status === 429)).toHaveLength(5 - passed)
      }
    },
  )

  it.each(failures.slice(0, 2))('and %s is an error of the server, if no rule is stated', async (_how, decide) => {
    for (const settle of [undefined, () => 1]) {
      const store = failing(decide)
      const app = await limitedServer({ limit, name: 'a', store, ...(settle && { settle }) })
      const response = await timely(fetch(app.origin))
      expect(response.status).toBe(500)
      expect(await response.json()).toMatchObject({ message: 'no store' })
      expect(app.handled).toEqual([])
    }
  })
})
