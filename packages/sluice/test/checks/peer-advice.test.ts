import { Redis } from 'ioredis'
import * as sluice from 'sluice'
import {
  concurrency,
  createLimiter,
  createLimiters,
  createPolicy,
  createShaper,
  fixedWindow,
  leakyBucket,
  memoryStore,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import { rateLimit as express } from 'sluice/express'
import { rateLimit as fastify } from 'sluice/fastify'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit as hono } from 'sluice/hono'
import { shapedFetch } from 'sluice/http'
import { rateLimit as koa } from 'sluice/koa'
import { rateLimit as nest } from 'sluice/nest'
import { rateLimit as node } from 'sluice/node'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { describe, expect, it } from 'vitest'

const limit = fixedWindow({ quota: 100, window: '1m' })
const key = () => 'a'
const client = new Redis({ ...ioredisOptions, lazyConnect: true })

/** Every place where a caller may write an option of another library, with options that are right there. */
const PLACES: Readonly<Record<string, readonly [call: (options: never) => unknown, right: object]>> = {
  tokenBucket: [tokenBucket, { capacity: 20, refill: '5/s' }],
  leakyBucket: [leakyBucket, { capacity: 50, drain: '10/s' }],
  fixedWindow: [fixedWindow, { quota: 100, window: '1m' }],
  slidingWindow: [slidingWindow, { quota: 100, window: '1m' }],
  slidingLog: [slidingLog, { quota: 100, window: '1m' }],
  concurrency: [concurrency, { max: 20 }],
  createLimiter: [createLimiter, { limit }],
  createShaper: [createShaper, { drain: '10/s', capacity: 50 }],
  shapedFetch: [shapedFetch, { drain: '10/s', capacity: 50 }],
  createPolicy: [createPolicy, { levels: [{ name: 'all', limit }] }],
  'a level': [(level: object) => createPolicy({ levels: [{ name: 'all', limit, ...level }] }), {}],
  express: [express, { limit }],
  fastify: [fastify, { limit }],
  fetch: [fetchLimit, { limit, key }],
  hono: [hono, { limit }],
  koa: [koa, { limit }],
  nest: [nest, { limit }],
  node: [node, { limit }],
  memoryStore: [memoryStore, { maxKeys: 5 }],
  createLimiters: [(options: object) => createLimiters({ search: limit }, options), {}],
  redisStore: [(options: object) => redisStore(client, options), {}],
}

/** Options that have the same name here. */
const OURS_TOO: Readonly<Record<string, readonly string[]>> = {
  concurrency: ['max', 'ttl'],
  createShaper: ['concurrency'],
}

const NAMES = `windowMs max points duration keyGenerator timeWindow intervalCap interval message handler standardHeaders
  legacyHeaders skipSuccessfulRequests skipFailedRequests requestPropertyName allowList ban blockDuration execEvenly keyPrefix
  storeClient inMemoryBlockOnConsumed minTime maxConcurrent reservoir reservoirRefreshInterval reservoirIncreaseAmount highWater
  concurrency carryoverConcurrencyCount tokensPerInterval fillInterval ttl throttlers statusCode passOnStoreError rate timeout
  expiration throwOnTimeout strict autoStart retryAfter skipOnError cache timeoutMs whiteList blackList isWhiteListed
  isBlackListed useRedisPackage tableName dbName storeType penalty rejectOnDrop clusterNodes Redis connection`.split(
  /\s+/,
)

