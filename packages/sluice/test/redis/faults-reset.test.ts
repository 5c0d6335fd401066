import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { CLIENT_NAMES } from './faults-clients.js'
import { expectBoundedAdmissions, expectNothingTwice, expectPromptAnswers } from './faults-laws.js'
import { Load } from './faults-load.js'
import { until } from './faults-until.js'
import { FaultyWire } from './faults-wire.js'

it.each(CLIENT_NAMES)('a call whose reply broke off is not made again (%s)', async (name) => {
  const server = await startRedis()
  const wire = await FaultyWire.to(server.port)
  const load = await Load.on(name, server.port, wire.port)
  try {
    await until('Redis answers', () => load.isServed(1_000))
    for (let cut = 1; cut <= 5; cut++) {
      wire.cutNextReply()
      await until('the connection is cut', () => wire.cuts === cut)
      const { answered } = load.tallies.closed
      await until('Redis answers again', () => load.tallies.closed.answered > answered + 60)
    }
    await load.stop()
    expectPromptAnswers(load)
    expectNothingTwice(await load.charged(), load.confirmed)
    expect(load.store.stats().degraded.error).toBeGreaterThan(0)
    expectBoundedAdmissions(load.tallies, 0)
  } finally {
    await load.stop()
    await wire.stop()
    await server.stop()
  }
})
