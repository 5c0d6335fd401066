// One process of a fleet with leases: asks for one key, much more often than its limit allows, until it is told to end. It
// writes when each admitted request was sent and answered, by a clock that all processes of a machine share.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createLimiter, parseLimit } from 'sluice'
import { leasedStore } from 'sluice/leased'
import { ioredisOptions, redisStore } from 'sluice/redis'

const REQUESTS_A_TURN = 10

const { port, limit, log } = JSON.parse(process.argv[2])
const file = openSync(log, 'a')
const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true, retryStrategy: () => 20 })
client.on('error', () => {})
await client.connect()
const store = leasedStore(redisStore(client, { onFailure: 'closed' }))
const limiter = createLimiter({ name: 'fleet', limit: parseLimit(limit), store })
const nowUs = () => Number(process.hrtime.bigint() / 1_000n)

let asked = 0
let isOver = false
process.once('message', () => {
  isOver = true
})
process.send('ready')

while (!isOver) {
  const lines = []
  for (let i = 0; i < REQUESTS_A_TURN; i++) {
    const sentUs = nowUs()
    const { allowed } = limiter.tryAcquireNow('everyone') ?? (await limiter.tryAcquire('everyone'))
    asked++
    if (allowed) lines.push(`${sentUs} ${nowUs()}\n`)
  }
  // Written at once, so that a process that is killed leaves its log.
  if (lines.length > 0) writeSync(file, lines.join(''))
  await pause(1)
}
const { exchanges, direct } = store.stats()
await store.close()
process.send({ asked, calls: exchanges + direct })
client.disconnect()
process.disconnect()
