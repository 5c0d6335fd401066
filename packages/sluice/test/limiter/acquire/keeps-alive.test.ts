import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const program = `
  import { createLimiter, tokenBucket } from 'sluice'
  const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '20/s' }) })
  await limiter.acquire('key')
  limiter.acquire('key').then(() => console.log('served'))
`

it('a process ends only when its waiters have been served', async () => {
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, timeout: 20_000 })
  expect(stdout).toBe('served\n')
})
