import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { CLIENT_NAMES, onServer } from './faults-clients.js'
import { expectBoundedAdmissions, expectNothingTwice, expectPromptAnswers } from './faults-laws.js'
import { Load } from './faults-load.js'
import { until } from './faults-until.js'

it.each(CLIENT_NAMES)('a Redis that forgets the script gets it again, and no answer is degraded (%s)', async (name) => {
  const server = await startRedis()
  const load = await Load.on(name, server.port)
  try {
    await until('Redis answers', () => load.isServed(1_000))
    for (let flushed = 1; flushed <= 5; flushed++) {
      const { scriptsSent } = load.store.stats()
      await until('the script is sent', async () => {
        // Again and again, because a text that was on its way may have brought the script back.
        await onServer(server.port, (redis) => redis.script('FLUSH'))
        return load.store.stats().scriptsSent > scriptsSent
      })
    }
    const { answered } = load.tallies.closed
    await until('limits hold', () => load.tallies.closed.answered >= answered + 1_000)
    await load.stop()
    expectPromptAnswers(load)
    expectNothingTwice(await load.charged(), load.confirmed)
    expectBoundedAdmissions(load.tallies, 0)
    expect(load.store.stats().degraded.error).toBe(0)
  } finally {
    await load.stop()
    await server.stop()
  }
})
