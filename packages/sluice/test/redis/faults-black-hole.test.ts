import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { CLIENT_NAMES } from './faults-clients.js'
import { expectBoundedAdmissions, expectNothingTwice, expectPromptAnswers } from './faults-laws.js'
import { Load } from './faults-load.js'
import { until } from './faults-until.js'

it.each(CLIENT_NAMES)('a Redis that falls silent admits nothing beyond its limit (%s)', async (name) => {
  const server = await startRedis()
  const load = await Load.on(name, server.port)
  try {
    await until('Redis answers', () => load.isServed(2_000))
    server.signal('SIGSTOP')
    await until('answers without Redis', () => load.isDegraded(3_000) && load.store.stats().breaker === 'open')
    expect(load.store.stats().degraded.deadline).toBeGreaterThan(0)
    server.signal('SIGCONT')
    await until('Redis answers again', () => load.store.stats().breaker === 'closed')
    const { answered } = load.tallies.closed
    await until('limits hold again', () => load.tallies.closed.answered >= answered + 2_000)
    await load.stop()
    expectPromptAnswers(load)
    expectNothingTwice(await load.charged(), load.confirmed)
    expectBoundedAdmissions(load.tallies, 0)
    // Redis later runs the calls that it had received before it fell silent, although their callers have answers.
    expect(load.store.stats().late).toBeGreaterThan(0)
  } finally {
    await load.stop()
    await server.stop()
  }
})
