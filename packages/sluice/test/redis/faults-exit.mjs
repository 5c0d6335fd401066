// A process that asks a Redis that is not there until the breaker opens, and then has nothing left to do.
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { createLimiter, tokenBucket } from 'sluice'
import { ioredisOptions, nodeRedisOptions, redisStore } from 'sluice/redis'

const [, , name, port] = process.argv
const client =
  name === 'ioredis'
    ? new Redis(port, '127.0.0.1', { ...ioredisOptions, retryStrategy: () => null })
    : createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false }, ...nodeRedisOptions })
client.on('error', () => {})
if (name !== 'ioredis') await client.connect().catch(() => {})

const store = redisStore(client)
const limiter = createLimiter({ name: 'a', limit: tokenBucket({ capacity: 10, refill: '1/s' }), store })
for (let i = 0; i < 5; i++) await limiter.tryAcquire('key')
console.log(`breaker ${store.stats().breaker}`)
