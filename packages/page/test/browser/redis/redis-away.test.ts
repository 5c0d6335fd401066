import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { COUNTS_OF_A_LEVEL, type LiveFrame } from '../../../../service/src/live/live-events.js'
import { findBarriers } from '../find-barriers.js'
import { openPage } from '../open-page.js'
import { startPageService } from '../page-service.js'
import { readFrames } from '../read-frames.js'

const LEVELS = [
  { name: 'all', limit: { algorithm: 'token-bucket', capacity: 10_000, refill: '1/1h' } },
  { name: 'merchant', key: ['merchant'], limit: { algorithm: 'token-bucket', capacity: 10_000, refill: '1/1h' } },
]
const MERCHANT = { merchant: 'acct_1' }
const ALONE = 15
const WITHIN = { timeout: 10_000 }

test('while Redis is away the page says so, counts what is decided without it, and sees it return', async () => {
  const redis = await start()
  const service = await startPageService({ levels: LEVELS, values: { store: redis.url, 'deadline-ms': '2000' } })
  const page = await openPage(`${service.url}/#live?window=1m&level=merchant`)
  const reader = await readFrames(service.url)
  expect(await service.check(MERCHANT, 5)).toBe(5)
  await page.getByText('Redis answers.').waitFor()
  await reader.has(5)
  expect(sum(reader.frames, ({ degraded }) => degraded)).toBe(0)
  await redis.stop()
  expect(await service.check(MERCHANT, ALONE)).toBe(ALONE)
  await page.getByText('Decisions are made without the store.').waitFor()
  await page.getByText('! does not answer').waitFor()
  await reader.has(5 + ALONE)
  expect(sum(reader.frames, ({ degraded }) => degraded)).toBe(ALONE)
  expect(sum(reader.frames, ({ levels }) => levels[COUNTS_OF_A_LEVEL + 3])).toBe(ALONE)
  // The service itself calls the store too.
  await expect.poll(() => figure(page, 'calls answered without Redis'), WITHIN).toBeGreaterThanOrEqual(ALONE)
  // The page draws the last frame a moment after the reader has it.
  await expect.poll(() => degradedRows(page), WITHIN).toEqual(degradedRates(reader.frames))
  await start(redis.port)
  const isWell = async () => {
    await service.check(MERCHANT)
    return page.getByText('✓ well').isVisible()
  }
  await expect.poll(isWell, { timeout: 15_000 }).toBe(true)
  await page.getByText('Decisions are made without the store.').waitFor({ state: 'hidden' })
})

test('while Redis is away, a gauge of Inspect does not look full, and the page says who decides', async () => {
  const redis = await start()
  const service = await startPageService({ levels: LEVELS, values: { store: redis.url, 'deadline-ms': '2000' } })
  const page = await openPage(`${service.url}/#inspect?a.merchant=acct_1`)
  await page.getByRole('meter', { name: /^merchant/ }).waitFor()
  await redis.stop()
  const card = page.getByRole('article', { name: 'merchant', exact: true })
  await card.getByText('What is left is not known').waitFor()
  await card.getByText('The store does not answer: everything is allowed.').waitFor()
  expect(await page.getByRole('meter').count()).toBe(0)
  expect(await findBarriers(page)).toEqual([])
  await page.getByText('A request like this would pass now, and take nothing.').waitFor()
  await start(redis.port)
  await page.getByRole('meter', { name: /^merchant/ }).waitFor()
})

test('a service that leases shows its leases', async () => {
  const redis = await start()
  const values = { store: redis.url, lease: 'true', 'deadline-ms': '5000' }
  const service = await startPageService({ levels: LEVELS, values })
  const page = await openPage(service.url)
  await page.getByRole('heading', { name: 'Leases' }).waitFor()
  expect(await figure(page, 'leased keys')).toBe(0)
  const isLeased = async () => {
    await Promise.all(Array.from({ length: 8 }, () => service.check(MERCHANT, 20)))
    return figure(page, 'leased keys')
  }
  // The key of the merchant, and the one of all.
  await expect.poll(isLeased, { timeout: 15_000 }).toBe(2)
  expect(await figure(page, 'units spent')).toBeGreaterThan(0)
})

/** Starts a server that ends with the test. */
async function start(port?: number): Promise<RedisServer> {
  const redis = await startRedis({ ...(port !== undefined && { port }) })
  onTestFinished(() => redis.stop())
  return redis
}

/** A number of the store, as the page shows it. */
async function figure(page: Page, name: string): Promise<number> {
  const text = await page.getByText(name, { exact: true }).locator('xpath=following-sibling::dd').textContent()
  return Number.parseFloat((text ?? '').replaceAll(',', ''))
}

function sum(frames: readonly LiveFrame[], countOf: (frame: LiveFrame) => number): number {
  return frames.reduce((total, frame) => total + countOf(frame), 0)
}

/** The rates of degraded decisions of one level by the second, those that are not zero. */
function degradedRates(frames: readonly LiveFrame[]): readonly string[] {
  const rates = frames.map(({ levels, elapsedMs }) => (levels[COUNTS_OF_A_LEVEL + 3] * 1_000) / elapsedMs)
  return rates.filter((rate) => rate > 0).map((rate) => rate.toFixed(0))
}

/** The same as the table under the chart says it, the oldest first. */
async function degradedRows(page: Page): Promise<readonly string[]> {
  const open = page.getByText('Show as table').first()
  await open.click()
  const cells = page.getByRole('table', { name: /^Decisions of merchant per second/ }).locator('tr td:nth-child(4)')
  const texts = await cells.allTextContents()
  await open.click()
  const rates = texts.map((text) => Number.parseFloat(text.replaceAll(',', '')))
  return rates
    .filter((rate) => rate > 0)
    .reverse()
    .map((rate) => rate.toFixed(0))
}
