// One process that calls the strict API through a shaper, in bursts of random size with lulls of random length. If the
// queue is full, a call comes back after the error's `retryAfterMs`.
import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createShaper, QueueFullError } from 'sluice'
import { ioredisOptions, redisStore } from 'sluice/redis'

const CONNECTIONS = 8
const {
  redisPort,
  apiPort,
  shaper: numbers,
  mostInABurst,
  longestLullMs,
  mostAtATime,
  deadlineMs,
} = JSON.parse(process.argv[2])

const client = new Redis(redisPort, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
await client.connect()
const store = redisStore(client, { deadlineMs })
const shaper = createShaper({ ...numbers, store })
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

const counts = { calls: 0, answered: 0, forbidden: 0, failed: 0, queueFull: 0, bursts: 0 }
/** The spans in which there was work, as `[fromMs, toMs]`. */
const busy = []
let atATime = 0
let busySinceMs = 0
let isOver = false

const nowMs = () => performance.timeOrigin + performance.now()

function ask(path) {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port: apiPort, path, agent }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode))
    })
    request.once('error', reject)
  })
}

async function call() {
  if (atATime++ === 0) busySinceMs = nowMs()
  counts.calls++
  try {
    const status = await atItsTurn(() => ask('/call'))
    counts.answered++
    if (status === 403) counts.forbidden++
  } catch (error) {
    counts.failed++
    console.error(error)
  }
  if (--atATime === 0) busy.push([busySinceMs, nowMs()])
}

async function atItsTurn(work) {
  for (;;) {
    try {
      return await shaper.run(work)
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error
      counts.queueFull++
      await pause(error.retryAfterMs)
    }
  }
}

async function callInBursts() {
  const all = new Set()
  while (!isOver) {
    const wanted = Math.min(Math.ceil(Math.random() * mostInABurst), mostAtATime - atATime)
    if (wanted > 0) counts.bursts++
    for (let i = 0; i < wanted; i++) {
      const one = call().then(() => all.delete(one))
      all.add(one)
    }
    await pause(Math.random() * longestLullMs)
  }
  await Promise.all(all)
}

process.once('message', async () => {
  process.once('message', () => {
    isOver = true
  })
  await callInBursts()
  const degraded = Object.values(store.stats().degraded).reduce((total, times) => total + times, 0)
  process.send({ ...counts, degraded, busy })
  agent.destroy()
  client.disconnect()
  process.disconnect()
})
// Open the connections and load the script before the first turn.
await Promise.all(Array.from({ length: CONNECTIONS }, () => ask('/greeting')))
await store.decide([
  { name: 'greeting', limit: { algorithm: 'leaky-bucket', capacity: 1, drain: '1/s' }, key: 'x', cost: 0 },
])
process.send('ready')