describe('an option of another library', () => {
  const said = (place: string, options: object): string => {
    const [call, right] = PLACES[place]
    try {
      call({ ...right, ...options } as never)
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }

  it.each<[place: string, option: string, advice: string]>([
    [
      'express',
      'windowMs',
      "windowMs is part of `limit` here, as in { limit: fixedWindow({ quota: 100, window: '1m' }) }",
    ],
    ['fastify', 'timeWindow', 'timeWindow is part of `limit` here, as in { limit: fixedWindow({'],
    ['nest', 'ttl', 'ttl is part of `limit` here, as in { limit: fixedWindow({'],
    ['koa', 'max', 'max is part of `limit` here, as in { limit: fixedWindow({'],
    ['hono', 'points', 'points is part of `limit` here'],
    ['fetch', 'duration', 'duration is part of `limit` here'],
    [
      'express',
      'keyGenerator',
      'keyGenerator is `key` here, as in { key: (request, client) => userOf(request) ?? client }',
    ],
    ['node', 'message', 'message is `onDenied` here'],
    ['koa', 'handler', 'handler is `onDenied` here'],
    ['nest', 'handler', 'in Nest a RateLimitException, which an exception filter answers'],
    ['express', 'standardHeaders', "standardHeaders is `dialect` here, as in { dialect: ['draft', 'legacy'] }"],
    ['express', 'legacyHeaders', 'legacyHeaders is `dialect` here'],
    [
      'express',
      'skipFailedRequests',
      'skipFailedRequests is `settle` here, as in { settle: ({ status, taken }) => (status >= 400 ? 0 : taken) }',
    ],
    [
      'express',
      'skipSuccessfulRequests',
      'skipSuccessfulRequests is `settle` here, as in { settle: ({ status, taken }) => (status < 400 ? 0 : taken) }',
    ],
    ['express', 'shadow', "a level of a policy has it, as in { name: 'stricter', key: ['ip'], limit, shadow: true }"],
    ['express', 'retryAfter', 'leave it out: Retry-After is the true wait'],
    ['express', 'requestPropertyName', 'rateLimitOf(request) returns the decisions about a request'],
    ['fastify', 'allowList', 'allowList is `skip` here'],
    ['fastify', 'ban', "ban is `blockFor` here, as in { blockFor: '15m' }"],
    ['nest', 'blockDuration', 'blockDuration is `blockFor` here'],
    ['nest', 'throttlers', 'throttlers is part of `limit` here'],
    ['express', 'statusCode', 'statusCode is `status` here'],
    ['express', 'passOnStoreError', "passOnStoreError is `onFailure` here, as in { onFailure: 'open' }"],
    ['fastify', 'skipOnError', "skipOnError is `onFailure` here, as in { onFailure: 'open' }"],
    ['fastify', 'cache', "cache is `store` here, as in { name: 'search', store: memoryStore({ maxKeys: 5_000 }) }"],
    ['memoryStore', 'cache', 'cache is `maxKeys` here, as in { maxKeys: 5_000 }'],
    ['createLimiters', 'cache', 'cache is `store` here, as in { store: memoryStore({ maxKeys: 5_000 }) }'],
    [
      'createLimiters',
      'points',
      "it is in the first argument, as in createLimiters({ search: fixedWindow({ quota: 100, window: '1m' }) })",
    ],
    ['createLimiters', 'keyPrefix', 'it is in the first argument, as in createLimiters({ search: '],
    ['createLimiter', 'timeoutMs', 'redisStore(client, { deadlineMs: 50 }) bounds the wait for Redis'],
    ['redisStore', 'timeoutMs', 'timeoutMs is `deadlineMs` here, as in { deadlineMs: 50 }'],
    ['redisStore', 'useRedisPackage', 'leave it out: redisStore knows the package of its client'],
    ['express', 'whiteList', 'whiteList is `skip` here'],
    ['createLimiter', 'isWhiteListed', 'leave such a key out: do not ask the limiter'],
    ['createLimiter', 'blackList', "limiter.block(key, { duration: '1d' }) denies a key everything"],
    ['createLimiter', 'storeType', 'storeType is `store` here, as in { store: redisStore(client) }'],
    ['createLimiter', 'dbName', 'a database needs a store of your own, which storeContract tests'],
    ['createShaper', 'connection', 'connection is `store` here'],
    ['createShaper', 'rejectOnDrop', 'a queue that is full refuses a caller, and drops none'],
    ['createShaper', 'penalty', 'a queue that is full refuses a caller, and drops none'],
    ['createLimiter', 'points', 'points is part of `limit` here'],
    [
      'createLimiter',
      'capacity',
      "capacity is part of `limit` here, as in { limit: tokenBucket({ capacity: 20, refill: '5/s' }) }",
    ],
    ['createLimiter', 'slices', 'slices is part of `limit` here, as in { limit: slidingWindow({'],
    ['createLimiter', 'blockDuration', 'blockDuration is `blockFor` here'],
    ['createLimiter', 'keyPrefix', "keyPrefix is `name` here, as in { name: 'search' }"],
    ['createLimiter', 'storeClient', 'storeClient is `store` here, as in { store: redisStore(client) }'],
    ['createLimiter', 'execEvenly', 'execEvenly is part of `limit` here, as in { limit: leakyBucket({'],
    ['createLimiter', 'inMemoryBlockOnConsumed', 'leave it out: denials of one turn of the event loop share a call'],
    ['createLimiter', 'insuranceLimiter', "insuranceLimiter is `onFailure` here, as in { onFailure: 'local' }"],
    ['createLimiter', 'keyGenerator', "the key is an argument of every call, as in limiter.tryAcquire('user:42')"],
    [
      'createLimiter',
      'maxConcurrent',
      "maxConcurrent is part of `limit` here, as in { limit: concurrency({ max: 20, ttl: '30s' }) }",
    ],
    ['tokenBucket', 'tokensPerInterval', "tokensPerInterval is `capacity` here, as in { capacity: 20, refill: '5/s' }"],
    ['tokenBucket', 'interval', 'interval is part of `refill` here'],
    ['tokenBucket', 'fillInterval', 'fillInterval is `refill` here'],
    ['tokenBucket', 'rate', "rate is `refill` here, as in { capacity: 20, refill: '5/s' }"],
    ['tokenBucket', 'limit', 'limit is `capacity` here'],
    ['leakyBucket', 'rate', "rate is `drain` here, as in { capacity: 50, drain: '10/s' }"],
    ['leakyBucket', 'highWater', "highWater is `capacity` here, as in { capacity: 50, drain: '10/s' }"],
    ['fixedWindow', 'windowMs', "windowMs is `window` here, as in { quota: 100, window: '1m' }"],
    ['slidingWindow', 'points', 'points is `quota` here'],
    ['slidingLog', 'intervalCap', 'intervalCap is `quota` here'],
    ['concurrency', 'maxConcurrent', "maxConcurrent is `max` here, as in { max: 20, ttl: '30s' }"],
    ['createShaper', 'minTime', "minTime is `drain` here, as in { capacity: 50, drain: '10/s' }"],
    ['createShaper', 'intervalCap', 'intervalCap is part of `drain` here'],
    ['createShaper', 'interval', 'interval is part of `drain` here'],
    ['createShaper', 'highWater', 'highWater is `capacity` here'],
    ['createShaper', 'maxConcurrent', 'maxConcurrent is `concurrency` here, as in { concurrency: 5 }'],
    ['createShaper', 'reservoir', 'reservoir is part of `drain` here'],
    ['createShaper', 'carryoverConcurrencyCount', 'leave it out'],
    ['createShaper', 'autoStart', 'call pause() of the shaper first, and resume() to start it'],
    ['createShaper', 'timeout', 'AbortSignal.timeout(5000)'],
    ['createShaper', 'strict', "createLimiter({ limit: slidingLog({ quota: 5, window: '1s' }) }) and acquire"],
    ['express', 'strict', "strict is part of `limit` here, as in { limit: slidingLog({ quota: 5, window: '1s' }) }"],
    ['shapedFetch', 'retry', 'retry is `retries` here, as in { retries: 3 }'],
    ['shapedFetch', 'minTime', 'minTime is `drain` here'],
    [
      'createPolicy',
      'windowMs',
      "windowMs is part of `levels` here, as in { levels: [{ name: 'all', limit: fixedWindow({",
    ],
    [
      'a level',
      'windowMs',
      "windowMs is part of `limit` here, as in { limit: { algorithm: 'fixed-window', quota: 100, window: '1m' } }",
    ],
    ['a level', 'keyGenerator', "keyGenerator is `key` here, as in { key: ['user'] }"],
    ['a level', 'maxConcurrent', "as in { limit: { algorithm: 'concurrency', max: 20, ttl: '30s' } }"],
    ['a level', 'blockDuration', 'blockDuration is `blockFor` here'],
  ])('in %s, %s: %s', (place, option, advice) => {
    expect(said(place, { [option]: 5 })).toContain(advice)
  })

  it('is refused in every place, and the example of the error is right in that place', () => {
    let examples = 0
    for (const [place, [call, right]] of Object.entries(PLACES)) {
      for (const name of NAMES.filter((each) => !OURS_TOO[place]?.includes(each))) {
        const message = said(place, { [name]: 5 })
        expect(message, `${name} in ${place}`).toContain(`'${name}'; `)
        const [, example] = /here, as in (\{ .* \})$/s.exec(message) ?? []
        if (example === undefined) continue
        examples++
        expect(() => call({ ...right, ...evaluated(example) } as never), message).not.toThrow(/has no/)
        if (!example.includes('store:') && !example.includes('onFailure:'))
          expect(() => call({ ...right, ...evaluated(example) } as never), message).not.toThrow()
      }
    }
    expect(examples).toBeGreaterThan(200)
  })

  it('is not guessed where it means nothing', () => {
    expect(() => sluice.memoryStore({ max: 5 } as never)).toThrow(/it takes maxKeys|did you mean maxKeys/)
    for (const place of ['memoryStore', 'createLimiters', 'createLimiter', 'tokenBucket', 'express', 'a level']) {
      for (const name of ['timeout', 'expiration', 'throwOnTimeout'])
        expect(said(place, { [name]: 5 }), place).not.toMatch(/work bounds|run\(/)
    }
    for (const name of ['whiteList', 'blackList', 'penalty', 'timeoutMs', 'tableName'])
      expect(said('tokenBucket', { [name]: 5 })).toContain('it takes capacity, refill')
    expect(() => createLimiter({ limit }).tryAcquire('a', { limit: 5 } as never)).toThrow('it takes cost')
    expect(() => createLimiter({ limit }).tryAcquire('a', { points: 5 } as never)).toThrow('points is `cost` here')
  })

  it('keyGenerator of a turn in a queue is a text', async () => {
    const bank = createShaper({ drain: '10/s', capacity: 50 })
    const options = { keyGenerator: () => 'a' } as never
    await expect(bank.run(() => 'sent', options)).rejects.toThrow(
      "keyGenerator is `key` here, as in { key: 'user:42' }",
    )
  })

  it.each(['timeout', 'expiration', 'throwOnTimeout'])(
    '%s bounds the work and not the wait, and says so',
    async (name) => {
      const bank = createShaper({ drain: '10/s', capacity: 50 })
      await expect(bank.run(() => 'sent', { [name]: 5_000 } as never)).rejects.toThrow(
        'work bounds its own time, as in run(() => fetch(url, { signal: AbortSignal.timeout(5000) })). ' +
          'maxWaitMs of a call bounds only its wait',
      )
    },
  )

  it('that is a number for a limit says how to write the limit', () => {
    const advice = 'got 5: a number does not say per what, write'
    for (const place of ['createLimiter', 'express', 'fastify', 'nest'])
      expect(said(place, { limit: 5 })).toContain(`${advice} fixedWindow({ quota: 5, window: '1m' })`)
    const asData = "{ algorithm: 'fixed-window', quota: 5, window: '1m' }"
    expect(said('a level', { limit: 5 })).toContain(`${advice} ${asData}`)
  })
})

/** The object that an example writes. Its names are those of the library. */
function evaluated(example: string): object {
  const names = { ...sluice, redisStore, client: { on() {} } }
  return new Function(...Object.keys(names), `return (${example})`)(...Object.values(names))
}
