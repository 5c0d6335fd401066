import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startFastService } from './fast-service.js'
import { openPage } from './open-page.js'

const LEVELS = Array.from({ length: 1_000 }, (_, level) => `level-${String(level).padStart(3, '0')}`)
const WITHIN = { timeout: 10_000 }

test('one of a thousand levels is found by its name, and only the rows that are seen are drawn', async () => {
  const service = await startFastService(LEVELS)
  const page = await openPage(service.url)
  await service.pass(10)
  await page.getByRole('heading', { name: 'Levels (1,000)' }).waitFor()
  await page.getByRole('radio', { name: 'Name' }).check()
  await expect.poll(() => drawn(page), WITHIN).toContain(LEVELS[0])
  expect((await drawn(page)).length).toBeLessThan(40)
  await page.getByRole('region', { name: 'Levels, by their rates' }).press('End')
  await expect.poll(() => drawn(page), WITHIN).toContain(LEVELS[999])
  await page.getByRole('searchbox', { name: 'Filter levels' }).fill('L-77')
  await page.getByRole('heading', { name: 'Levels (10 of 1,000)' }).waitFor()
  // The table was scrolled to its end; the browser tells the page a little later that it no longer is.
  await expect.poll(() => drawn(page), WITHIN).toEqual(LEVELS.filter((name) => name.includes('-77')))
  await page.getByRole('searchbox', { name: 'Filter levels' }).fill('nothing has it')
  await page.getByText('No level has this text in its name or limits.').waitFor()
  await page.getByRole('searchbox', { name: 'Filter levels' }).fill('777')
  await page.getByRole('link', { name: 'level-777', exact: true }).click()
  await page.getByRole('heading', { name: 'Level level-777' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Level level-777' }).waitFor()
  await page.getByRole('heading', { name: 'Levels (1 of 1,000)' }).waitFor()
})

/** The levels whose rows are in the page. */
function drawn(page: Page): Promise<string[]> {
  return page.locator('.level-table a').allTextContents()
}
