/** Cells of the table in the README that can be tried: each peer that is installed here does what its cell says. */
import { readFile } from 'node:fs/promises'
import Bottleneck from 'bottleneck'
import express from 'express'
import { rateLimit as expressRateLimit, MemoryStore } from 'express-rate-limit'
import Fastify, { type FastifyPluginAsync, type FastifyRequest } from 'fastify'
import PQueue from 'p-queue'
import { RateLimiterMemory, RateLimiterQueue, RateLimiterUnion } from 'rate-limiter-flexible'
import { createLimiter, createPolicy, createShaper, fixedWindow, memoryStore } from 'sluice'
import { rateLimit } from 'sluice/express'
import { ManualClock } from 'sluice/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Seen, sendAll, serving, times } from './page-examples.js'

type Mark = '✓' | 'partly' | '–'
const hour = 3_600_000
const perHour = (quota: number) => fixedWindow({ quota, window: '1h' })
const has = (isSo: boolean): Mark => (isSo ? '✓' : '–')
let rows: string[][]

beforeAll(async () => {
  const readme = await readFile(new URL('../../../../README.md', import.meta.url), 'utf8')
  rows = readme
    .split('\n')
    .filter((line) => /^\|.*\|$/.test(line))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.replace('<br>', '').trim()))
})

/** What the table says of a peer. */
function cell(row: string, peer: string): string | undefined {
  const column = rows.find((cells) => cells.includes('express-rate-limit'))?.indexOf(peer) ?? -1
  return rows.find(([title]) => title.startsWith(row))?.[column]
}

/** Its types and those of `sluice/fastify` both say what `config.rateLimit` is, so a program can load only one of the two. */
const FASTIFY_PEER: string = '@fastify/rate-limit'

/** What an application of Fastify behind its own limiter answers. */
async function fastifyAnswers(options: object, inits: readonly RequestInit[]) {
  const { default: fastifyRateLimit } = (await import(FASTIFY_PEER)) as {
    default: FastifyPluginAsync<Record<string, unknown>>
  }
  const app = Fastify()
  await app.register(fastifyRateLimit, {
    timeWindow: hour,
    keyGenerator: ({ headers }: FastifyRequest) => `${headers['x-key']}`,
    ...options,
  })
  app.get('/', async () => 'hello')
  try {
    return await sendAll(await app.listen({ port: 0, host: '127.0.0.1' }), inits)
  } finally {
    await app.close()
  }
}

describe('the table says of each what it does: a denied request takes nothing', () => {
  const ROW = 'a denied request takes nothing'

  test('Sluice', () => {
    const limiter = createLimiter({ limit: perHour(5) })
    limiter.tryAcquire('a', { cost: 4 })
    limiter.tryAcquire('a', { cost: 2 })
    expect(cell(ROW, 'Sluice')).toBe(has(limiter.tryAcquire('a').allowed))
  })

  test('express-rate-limit', async () => {
    const store = new MemoryStore()
    const app = express().use(expressRateLimit({ limit: 1, windowMs: hour, store, keyGenerator: () => 'a' }))
    await serving(app, (origin) => sendAll(origin, times(3)))
    expect(cell(ROW, 'express-rate-limit')).toBe(has((await store.get('a'))?.totalHits === 1))
    store.shutdown()
  })

  test('rate-limiter-flexible', async () => {
    const limiter = new RateLimiterMemory({ points: 5, duration: 3_600 })
    await limiter.consume('a', 4)
    await limiter.consume('a', 2).catch(() => {})
    const isAllowed = await limiter.consume('a').then(
      () => true,
      () => false,
    )
    expect(cell(ROW, 'rate-limiter-flexible')).toBe(has(isAllowed))
  })

  test('@fastify/rate-limit: a client that goes on while it is denied is banned for that', async () => {
    const seen = await fastifyAnswers({ max: 1, ban: 1 }, times(3, { headers: { 'x-key': 'a' } }))
    expect(cell(ROW, '@fastify/rate-limit')).toBe(has(seen[2].status === 429))
  })
})

describe('the table says of each what it does: several limits, from all or from none', () => {
  const ROW = 'several limits at once'

  test('Sluice', () => {
    const levels = [
      { name: 'one', limit: perHour(1) },
      { name: 'many', limit: perHour(9) },
    ]
    const policy = createPolicy({ levels })
    for (let i = 0; i < 3; i++) policy.check({})
    expect(cell(ROW, 'Sluice')).toBe(has(policy.check({}).levels[1].decision.remaining === 8))
  })

  test('rate-limiter-flexible', async () => {
    const many = new RateLimiterMemory({ keyPrefix: 'many', points: 9, duration: 3_600 })
    const both = new RateLimiterUnion(new RateLimiterMemory({ keyPrefix: 'one', points: 1, duration: 3_600 }), many)
    for (let i = 0; i < 3; i++) await both.consume('a').catch(() => {})
    expect(cell(ROW, 'rate-limiter-flexible')).toBe(has((await many.get('a'))?.consumedPoints === 1))
  })
})

