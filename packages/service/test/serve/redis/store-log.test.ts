/** What the log says while Redis is away. */
import { expect, test } from 'vitest'
import { freePort, startRedis } from '../../../../../scripts/redis-server.mjs'
import { ServeProcess } from '../serve-process.js'

const AWAY = 'the store does not answer; decisions are made by the rule'
const BACK = 'the store answers again'

test('the log names the rule once in an outage, without a stack, and says when Redis is back', async () => {
  const port = await freePort()
  await using running = await ServeProcess.start(['--store', `redis://127.0.0.1:${port}`, '--on-failure', 'closed'])
  const away = await running.says(AWAY)
  expect(away).toMatchObject({ level: 40, rule: 'closed', reason: expect.stringContaining('ECONNREFUSED') })
  expect(away.err).toBeUndefined()
  const redis = await startRedis({ port })
  try {
    await running.says(BACK)
    // The client has tried several times in the meantime, and got the same answer.
    expect(running.lines.filter(({ msg }) => msg === AWAY)).toHaveLength(1)
  } finally {
    await redis.stop()
  }
  await running.says(
    AWAY,
    running.lines.findIndex(({ msg }) => msg === BACK),
  )
})
