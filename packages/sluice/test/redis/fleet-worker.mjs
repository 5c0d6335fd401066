// One process of a fleet: 64 callers who ask for the same key from when they are told to begin to an end by Redis's clock.
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { parseLimit } from 'sluice'
import { ioredisOptions, redisStore } from 'sluice/redis'

const CALLERS = 64

const { port, limits } = JSON.parse(process.argv[2])
const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
await client.connect()
// Who is late is denied here and not counted, though Redis may have taken: no deadline, no such doubt.
const store = redisStore(client, { deadlineMs: 60_000, onFailure: 'closed' })
const demands = limits.map(({ name, limit }) => ({ name, limit: parseLimit(limit), key: 'everyone', cost: 1 }))
await store.decide(demands.map((demand) => ({ ...demand, cost: 0 })))

let admitted = 0
let admittedInTime = 0
let asked = 0
let firstTakenUs = Infinity

/** Asks until Redis's clock has come to the end. */
async function calls(endUs) {
  for (let nowUs = 0; nowUs < endUs; ) {
    const { allowed, decisions, takenUs } = await store.decide(demands)
    nowUs = takenUs[0]
    asked++
    if (allowed) {
      admitted++
      if (nowUs <= endUs) admittedInTime++
      firstTakenUs = Math.min(firstTakenUs, nowUs)
    } else {
      await pause(Math.max(...decisions.map(({ retryAfterMs }) => retryAfterMs)))
    }
  }
}

process.once('message', async ({ endUs }) => {
  await Promise.all(Array.from({ length: CALLERS }, () => calls(endUs)))
  const { degraded } = store.stats()
  process.send({ admitted, admittedInTime, asked, firstTakenUs, degraded })
  client.disconnect()
  process.disconnect()
})
process.send('ready')
