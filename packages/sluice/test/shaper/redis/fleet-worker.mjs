// One process of a fleet: callers on one shaper that wait for another turn as soon as they have had one.
import { Redis } from 'ioredis'
import { createShaper } from 'sluice'
import { ioredisOptions, redisStore } from 'sluice/redis'

const { port, shaper: numbers, callers } = JSON.parse(process.argv[2])
const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
await client.connect()
// A late answer would be given without Redis, which another test covers.
const store = redisStore(client, { deadlineMs: 60_000 })
const shaper = createShaper({ ...numbers, store, onFailure: 'closed' })
await store.decide([])
let isOver = false

async function calls() {
  while (!isOver) {
    const { atMs } = await shaper.wait()
    // The system's clock, which Redis uses too. It says whole milliseconds.
    process.send({ atMs, leftMs: Date.now() })
  }
}

process.once('message', async () => {
  process.once('message', () => {
    isOver = true
  })
  await Promise.all(Array.from({ length: callers }, calls))
  await shaper.close()
  client.disconnect()
  process.disconnect()
})
process.send('ready')
