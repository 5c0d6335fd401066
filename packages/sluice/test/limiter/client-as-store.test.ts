import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { createLimiter, createPolicy, createShaper, fixedWindow } from 'sluice'
import { rateLimit } from 'sluice/express'
import { describe, expect, it } from 'vitest'

const limit = fixedWindow({ quota: 1, window: '1m' })

describe.each([
  ['ioredis', () => new Redis({ lazyConnect: true })],
  ['node-redis', () => createClient()],
])('a client of %s that is given as a store', (_client, connect) => {
  it.each<[string, (store: never) => unknown]>([
    ['createLimiter', (store) => createLimiter({ name: 'x', limit, store })],
    ['createPolicy', (store) => createPolicy({ name: 'x', levels: [{ name: 'a', limit }], store })],
    ['createShaper', (store) => createShaper({ name: 'x', drain: '1/s', capacity: 1, store })],
    ['rateLimit', (store) => rateLimit({ name: 'x', limit, store })],
  ])('is recognised by %s, whose error says redisStore(client)', (_what, make) => {
    expect(() => make(connect() as never)).toThrow(/this is a Redis client, write store: redisStore\(client\)$/)
  })
})
