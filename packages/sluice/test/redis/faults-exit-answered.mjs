// A process that is told a decision long before its deadline, closes its client, and then has nothing left to do.
import { Redis } from 'ioredis'
import { createLimiter, tokenBucket } from 'sluice'
import { ioredisOptions, redisStore } from 'sluice/redis'

const client = new Redis(process.argv[2], '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
await client.connect()
const store = redisStore(client, { deadlineMs: 60_000 })
const limiter = createLimiter({ name: 'a', limit: tokenBucket({ capacity: 10, refill: '1/s' }), store })
const { allowed, degraded } = await limiter.tryAcquire('key')
client.disconnect()
console.log(allowed, degraded)
