// A process that asks a service until it has nothing left to do. It then ends, whether the service is there or not.
import { createLimiter, tokenBucket } from 'sluice'
import { serviceStore } from 'sluice/client'

const store = serviceStore(process.argv[2], { deadlineMs: 60_000 })
const limiter = createLimiter({ name: 'a', limit: tokenBucket({ capacity: 10, refill: '1/s' }), store })
for (let i = 0; i < 5; i++) await limiter.tryAcquire('key')
console.log(`breaker ${store.stats().breaker}`)
