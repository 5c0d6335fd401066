import type { Locator, Page } from 'playwright-core'
import { createLimiter, type Limit } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { PRESETS } from '../../src/lab/articles/presets.js'
import type { Traffic } from '../../src/lab/engine/simulate.js'
import { DraftProblem } from '../../src/lab/settings/draft.js'
import { limitOf } from '../../src/lab/settings/limit-draft.js'
import { trafficDraft, trafficOf } from '../../src/lab/settings/traffic-draft.js'
import { openPage } from './open-page.js'
import { startPageService } from './page-service.js'

const WITHIN = { timeout: 10_000 }
/** 200 requests, as lines of a log: ten at once each five seconds. */
const TRACE = Array.from({ length: 200 }, (_, i) => new Date(Date.UTC(2026, 0, 1) + 5_000 * Math.floor(i / 10)))
  .map((at) => `${at.toISOString()} GET /v1/users`)
  .join('\n')

test('every worked example shows what a limiter of the library decides', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#lab`)
  for (const { id, article, figures, limits, traffic } of PRESETS) {
    await page.getByLabel('Worked example').selectOption(id)
    await page.getByText(`From “${article}”.`).waitFor()
    const arrivals = usable(trafficOf(traffic))
    const decided = limits.map((limit) => decidedBy(usable(limitOf(limit)), arrivals))
    await expect.poll(() => totals(page), WITHIN).toEqual(decided)
    expect(await shownFigures(page)).toEqual(figures().map(({ what, article: theirs, ours }) => [what, theirs, ours]))
  }
})

test('a link with settings opens the lab with the same settings, in another browser too', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#lab`)
  const before = await totals(page)
  await capacity(page).fill('7')
  await page
    .getByLabel(/^Refill/)
    .first()
    .fill('2')
  await page.getByLabel('Unit of Refill').first().selectOption('/s')
  await page.getByRole('button', { name: 'Remove limit 2' }).click()
  await expect.poll(async () => (await totals(page)).length, WITHIN).toBe(before.length - 1)
  await expect.poll(() => limitsInLink(page), WITHIN).toHaveLength(before.length - 1)
  expect(limitsInLink(page)).toContain('token-bucket_7_2-s')
  const other = await openPage(page.url())
  await expect.poll(() => totals(other), WITHIN).toEqual(await totals(page))
  expect(await capacity(other).inputValue()).toBe('7')
})

test('a trace that is pasted in is decided as a limiter decides it', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#lab`)
  await page.getByLabel('They come').selectOption('trace')
  await page.getByLabel('A line for each request').fill(TRACE)
  const { limits } = PRESETS[0]
  const arrivals = usable(trafficOf(trafficDraft('trace', { trace: TRACE })))
  const decided = limits.map((limit) => decidedBy(usable(limitOf(limit)), arrivals))
  expect(decided[0]).toEqual([200, 180, 20])
  await expect.poll(() => totals(page), WITHIN).toEqual(decided)
  await expect.poll(() => page.url(), WITHIN).toContain('trace')
  await page.reload()
  await expect.poll(() => totals(page), WITHIN).toEqual(decided)
})

test('the curve, read by keys, is what a limiter has left at that time', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#lab`)
  await page.getByLabel('Worked example').selectOption('001-bucket')
  const { limits, traffic } = PRESETS.find(({ id }) => id === '001-bucket') ?? PRESETS[0]
  const arrivals = usable(trafficOf(traffic))
  const limit = usable(limitOf(limits[0]))
  await expect.poll(async () => (await totals(page))[0], WITHIN).toEqual(decidedBy(limit, arrivals))
  const slider = page.getByRole('slider', { name: /^Time in the charts of/ }).first()
  await slider.press('Home')
  await page
    .getByText(/ of 20 left$/)
    .first()
    .waitFor()
  const seen = new Set<number>()
  for (let step = 0; step < 40; step++) {
    const { ariaValueNow, ariaValueText } = await slider.evaluate(readSlider)
    const seconds = Number(ariaValueNow)
    const [, left] = /([\d.]+) of 20 left/.exec(ariaValueText ?? '') ?? []
    expect(Math.floor(Number(left)), `${seconds} s`).toBe(leftBy(limit, arrivals, seconds))
    seen.add(Number(left))
    await slider.press('ArrowRight')
  }
  expect(seen.size).toBeGreaterThan(10)
})

test('a number that no limit can have is told beside its field, and the other limits stay', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#lab`)
  const before = await totals(page)
  await capacity(page).fill('-3')
  await expect.poll(async () => (await totals(page)).length, WITHIN).toBe(before.length - 1)
  expect(await page.getByText(/-3/).first().isVisible()).toBe(true)
})

test('a trace that cannot be read is not called too long for a link', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#lab`)
  await page.getByLabel('They come').selectOption({ label: 'Your own trace' })
  await page.getByLabel('A line for each request').fill('hello')
  await page.getByText(/no time that the lab can read/).waitFor()
  expect(await page.getByText(/too long for a link/).count()).toBe(0)
})

/** The table of an article's figures: each with what the article says, and what the library decides. */
async function shownFigures(page: Page): Promise<readonly (readonly string[])[]> {
  // Its first text is the figure; a reason or a sign follows.
  return page
    .locator('.figures tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.firstChild?.textContent ?? '')))
}

/** The address follows the settings a moment later. */
function limitsInLink(page: Page): readonly string[] {
  const [, query] = page.url().split('?')
  const limits = [...new URLSearchParams(query)].filter(([name]) => /^l\d$/.test(name))
  return limits.map(([, limit]) => limit)
}

function capacity(page: Page): Locator {
  return page.getByLabel(/^Capacity/).first()
}

/** Arrived, admitted and denied of each limit, as the page shows them. */
async function totals(page: Page): Promise<readonly number[][]> {
  const table = page.getByRole('table', { name: 'What each limit did with the requests' })
  await table.waitFor()
  const rows = await table
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent ?? '')))
  return rows.map((cells) => cells.slice(0, 3).map((text) => Number.parseInt(text.replaceAll(',', ''), 10)))
}

/** The same of a limiter in memory, whose clock is moved from arrival to arrival. */
function decidedBy(limit: Limit, { originUs, atUs }: Traffic): readonly number[] {
  const clock = new ManualClock(originUs / 1_000)
  const limiter = createLimiter({ limit, clock })
  let admitted = 0
  for (const at of atUs) {
    clock.advance((originUs + at) / 1_000 - clock.now())
    if (limiter.tryAcquire('key').allowed) admitted++
  }
  return [atUs.length, admitted, atUs.length - admitted]
}

/** Both at once: they change together. */
function readSlider({ ariaValueNow, ariaValueText }: Element): Pick<Element, 'ariaValueNow' | 'ariaValueText'> {
  return { ariaValueNow, ariaValueText }
}

/** How many whole units a limiter has left after the arrivals up to a time. */
function leftBy(limit: Limit, { originUs, atUs }: Traffic, seconds: number): number {
  const clock = new ManualClock(originUs / 1_000)
  const limiter = createLimiter({ limit, clock })
  const goTo = (us: number) => clock.advance((originUs + us) / 1_000 - clock.now())
  for (const at of atUs.filter((each) => each <= seconds * 1e6)) {
    goTo(at)
    limiter.tryAcquire('key')
  }
  goTo(seconds * 1e6)
  return limiter.peek('key').remaining
}

function usable<Value>(value: Value | DraftProblem): Value {
  if (value instanceof DraftProblem) throw value
  return value
}
