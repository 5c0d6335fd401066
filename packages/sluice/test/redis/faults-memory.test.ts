import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { CLIENT_NAMES, onServer } from './faults-clients.js'
import { expectBoundedAdmissions, expectNothingTwice, expectPromptAnswers } from './faults-laws.js'
import { Load } from './faults-load.js'
import { until } from './faults-until.js'

it.each(CLIENT_NAMES)('a Redis that is full decides nothing, and nothing by halves (%s)', async (name) => {
  const server = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] })
  const load = await Load.on(name, server.port)
  try {
    await until('Redis answers', () => load.isServed(2_000))
    await onServer(server.port, (redis) => redis.config('SET', 'maxmemory', '100kb'))
    await until('answers without Redis', () => load.isDegraded(3_000) && load.store.stats().breaker === 'open')
    await onServer(server.port, (redis) => redis.config('SET', 'maxmemory', '0'))
    await until('Redis answers again', () => load.store.stats().breaker === 'closed')
    const { answered } = load.tallies.closed
    await until('limits hold again', () => load.tallies.closed.answered >= answered + 2_000)
    await load.stop()
    expectPromptAnswers(load)
    expectNothingTwice(await load.charged(), load.confirmed)
    expectBoundedAdmissions(load.tallies, 0)
    expect(load.store.stats().degraded.error).toBeGreaterThan(0)
  } finally {
    await load.stop()
    await server.stop()
  }
})
