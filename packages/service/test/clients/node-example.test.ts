/** The example for Node in docs/service-clients.md, as readers copy it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runExamples } from '../../../sluice/test/docs/page-examples.js'
import { ServiceProcess } from './service-process.js'

interface Example {
  check(attributes: Record<string, string | null>, cost?: number): Promise<unknown>
  mayGo(merchant: string, ip: string): Promise<boolean>
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-node-client-'))
const policy = join(folder, 'policy.yaml')
let service: ServiceProcess
let example: Example

beforeAll(async () => {
  writeFileSync(
    policy,
    'version: 1\nlevels:\n  - name: merchant\n    key: [merchant]\n    limit: { algorithm: token-bucket, capacity: 2, refill: 1/h }\n',
  )
  service = await ServiceProcess.start(['--policy', policy])
  vi.stubEnv('SLUICE_URL', service.url)
  ;[example] = await runExamples<Example>('service-clients.md', 'Node: ask the policy')
  // The first answer of a cold service may take longer than the example waits.
  await fetch(`${service.url}/v1/check`, { method: 'POST', body: '{"attributes":{"merchant":"warm-up"}}' })
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await service?.kill()
  rmSync(folder, { recursive: true, force: true })
})

it('lets requests go until the policy denies them, and tells by which level and for how long', async () => {
  const goes = []
  for (let i = 0; i < 3; i++) goes.push(await example.mayGo('acct_1', '192.0.2.7'))
  expect(goes).toEqual([true, true, false])
  expect(await example.check({ merchant: 'acct_1' })).toMatchObject({
    allowed: false,
    deniedBy: ['merchant'],
    retryAfterMs: expect.any(Number),
  })
  expect(await example.check({ merchant: 'acct_1' }, 3)).toMatchObject({ allowed: false, retryAfterMs: null })
})

it('a level is skipped if the request lacks the attribute of its key', async () => {
  for (let i = 0; i < 4; i++)
    expect(await example.check({ ip: '192.0.2.7' })).toMatchObject({ allowed: true, levels: [] })
})

it('a mistake in the question is an error that says what would be right', async () => {
  await expect(example.check({ merchant: 'acct_1' }, -1)).rejects.toThrow(/cost/)
})

it('lets requests go while the service does not answer', async () => {
  service.signal('SIGSTOP')
  try {
    expect(await example.mayGo('acct_1', '192.0.2.7')).toBe(true)
  } finally {
    service.signal('SIGCONT')
  }
})
