import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../../../scripts/redis-server.mjs'
import { ServeProcess } from '../../../../service/test/serve/serve-process.js'
import { openPage } from '../open-page.js'
import { readFrames } from '../read-frames.js'

const WORKERS = 2
const REQUESTS = 40
const WITHIN = { timeout: 10_000 }

test('the page shows the decisions of all workers together', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const service = await ServeProcess.start(['--store', redis.url, '--workers', String(WORKERS)])
  onTestFinished(() => service[Symbol.asyncDispose]())
  const page = await openPage(`${service.url}/#live?window=1m`)
  const workers = page.getByText('Workers').locator('xpath=following-sibling::dd')
  await expect.poll(() => workers.textContent(), WITHIN).toBe(String(WORKERS))
  const reader = await readFrames(service.url)
  // A connection of its own for each request: the workers share them.
  const answers = await Promise.all(Array.from({ length: REQUESTS }, () => checkOnce(service.url)))
  expect(new Set(answers)).toEqual(new Set([true]))
  await reader.has(REQUESTS)
  const sent = reader.frames.reduce((sum, { allowed }) => sum + allowed, 0)
  expect(sent).toBe(REQUESTS)
  const busiest = Math.max(...reader.frames.map(({ allowed, elapsedMs }) => (allowed * 1_000) / elapsedMs))
  await expect.poll(() => busiestOf(page.getByText(/allowed and .* denied on average/)), WITHIN).toBeCloseTo(busiest, 0)
})

async function checkOnce(url: string): Promise<boolean> {
  const body = JSON.stringify({ attributes: { merchant: 'acct_big' } })
  const answer = await fetch(`${url}/v1/check`, { method: 'POST', body, headers: { connection: 'close' } })
  return ((await answer.json()) as { readonly allowed: boolean }).allowed
}

/** The busiest moment in the sentence under a chart. */
async function busiestOf(summary: { first(): { textContent(): Promise<string | null> } }): Promise<number> {
  const [, rate] = /at most ([\d,.]+)\/s/.exec((await summary.first().textContent()) ?? '') ?? []
  return Number(rate?.replaceAll(',', ''))
}
