// A process that takes a place, says until when it holds it, and never gives it back.
import { Redis } from 'ioredis'
import { concurrency, createLimiter } from 'sluice'
import { redisStore } from 'sluice/redis'

const { port, max, ttl } = JSON.parse(process.argv[2])
const store = redisStore(new Redis(port, '127.0.0.1'), { deadlineMs: 10_000, onFailure: 'closed' })
const limiter = createLimiter({ name: 'held', limit: concurrency({ max, ttl }), store })
const { allowed, endsAtMs } = await limiter.lease('k')
process.send({ allowed, endsAtMs })
process.on('disconnect', () => process.exit())
