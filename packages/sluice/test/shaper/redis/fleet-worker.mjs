// One process of a fleet: so many callers, each of whom waits for a turn again as soon as it has had one, on one shaper.
import { Redis } from 'ioredis'
import { createShaper } from 'sluice'
import { ioredisOptions, redisStore } from 'sluice/redis'

const { port, shaper: numbers, callers } = JSON.parse(process.argv[2])
const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
await client.connect()
// Whoever is late is on its own from then on, which is another test's business.
const store = redisStore(client, { deadlineMs: 60_000 })
const shaper = createShaper({ ...numbers, store, onFailure: 'closed' })
await store.decide([])
let isOver = false

async function calls() {
  while (!isOver) {
    const { atMs } = await shaper.wait()
    // The system's clock, which is Redis's too, and says whole milliseconds.
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
