import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { LiveFrame } from '../../../service/src/live/live-events.js'
import { openPage } from './open-page.js'
import { startPageService } from './page-service.js'
import { readFrames } from './read-frames.js'
import { startDemo } from './start-demo.js'

const LEVELS = [{ name: 'all', limit: { algorithm: 'token-bucket', capacity: 100, refill: '1/1h' } }]
const WITHIN = { timeout: 10_000 }

test('the demo fills the charts, and the page ends it and begins it again, for every page', async () => {
  const service = await startDemo()
  const reader = await readFrames(service.url)
  const page = await openPage(service.link)
  const other = await openPage(service.url)
  const last = () => reader.frames.slice(-2).map(decisions)
  await expect.poll(() => isOn(demo(page)), WITHIN).toBe(true)
  await expect.poll(() => last().every((each) => each > 0), WITHIN).toBe(true)
  await expect.poll(() => page.getByLabel('Now').textContent(), WITHIN).toMatch(/Allowed[1-9]/)
  await demo(page).click()
  await expect.poll(() => isOn(demo(other)), WITHIN).toBe(false)
  await expect.poll(last, WITHIN).toEqual([0, 0])
  await expect.poll(() => page.getByLabel('Now').textContent(), WITHIN).toMatch(/Allowed0\/sno decisions now/)
  await demo(other).press('Space')
  await expect.poll(() => isOn(demo(page)), WITHIN).toBe(true)
  await expect.poll(() => last().every((each) => each > 0), WITHIN).toBe(true)
})

test('with a policy of one’s own there is no demo and no switch', async () => {
  const { url } = await startPageService({ levels: LEVELS })
  const page = await openPage(url)
  await page.getByRole('heading', { name: 'Levels (1)' }).waitFor()
  expect(await demo(page).count()).toBe(0)
  expect(await page.getByText('This is the example policy').count()).toBe(0)
})

function demo(page: Page): Locator {
  return page.getByRole('switch', { name: 'Demo traffic' })
}

async function isOn(element: Locator): Promise<boolean> {
  return (await element.getAttribute('aria-checked')) === 'true'
}

function decisions({ allowed, denied }: LiveFrame): number {
  return allowed + denied
}
