import { expect, it } from 'vitest'
import { createLimiter } from '../../src/index.js'
import { limitsOver } from './fleet-limits.js'
import { ownServer } from './own-server.js'

const own = ownServer()

it('a shorter block in the place of a longer one shortens the lives of keys that hold nothing else', async () => {
  const [[name, limit]] = limitsOver('1s')
  const limiter = createLimiter({ name, limit, store: own.store })
  await limiter.block('key', { duration: '1h' })
  await limiter.block('key', { duration: '1m' })
  const keys = await own.redis.keys('*')
  expect(keys.sort()).toEqual(['l', 't', 'u'].map((kind) => `sluice:${kind}:{key}${name}`))
  for (const key of keys) expect(await own.redis.pttl(key)).toBeLessThanOrEqual(60_002)
})
