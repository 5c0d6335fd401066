// One process of a fleet: callers of one policy, from when they are told to begin until they have asked often enough.
import { Redis } from 'ioredis'
import { createPolicy, fixedWindow, tokenBucket } from 'sluice'
import { ioredisOptions, redisStore } from 'sluice/redis'

const { port, global, merchant, asks } = JSON.parse(process.argv[2])
const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
await client.connect()
// Who is late is denied here and not counted, though Redis may have taken: no deadline, no such doubt.
const store = redisStore(client, { deadlineMs: 60_000, onFailure: 'closed' })
const policy = createPolicy({
  name: 'fleet',
  levels: [
    { name: 'global', limit: fixedWindow({ quota: global, window: '1000d' }) },
    { name: 'merchant', key: 'merchant', limit: tokenBucket({ capacity: merchant, refill: '1/d' }) },
    { name: 'shadow', limit: fixedWindow({ quota: 10, window: '1000d' }), shadow: true },
  ],
  store,
})
await policy.peek({ merchant: 'none' })

process.once('message', async () => {
  const through = {}
  let shadow = 0
  const merchants = Array.from({ length: asks }, (_, i) => `m${i % 10}`)
  const callers = Array.from({ length: 32 }, async () => {
    for (let name = merchants.pop(); name !== undefined; name = merchants.pop()) {
      const { allowed, levels } = await policy.check({ merchant: name })
      if (!allowed) continue
      through[name] = (through[name] ?? 0) + 1
      if (levels[2].decision.allowed) shadow++
    }
  })
  await Promise.all(callers)
  process.send({ through, shadow, degraded: store.stats().degraded })
  client.disconnect()
  process.disconnect()
})
process.send('ready')
