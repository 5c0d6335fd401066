import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../../../sluice/test/property/arbitraries.js'
import { ServiceProcess } from './service-process.js'

const folder = mkdtempSync(join(tmpdir(), 'sluice-clients-'))
const policy = join(folder, 'policy.yaml')
const example = (name: string) => fileURLToPath(new URL(`../../examples/clients/${name}`, import.meta.url))
const goProgram = join(folder, 'check')

/** How each example is run, and how to see whether its language is there. To build with Go takes long. */
const EXAMPLES = [
  { language: 'curl', version: ['curl', '--version'], command: ['sh', example('check.sh')] },
  { language: 'Python', version: ['python3', '--version'], command: ['python3', example('check.py')] },
  ...(isLong ? [{ language: 'Go', version: ['go', 'version'], command: [goProgram] }] : []),
].map((each) => ({ ...each, isThere: spawnSync(each.version[0], each.version.slice(1)).status === 0 }))

let service: ServiceProcess

beforeAll(async () => {
  writeFileSync(
    policy,
    'version: 1\nlevels:\n  - name: merchant\n    key: [merchant]\n    limit: { algorithm: token-bucket, capacity: 2, refill: 1/h }\n',
  )
  service = await ServiceProcess.start(['--policy', policy])
})

afterAll(async () => {
  await service?.kill()
  rmSync(folder, { recursive: true, force: true })
})

function run([program, ...args]: readonly string[], merchant: string): Promise<{ code: number; stdout: string }> {
  const env = { ...process.env, SLUICE_URL: service.url, no_proxy: '127.0.0.1', NO_PROXY: '127.0.0.1' }
  return new Promise((resolve) => {
    execFile(program, [...args, merchant], { env, timeout: 20_000 }, (error, stdout) => {
      resolve({ code: Number(error?.code ?? 0), stdout })
    })
  })
}

describe.each(EXAMPLES)('the example for $language', ({ language, command, isThere }) => {
  if (!isThere) console.warn(`${language} is not installed: its example is not tested`)

  it.skipIf(!isThere)(
    'lets requests go until the service denies them, and when the service is away',
    async () => {
      if (command[0] === goProgram) buildGo()
      const merchant = `acct_${language}`
      // The first answer of a cold service may take longer than the example waits.
      await fetch(`${service.url}/v1/check`, { method: 'POST', body: '{"attributes":{"merchant":"warm-up"}}' })
      expect(await run(command, merchant)).toEqual({ code: 0, stdout: 'allowed\n' })
      expect(await run(command, merchant)).toEqual({ code: 0, stdout: 'allowed\n' })
      const denied = await run(command, merchant)
      expect(denied.code).toBe(1)
      expect(denied.stdout).toMatch(/^denied.*merchant/)
      service.signal('SIGSTOP')
      const away = await run(command, merchant)
      service.signal('SIGCONT')
      expect(away).toEqual({ code: 0, stdout: 'allowed: the service did not answer\n' })
    },
    120_000,
  )
})

function buildGo(): void {
  const { status, stderr } = spawnSync('go', ['build', '-o', goProgram, example('check.go')], {
    env: { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' },
    cwd: folder,
  })
  expect(status, String(stderr)).toBe(0)
}
