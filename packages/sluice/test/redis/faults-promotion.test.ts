import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { CLIENT_NAMES, onServer } from './faults-clients.js'
import { expectBoundedAdmissions, expectNothingTwice, expectPromptAnswers } from './faults-laws.js'
import { Load } from './faults-load.js'
import { until } from './faults-until.js'

const isLinked = async (port: number) =>
  (await onServer(port, (redis) => redis.info('replication'))).includes('master_link_status:up')

it.each(CLIENT_NAMES)('a replica refuses, and decides as soon as it is promoted (%s)', async (name) => {
  const args = ['--repl-diskless-sync-delay', '0']
  const other = await startRedis({ args })
  const server = await startRedis({ args })
  const load = await Load.on(name, server.port)
  try {
    await until('Redis answers', () => load.isServed(2_000))
    const before = await onServer(server.port, async (redis) => {
      // The other one copies what there is, and then the two change places.
      await onServer(other.port, (it) => it.replicaof('127.0.0.1', server.port))
      await until('the copy is complete', () => isLinked(other.port), 15_000)
      await onServer(other.port, (it) => it.replicaof('NO', 'ONE'))
      await redis.replicaof('127.0.0.1', other.port)
      return load.issued
    })
    await until('it is a replica', () => isLinked(server.port), 15_000)
    await until('answers without Redis', () => load.isDegraded(3_000) && load.store.stats().breaker === 'open')
    await onServer(server.port, (redis) => redis.replicaof('NO', 'ONE'))
    await until('Redis answers again', () => load.store.stats().breaker === 'closed')
    const { answered } = load.tallies.closed
    await until('limits hold again', () => load.tallies.closed.answered >= answered + 2_000)
    await load.stop()
    expectPromptAnswers(load)
    // What was confirmed after the copy was cut off may be lost with the failover, and only that.
    const charged = await load.charged()
    expectNothingTwice(charged, new Set())
    expect([...load.confirmed].some((id) => id > before && charged.has(id))).toBe(true)
    expectBoundedAdmissions(load.tallies, 1)
    expect(load.store.stats().degraded.error).toBeGreaterThan(0)
  } finally {
    await load.stop()
    await server.stop()
    await other.stop()
  }
})
