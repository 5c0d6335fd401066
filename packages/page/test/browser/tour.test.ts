import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { tourSteps } from '../../src/tour/tour-steps.js'
import { findBarriers } from './find-barriers.js'
import { openPage } from './open-page.js'
import { startPageService } from './page-service.js'
import { startDemo } from './start-demo.js'

const LEVELS = [{ name: 'all', limit: { algorithm: 'token-bucket', capacity: 100, refill: '1/1h' } }]
const WITHIN = { timeout: 10_000 }

test('the tour leads from view to view, beside what each step is about, and is offered once', async () => {
  const { link } = await startDemo()
  const page = await openPage(link, { reducedMotion: true })
  await page.getByRole('button', { name: 'Take the tour' }).click()
  for (const [at, { view, places }] of tourSteps.entries()) {
    const step = page.getByRole('dialog', { name: places[0].title })
    await step.getByText(`${at + 1} of ${tourSteps.length}`).waitFor()
    expect((await page.title()).toLowerCase()).toBe(`${view} · sluice`)
    await expect.poll(() => isFocused(step), WITHIN).toBe(true)
    await expect.poll(() => misplaced(page, places[0].selector), WITHIN).toEqual([])
    // One button ends the tour: at its last step that is the one that goes on.
    expect(await step.getByRole('button', { name: /End|Close|Done/ }).count()).toBe(1)
    await step.getByRole('button', { name: at === tourSteps.length - 1 ? 'Done' : 'Next' }).click()
  }
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.reload()
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Take the tour' }).count()).toBe(0)
})

test('on a phone the tour goes back, has no barrier, and Escape ends it and returns the focus', async () => {
  const service = await startPageService()
  const page = await openPage(service.url, { reducedMotion: true, width: 375, height: 700 })
  const begin = page.getByRole('button', { name: 'Tour', exact: true })
  await begin.click()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('dialog', { name: tourSteps[1].places[0].title }).waitFor()
  await expect.poll(() => misplaced(page, tourSteps[1].places[0].selector), WITHIN).toEqual([])
  expect(await findBarriers(page)).toEqual([])
  await page.getByRole('button', { name: 'Back' }).click()
  await page.getByRole('dialog', { name: tourSteps[0].places[0].title }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('dialog').count(), WITHIN).toBe(0)
  expect(await isFocused(begin)).toBe(true)
})

test('with a policy of one’s own the tour ends at the commands, for there is no demo', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openPage(service.url, { reducedMotion: true })
  await page.getByRole('button', { name: 'Take the tour' }).click()
  for (const _ of tourSteps.slice(1)) await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('dialog', { name: 'Commands to copy' }).waitFor()
  await expect.poll(() => misplaced(page, '.commands-button'), WITHIN).toEqual([])
})

function isFocused(element: Locator): Promise<boolean> {
  return element.evaluate((each) => each === document.activeElement)
}

/** What is not where it should be: the popover in the window, and the ring around its place. */
function misplaced(page: Page, selector: string): Promise<readonly string[]> {
  return page.evaluate((wanted) => {
    const boxOf = (each: string) => document.querySelector(each)?.getBoundingClientRect()
    const [popover, ring, place] = ['.tour', '.tour-ring', wanted].map(boxOf)
    if (popover === undefined || ring === undefined || place === undefined) return ['a part is missing']
    const faults: string[] = []
    if (popover.left < 0 || popover.right > innerWidth) faults.push('the popover is beside the window')
    if (popover.top < 0 || popover.bottom > innerHeight) faults.push('the popover is above or below the window')
    const apart = [ring.left - place.left, ring.right - place.right, ring.top - place.top, ring.bottom - place.bottom]
    if (apart.some((each) => Math.abs(each) > 8)) faults.push(`the ring is ${apart.map(Math.round)} px away`)
    if (place.bottom < 0 || place.top > innerHeight) faults.push('the place is not seen')
    return faults
  }, selector)
}
