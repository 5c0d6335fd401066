import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

/** Nobody is there to take a warning but the console, as in an edge runtime. */
const PROGRAM = `
import { createPolicy, tokenBucket } from 'sluice'
delete globalThis.process
const limit = tokenBucket({ capacity: 2, refill: '1/s' })
const policy = createPolicy({ levels: ['one', 'again'].map((name) => ({ name, key: 'user', limit })) })
console.log(policy.warnings.length > 0, policy.check({ user: 'u' }).allowed)
`

it('a policy that is odd works where there is no process to warn, and says so to the console', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], { encoding: 'utf8' })
  expect(stdout).toBe('true true\n')
  expect(stderr).toMatch(/^\[SLUICE_POLICY\] policy default: .*'again' can never deny/)
})
