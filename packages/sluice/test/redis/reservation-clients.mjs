// One process with 50 clients. Each reserves and then settles, cancels or forgets, again and again, until the process is
// killed. Every call that ends a reservation is made twice.
import { setTimeout as pause } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { createPolicy } from 'sluice'
import { ioredisClusterOptions, ioredisOptions, redisStore } from 'sluice/redis'

const CLIENTS = 50
const { ports, prefix, levels, ttl } = JSON.parse(process.argv[2])
const client =
  ports.length === 1
    ? new Redis(ports[0], '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
    : new Cluster(
        ports.map((port) => ({ host: '127.0.0.1', port })),
        { ...ioredisClusterOptions, lazyConnect: true },
      )
client.on('error', () => {})
await client.connect()
// A cluster's client connects to the other servers in the background.
const isReady = () =>
  ports.length === 1 || client.nodes('master').filter(({ status }) => status === 'ready').length === 3
while (!isReady()) await pause(5)
const store = redisStore(client, { prefix, deadlineMs: 60_000, onFailure: 'closed' })
const policy = createPolicy({ name: 'killed', levels, store })

async function run(number) {
  for (let round = 0; ; round++) {
    const user = `user-${number % 10}`
    const id = `${process.pid}-${number}-${round}`
    const reserve = () => policy.reserve({ user, small: 5, large: 5 }, { ttl, id })
    const [{ verdict }] = await Promise.all([reserve(), reserve()])
    if (!verdict.allowed) throw new Error('the quota is not large enough for this test')
    process.send('reserved')
    await pause(Math.random() * 20)
    const kind = Math.random()
    const end = kind < 0.4 ? () => policy.settle(id, { small: 1, large: 4 }) : () => policy.cancel(id)
    if (kind > 0.8) continue
    const ended = await Promise.all([end(), end()])
    if (ended.filter(Boolean).length !== 1) throw new Error(`ended ${ended.join(' and ')}`)
    if (kind < 0.4) process.send('settled')
  }
}

process.on('disconnect', () => process.exit())
await Promise.all(Array.from({ length: CLIENTS }, (_, number) => run(number)))
