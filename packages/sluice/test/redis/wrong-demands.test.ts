import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { type Demand, tokenBucket } from '../../src/index.js'
import { ioredisOptions, redisStore } from '../../src/stores/redis/index.js'

// Never connected: a wrong demand is refused before Redis is asked.
const store = redisStore(new Redis({ ...ioredisOptions, lazyConnect: true }))
const right = { name: 'name', limit: tokenBucket({ capacity: 5, refill: '1/s' }), key: 'key', cost: 1 }

test.each([
  ['no cost', { cost: undefined }, 'cost must be a whole number'],
  ['a negative cost', { cost: -5 }, 'cost must be a whole number'],
  ['half a unit', { cost: 0.5 }, 'cost must be a whole number'],
  ['no key', { key: undefined }, 'key must be a non-empty string'],
  ['a number for a key', { key: 5 }, 'key must be a non-empty string'],
  ['no name', { name: '' }, 'name must be a non-empty string'],
  ['a rule that there is not', { onFailure: 'clsd' }, "onFailure must be 'open', 'closed' or 'local'"],
  ['a limit that is none', { limit: { algorithm: 'tokn-bucket' } }, "did you mean 'token-bucket'?"],
])('a demand with %s is refused, and no other call is disturbed', async (_, wrong, message) => {
  const demand = { ...right, ...wrong } as unknown as Demand
  await expect(store.decide([right, demand])).rejects.toThrow(message)
  await expect(store.charge(demand)).rejects.toThrow(message)
  await expect(store.refund(demand, undefined)).rejects.toThrow(message)
  expect(store.stats()).toMatchObject({ calls: 0, pending: 0, breaker: 'closed' })
})

test('a duration that is none is refused', async () => {
  await expect(store.block('name', 'key', '10m' as unknown as number)).rejects.toThrow('durationUs must be')
  await expect(store.reset('name', undefined as unknown as string)).rejects.toThrow('key must be')
})
