import { expect, it } from 'vitest'
import { startRedis } from '../../../../../scripts/redis-server.mjs'
import { sampleOf, scrape, serveHere } from '../serve-here.js'

it('shows the health of a Redis store, also while Redis is away', async () => {
  const redis = await startRedis()
  const running = await serveHere({ store: `redis://127.0.0.1:${redis.port}` })
  const check = () => fetch(`${running.url}/v1/check`, { method: 'POST', body: '{"attributes":{"merchant":"a"}}' })
  try {
    const degradedNow = async () => ((await (await check()).json()) as { degraded?: string }).degraded
    await expect.poll(degradedNow, { timeout: 20_000 }).toBeUndefined()
    const before = await scrape(running.url)
    expect(sampleOf(before, 'sluice_store_calls_total')).toBeGreaterThan(0)
    expect(sampleOf(before, 'sluice_store_batches_total')).toBeGreaterThan(0)
    expect(sampleOf(before, 'sluice_store_breaker_open')).toBe(0)
    expect(sampleOf(before, 'sluice_info{store="redis",version="0.1.0"}')).toBe(1)
    const degraded = 'sluice_decisions_degraded_total{kind="policy",name="payments"}'
    const beforeCount = sampleOf(before, degraded) ?? 0
    await redis.stop()
    await expect
      .poll(
        async () => {
          await check()
          const metrics = await scrape(running.url)
          return (
            sampleOf(metrics, 'sluice_store_breaker_open') === 1 && (sampleOf(metrics, degraded) ?? 0) > beforeCount
          )
        },
        { timeout: 20_000 },
      )
      .toBe(true)
    running.service.recorder.tick(Date.now())
    expect(running.service.recorder.summary.latest?.store).toMatchObject({ kind: 'redis', breaker: 'open' })
  } finally {
    await running.close()
    await redis.stop()
  }
})
