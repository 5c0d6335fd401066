import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { freePort, startRedis } from '../../../../scripts/redis-server.mjs'
import { CLIENT_NAMES } from './faults-clients.js'

/** What a script says until it ends by itself. */
async function said(script: string, ...args: readonly string[]): Promise<string> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [path, ...args], { timeout: 10_000 })
  return stdout + stderr
}

it.each(CLIENT_NAMES)('an outage does not keep a process alive (%s)', async (name) => {
  expect(await said('./faults-exit.mjs', name, String(await freePort()))).toBe('breaker open\n')
})

it('a deadline that is far off does not keep a process alive when all is answered', async () => {
  const server = await startRedis()
  try {
    expect(await said('./faults-exit-answered.mjs', String(server.port))).toBe('true undefined\n')
  } finally {
    await server.stop()
  }
})
