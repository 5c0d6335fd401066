import type { Express } from 'express'
import type { FastifyInstance } from 'fastify'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { runExamples, sendAll, serving, statuses, times } from '../page-examples.js'

const SECTION = 'For several processes'

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
  vi.stubEnv('REDIS_URL', server.url)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await server.stop()
})

/**
 * Runs both sides of a page twice, as two processes would, and expects the same of each side. It tries again from an empty Redis,
 * because on a busy machine an answer may come after the deadline of the store, which then answers by itself.
 */
async function expectAsTwoProcesses<Side extends { client: Redis }>(
  page: string,
  use: (one: Side, other: Side) => Promise<unknown>,
  expected: unknown,
): Promise<void> {
  const [ones, others] = [await runExamples<Side>(page, SECTION), await runExamples<Side>(page, SECTION)]
  const clients = [...ones, ...others].map(({ client }) => client)
  const playEach = async () => {
    await clients[0].flushall()
    expect(ones).toHaveLength(2)
    for (const [i, one] of ones.entries()) expect(await use(one, others[i])).toEqual(expected)
  }
  try {
    await Promise.all(clients.map(ready))
    await vi.waitFor(playEach, { timeout: 20_000 })
  } finally {
    for (const client of clients) client.disconnect()
  }
}

async function ready(client: Redis): Promise<void> {
  if (client.status !== 'ready') await new Promise<void>((resolve) => void client.once('ready', resolve))
}

const FIVE_OF_SIX = [200, 200, 200, 200, 200, 429]

describe('moving over with Redis', () => {
  test('express-rate-limit: two processes share five requests on both sides', () =>
    expectAsTwoProcesses<{ app: Express; client: Redis }>(
      'moving/express-rate-limit.md',
      async (one, other) => [
        ...statuses(await serving(one.app, (origin) => sendAll(origin, times(3)))),
        ...statuses(await serving(other.app, (origin) => sendAll(origin, times(3)))),
      ],
      FIVE_OF_SIX,
    ))

  test('@fastify/rate-limit: two processes share five requests on both sides', () =>
    expectAsTwoProcesses<{ app: FastifyInstance; client: Redis }>(
      'moving/fastify-rate-limit.md',
      (one, other) =>
        inTurn([one, one, one, other, other, other], async ({ app }) => (await app.inject('/')).statusCode),
      FIVE_OF_SIX,
    ))

  test('rate-limiter-flexible: two processes share five units on both sides', () =>
    expectAsTwoProcesses<{ mayGo(key: string): Promise<boolean>; client: Redis }>(
      'moving/rate-limiter-flexible.md',
      (one, other) => inTurn([one, one, one, other, other, other], ({ mayGo }) => mayGo('user:42')),
      [true, true, true, true, true, false],
    ))
})

async function inTurn<Side, T>(sides: readonly Side[], ask: (side: Side) => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  for (const side of sides) answers.push(await ask(side))
  return answers
}
