import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisCluster, startCluster } from '../../../../scripts/redis-cluster.mjs'
import { type AsyncPolicy, createPolicy, fixedWindow } from '../../src/index.js'
import { type RedisStore, redisStore } from '../../src/stores/redis/index.js'
import { isLong } from '../property/arbitraries.js'
import { CLUSTER_CLIENTS, type ClusterClient } from './cluster-clients.js'
import { onServer } from './faults-clients.js'
import { until } from './faults-until.js'
import { ownServer } from './own-server.js'

const CLIENTS = fileURLToPath(new URL('./reservation-clients.mjs', import.meta.url))
const PROCESSES = isLong ? 20 : 8
/** `npm run test:long` has as many in a cluster. */
const PROCESSES_IN_CLUSTER = isLong ? PROCESSES : 5
const TTL_MS = 3_000
const USERS = Array.from({ length: 10 }, (_, i) => `user-${i}`)
/** Far more than all clients reserve. Half of it is taken at the start, so that a unit given back twice would show. */
const QUOTA = 2_000_000
const HALF = QUOTA / 2
const limit = fixedWindow({ quota: QUOTA, window: '30d', align: 'first' })
const levels = [
  { name: 'small', key: ['user'], cost: 'small', limit },
  { name: 'large', key: ['user'], cost: 'large', limit },
] as const

/** Runs processes of 50 clients. Each is killed after a random number of its calls. Returns how many calls were told. */
async function runAndKill(ports: readonly number[], prefix: string, processes: number) {
  const told = { reserved: 0, settled: 0 }
  const kill = async (child: ChildProcess) => {
    let calls = 100 + Math.floor(Math.random() * 400)
    child.on('message', (what: keyof typeof told) => {
      told[what]++
      if (--calls === 0) child.kill('SIGKILL')
    })
    const [code, signal] = await once(child, 'exit')
    expect([code, signal]).toEqual([null, 'SIGKILL'])
  }
  const argument = JSON.stringify({ ports, prefix, levels, ttl: `${TTL_MS}ms` })
  // A few at a time, so that some are killed while others run.
  for (let started = 0; started < processes; started += 5)
    await Promise.all(Array.from({ length: 5 }, () => kill(fork(CLIENTS, [argument], { execArgv: [] }))))
  return told
}

function policyOn(store: RedisStore): AsyncPolicy {
  return createPolicy({ name: 'killed', levels, store }) as AsyncPolicy
}

/** Takes half of everything, for good. */
async function takeHalf(policy: AsyncPolicy): Promise<void> {
  for (const user of USERS) await policy.charge({ user, small: HALF, large: HALF })
}

/** How many units of each level are taken now, beyond the first half. */
async function taken(policy: AsyncPolicy): Promise<{ small: number; large: number }> {
  const verdicts = await Promise.all(USERS.map((user) => policy.peek({ user, small: 0, large: 0 })))
  const sum = (place: number) => verdicts.reduce((all, { levels }) => all + HALF - levels[place].decision.remaining, 0)
  return { small: sum(0), large: sum(1) }
}

describe('on one server', () => {
  const own = ownServer()

  test('1,000 clients are killed between reserve and settle: every unit comes back within the ttl, and none twice', async () => {
    const policy = policyOn(own.store)
    await takeHalf(policy)
    const told = await runAndKill([own.server.port], 'sluice:', PROCESSES)
    const killedMs = performance.now()
    await own.store.reservations.sweep()
    const open = () => own.redis.zcard('sluice:r:{reservations-0}')
    await until('nothing is open', async () => (await open()) === 0)
    // The ttl, and the second until the next sweep, on a machine that may be busy.
    expect(performance.now() - killedMs).toBeLessThan(TTL_MS + 4_000)
    // A settled reservation keeps 1 and 4 units, any other keeps none: so there is no other way to these sums.
    const { small, large } = await taken(policy)
    expect(large).toBe(4 * small)
    expect(small).toBeGreaterThanOrEqual(told.settled)
    expect(small).toBeLessThanOrEqual(told.settled + PROCESSES * 50)
    expect(told.reserved).toBeGreaterThan(PROCESSES * 50)
    expect(await own.redis.keys('sluice:r:*')).toEqual([])
    own.store.close()
  }, 120_000)
})

describe('in a cluster', () => {
  let cluster: RedisCluster
  let opened: ClusterClient

  beforeAll(async () => {
    cluster = await startCluster()
    opened = await CLUSTER_CLIENTS.ioredis(cluster)
  })
  afterAll(async () => {
    opened?.close()
    await cluster?.stop()
  })

  test(`${PROCESSES_IN_CLUSTER * 50} clients are killed between reserve and settle: nothing stays open, and no unit comes back twice`, async () => {
    const store = redisStore(opened.client, { deadlineMs: 20_000, onFailure: 'closed' })
    const policy = policyOn(store)
    await takeHalf(policy)
    const ports = cluster.nodes.map(({ port }) => port)
    const told = await runAndKill(ports, 'sluice:', PROCESSES_IN_CLUSTER)
    await store.reservations.sweep()
    await until('nothing is open', async () => {
      const keys = await Promise.all(ports.map((port) => onServer(port, (redis) => redis.keys('sluice:r:*'))))
      return keys.flat().length === 0
    })
    // A process that was killed between two calls leaves units taken: at most those of one call of each client.
    const { small, large } = await taken(policy)
    expect(small).toBeGreaterThanOrEqual(told.settled)
    expect(large).toBeGreaterThanOrEqual(4 * told.settled)
    const most = told.settled + PROCESSES_IN_CLUSTER * 50
    expect(small).toBeLessThanOrEqual(most + 2 * 5 * PROCESSES_IN_CLUSTER * 50)
    store.close()
  }, 120_000)
})
