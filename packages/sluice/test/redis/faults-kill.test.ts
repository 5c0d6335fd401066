import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { CLIENT_NAMES } from './faults-clients.js'
import { expectBoundedAdmissions, expectNothingTwice, expectPromptAnswers } from './faults-laws.js'
import { Load } from './faults-load.js'
import { until } from './faults-until.js'

it.each(CLIENT_NAMES)('a Redis that is killed and started anew costs one capacity more (%s)', async (name) => {
  let server = await startRedis()
  const { port } = server
  const load = await Load.on(name, port)
  try {
    await until('Redis answers', () => load.isServed(2_000))
    // Stopped first, so that calls are on their way when it dies.
    server.signal('SIGSTOP')
    await until('calls wait', () => load.store.stats().pending > 20)
    server.signal('SIGKILL')
    await server.stop()
    await until('answers without Redis', () => load.isDegraded(3_000) && load.store.stats().breaker === 'open')
    const earlier = load.recount()
    const before = load.issued
    server = await startRedis({ port })
    await until('limits hold again', () => load.isServed(2_000))
    await load.stop()
    expectPromptAnswers(load)
    // Each of the two servers kept the limit.
    expectBoundedAdmissions(earlier, 0)
    expectBoundedAdmissions(load.tallies, 0)
    // Nothing that was asked of the first was asked of the second.
    const charged = await load.charged()
    expectNothingTwice(charged, new Set())
    expect([...charged.keys()].filter((id) => id <= before)).toEqual([])
    expect(charged.size).toBeGreaterThan(0)
  } finally {
    await load.stop()
    await server.stop()
  }
})
