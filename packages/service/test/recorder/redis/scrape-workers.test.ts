import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startRedis } from '../../../../../scripts/redis-server.mjs'
import { ServeProcess } from '../../serve/serve-process.js'
import { scrape } from '../serve-here.js'

const POLICY =
  'version: 1\nname: api\nlevels:\n  - { name: all, limit: { algorithm: token-bucket, capacity: 9, refill: 1/s } }\n'

it('answers every scrape with the metrics of all workers, and counts policies that were refused', async () => {
  const redis = await startRedis()
  const folder = await mkdtemp(join(tmpdir(), 'sluice-scrape-'))
  const file = join(folder, 'policy.yaml')
  writeFileSync(file, POLICY)
  try {
    await using served = await ServeProcess.start(['--policy', file, '--store', redis.url, '--workers', '2'])
    for (let i = 0; i < 20; i++)
      await fetch(`${served.url}/v1/check`, { method: 'POST', body: '{}', headers: { connection: 'close' } })
    for (let i = 0; i < 6; i++) {
      const metrics = await scrape(served.url)
      const decisions = [...(metrics.get('sluice_decisions_total')?.samples ?? [])]
      const ofPolicy = decisions.filter(([series]) => series.includes('name="api"'))
      expect(ofPolicy.reduce((sum, [, count]) => sum + count, 0)).toBe(20)
      expect(metrics.get('process_cpu_seconds_total')?.samples.size).toBe(2)
    }
    writeFileSync(file, 'version: 1\nlevels: nothing\n')
    await served.says('the policy file cannot be used; the last good policy stays in force')
    const workersThatRefused = async () => {
      const reloads = [...((await scrape(served.url)).get('sluice_policy_reloads_total')?.samples ?? [])]
      return reloads.filter(([series, count]) => series.includes('refused') && count > 0).length
    }
    await expect.poll(workersThatRefused, { timeout: 20_000 }).toBe(2)
  } finally {
    await redis.stop()
    await rm(folder, { recursive: true })
  }
})
