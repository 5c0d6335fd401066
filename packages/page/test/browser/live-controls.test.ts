import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { LiveFrame } from '../../../service/src/live/live-events.js'
import { startFastService } from './fast-service.js'
import { openPage } from './open-page.js'
import { startPageService } from './page-service.js'
import { pauseLive } from './pause-live.js'
import { readFrames } from './read-frames.js'

const LEVELS = [{ name: 'merchant', key: ['merchant'], limit: { algorithm: 'unlimited' } }]
const HOUR = 3_600
/** How long each window is, and how far apart its points are, in seconds. */
const WINDOWS = [
  { name: '1m', seconds: 60, step: 1 },
  { name: '5m', seconds: 300, step: 1 },
  { name: '15m', seconds: 900, step: 10 },
  { name: '1h', seconds: HOUR, step: 10 },
]
const WITHIN = { timeout: 10_000 }

test('a pause stops what is shown and loses nothing of what comes meanwhile', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openPage(`${service.url}/#live?window=1m`)
  await service.check({ merchant: 'acct_1' }, 3)
  await pauseLive(page)
  expect(page.url()).toContain('paused=yes')
  const before = await shown(page)
  const reader = await readFrames(service.url)
  await service.check({ merchant: 'acct_2' }, 20)
  await reader.has(23)
  expect(await shown(page)).toEqual(before)
  const rateOf = ({ allowed, elapsedMs }: LiveFrame) => allowed / elapsedMs
  const busiest = reader.frames.reduce((best, frame) => (rateOf(frame) > rateOf(best) ? frame : best))
  await page.locator('body').press('Space')
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  await expect.poll(() => shown(page), WITHIN).not.toEqual(before)
  expect(page.url()).not.toContain('paused')
  const at = new Date(busiest.atMs).toISOString().slice(11, 19)
  await expect.poll(() => summary(page).textContent(), WITHIN).toMatch(new RegExp(`at most \\S+ at ${at}`))
})

test('a window is as long as its name says, and the address keeps it with the zoom and the pause', async () => {
  const service = await startFastService(['merchant'])
  const page = await openPage(service.url)
  const end = await service.pass(2 * HOUR)
  await page.getByText(end.toISOString().slice(11, 19), { exact: true }).first().waitFor()
  for (const { name, seconds, step } of WINDOWS) {
    await page.getByRole('radio', { name, exact: true }).check()
    await expect.poll(() => page.url(), WITHIN).toContain(`window=${name}`)
    // A line begins at the last point before its window.
    await expect.poll(() => Promise.resolve(length(page)).then((each) => each - seconds), WITHIN).toBeLessThan(2 * step)
    expect(await length(page)).toBeGreaterThan(seconds - 2 * step)
  }
  await page.getByRole('button', { name: 'Zoom in' }).click()
  await expect.poll(() => length(page), WITHIN).toBeLessThan(HOUR / 2 + 30)
  await page.getByRole('button', { name: 'Pause' }).click()
  const kept = page.url()
  expect(kept).toMatch(/window=1h&zoom=[\d.]+-[\d.]+&paused=yes/)
  await page.reload()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  await page.getByText('Zoom out to the window').waitFor({ state: 'attached' })
  expect(page.url()).toBe(kept)
  await page.locator('body').press('Escape')
  await page.getByRole('radio', { name: '1h', exact: true }).waitFor()
  expect(await page.getByRole('radio', { name: '1h', exact: true }).isChecked()).toBe(true)
  expect(page.url()).not.toContain('zoom')
})

test('a chart is zoomed by the mouse, and read and zoomed by keys', async () => {
  const service = await startFastService(['merchant'])
  const page = await openPage(`${service.url}/#live?window=5m`)
  const end = await service.pass(HOUR)
  await page.getByText(end.toISOString().slice(11, 19), { exact: true }).first().waitFor()
  const area = (await page.locator('.u-over').first().boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await page.mouse.move(area.x + area.width * 0.25, area.y + 40)
  await page.mouse.down()
  await page.mouse.move(area.x + area.width * 0.75, area.y + 60, { steps: 4 })
  await page.mouse.up()
  await expect.poll(() => length(page), WITHIN).toBeLessThan(160)
  expect(await length(page)).toBeGreaterThan(140)
  const chart = page.getByRole('group', { name: 'Decisions per second' })
  await chart.press('End')
  await expect.poll(() => spoken(page), WITHIN).toMatch(/^\d\d:\d\d:\d\d: Allowed .*\/s, Denied .*\/s, Degraded 0\/s$/)
  const last = await spoken(page)
  await chart.press('ArrowLeft')
  await expect.poll(() => spoken(page), WITHIN).not.toBe(last)
  await chart.press('+')
  await expect.poll(() => length(page), WITHIN).toBeLessThan(80)
  await chart.press('Escape')
  await expect.poll(() => length(page), WITHIN).toBeGreaterThan(290)
})

test('the slow first second of a service does not flatten its latencies, and the chart says what is above it', async () => {
  const service = await startFastService(['merchant'])
  const page = await openPage(`${service.url}/#live?window=1m`)
  await service.pass(50)
  await page.getByText('▲ up to 120 ms at 00:00:00').waitFor()
  await service.pass(50)
  await page.getByText('▲ up to').waitFor({ state: 'detached' })
})

/** The clock, and the figures of the last second. */
async function shown(page: Page): Promise<readonly (string | null)[]> {
  const clock = page.getByText(/^\d\d:\d\d:\d\d$/).first()
  return [await clock.textContent(), await page.getByLabel('Now').textContent(), await summary(page).textContent()]
}

function summary(page: Page): Locator {
  return page.getByText(/allowed and .* denied on average/).first()
}

/** What a chart has said aloud. */
function spoken(page: Page): Promise<string | null> {
  return page.locator('.live-decisions [aria-live]').textContent()
}

/** How many seconds the chart shows. */
async function length(page: Page): Promise<number> {
  const [, from, to] = /From (\S+) to (\S+):/.exec((await summary(page).textContent()) ?? '') ?? []
  const second = (clock: string) => Date.parse(`2026-01-01T${clock}Z`) / 1_000
  return second(to) - second(from)
}