describe('the table says of each what it does: the fields, bans and memory', () => {
  const markOf = (headers: Headers): Mark => {
    if (headers.has('ratelimit') && headers.has('ratelimit-policy')) return '✓'
    return headers.has('ratelimit-limit') ? 'partly' : '–'
  }

  test.each([
    ['Sluice', () => rateLimit({ limit: perHour(5) })],
    ['express-rate-limit', () => expressRateLimit({ limit: 5, windowMs: hour, standardHeaders: 'draft-8' })],
  ])('%s writes the current fields', async (peer, limited) => {
    const [{ headers }] = await serving(express().use(limited()), (origin) => sendAll(origin, times(1)))
    expect(cell('the current IETF fields', peer)).toBe(markOf(headers))
  })

  test('@fastify/rate-limit writes the fields of earlier revisions', async () => {
    const [{ headers }] = await fastifyAnswers({ max: 5, enableDraftSpec: true }, times(1))
    expect(cell('the current IETF fields', '@fastify/rate-limit')).toBe(markOf(headers))
  })

  test('Sluice and rate-limiter-flexible block a key for longer than its window', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const ours = createLimiter({ limit: perHour(1), blockFor: '1d', clock })
    for (let i = 0; i < 2; i++) ours.tryAcquire('a')
    clock.advance(2 * hour)
    expect(cell('bans a client', 'Sluice')).toBe(has(!ours.tryAcquire('a').allowed))
    const theirs = new RateLimiterMemory({ points: 1, duration: 3_600, blockDuration: 86_400 })
    for (let i = 0; i < 2; i++) await theirs.consume('a').catch(() => {})
    expect(cell('bans a client', 'rate-limiter-flexible')).toBe(
      has(((await theirs.get('a'))?.msBeforeNext ?? 0) > hour),
    )
  })

  test('@fastify/rate-limit: with continueExceeding a denial begins the window anew', async () => {
    const inits = times(3, { headers: { 'x-key': 'a' } })
    const [, ...denied] = await fastifyAnswers({ max: 1, continueExceeding: true }, inits)
    expect(cell('bans a client', '@fastify/rate-limit')).toBe(
      has(denied.every(({ headers }) => headers.get('x-ratelimit-reset') === '3600')),
    )
  })

  test('a flood of clients resets a client of @fastify/rate-limit, whose memory is bounded, and none of Sluice', async () => {
    const client = { headers: { 'x-key': 'a' } }
    const flood = Array.from({ length: 5 }, (_, i) => ({ headers: { 'x-key': `b${i}` } }))
    const seen = await fastifyAnswers({ max: 1, cache: 5 }, [...times(2, client), ...flood, client])
    expect(seen.map(({ status }) => status)).toEqual([200, 429, 200, 200, 200, 200, 200, 200])
    expect(cell('bounded memory', '@fastify/rate-limit')).toBe('partly')
    const store = memoryStore({ maxKeys: 5 })
    const limiter = createLimiter({ name: 'all', limit: perHour(1), store })
    limiter.tryAcquire('a')
    for (let i = 0; i < 5_000; i++) limiter.tryAcquire(`b${i}`)
    expect(cell('bounded memory', 'Sluice')).toBe(has(!limiter.tryAcquire('a').allowed && store.size <= 5))
  })
})

describe('the table says of each what it does: denials, waits and places', () => {
  const isDenied = ({ status, headers }: Seen): boolean => status === 429 && Number(headers.get('retry-after')) > 0

  test.each([
    ['Sluice', () => rateLimit({ limit: perHour(1) })],
    ['express-rate-limit', () => expressRateLimit({ limit: 1, windowMs: hour })],
  ])('%s denies with 429 and Retry-After', async (peer, limited) => {
    const [, second] = await serving(express().use(limited()), (origin) => sendAll(origin, times(2)))
    expect(cell('HTTP middleware with 429', peer)).toBe(has(isDenied(second)))
  })

  test('@fastify/rate-limit denies with 429 and Retry-After', async () => {
    const [, second] = await fastifyAnswers({ max: 1 }, times(2))
    expect(cell('HTTP middleware with 429', '@fastify/rate-limit')).toBe(has(isDenied(second)))
  })

  /** Whether the second call waits until the 300 ms of the first are over, by each library's own means. */
  test.each<[peer: string, call: () => () => Promise<unknown>]>([
    [
      'Sluice',
      () => {
        const shaper = createShaper({ drain: '3/s', capacity: 5 })
        return () => shaper.run(() => {})
      },
    ],
    [
      'rate-limiter-flexible',
      () => {
        const queue = new RateLimiterQueue(new RateLimiterMemory({ points: 1, duration: 0.3 }))
        return () => queue.removeTokens(1)
      },
    ],
    [
      'bottleneck',
      () => {
        const bank = new Bottleneck({ minTime: 300 })
        return () => bank.schedule(async () => {})
      },
    ],
    [
      'p-queue',
      () => {
        const queue = new PQueue({ interval: 300, intervalCap: 1 })
        return () => queue.add(() => {})
      },
    ],
  ])('%s lets a call wait for its turn', async (peer, start) => {
    const call = start()
    await call()
    const startedMs = performance.now()
    await call()
    expect(cell('waits for its turn', peer)).toBe(has(performance.now() - startedMs > 10))
  })

  test.each<[peer: string, start: () => (job: () => Promise<void>) => Promise<unknown>]>([
    [
      'Sluice',
      () => {
        const shaper = createShaper({ concurrency: 2, capacity: 10 })
        return (job) => shaper.run(job)
      },
    ],
    [
      'bottleneck',
      () => {
        const bank = new Bottleneck({ maxConcurrent: 2 })
        return (job) => bank.schedule(job)
      },
    ],
    [
      'p-queue',
      () => {
        const queue = new PQueue({ concurrency: 2 })
        return (job) => queue.add(job)
      },
    ],
  ])('%s bounds how many run at the same time', async (peer, start) => {
    const run = start()
    let [running, most] = [0, 0]
    const job = async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 20))
      running--
    }
    await Promise.all(Array.from({ length: 6 }, () => run(job)))
    expect(cell('limits how many run', peer)).toBe(has(most === 2))
  })
})
