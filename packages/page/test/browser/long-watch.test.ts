import type { CDPSession, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type FastService, startFastService } from './fast-service.js'
import { openPage } from './open-page.js'

/** The charts hold five minutes by the second and an hour by ten seconds: after an hour all of them are full. */
const HOUR = 3_600
const MB = 1_000_000
const SECONDS = 30

test('an hour more of a busy service takes no more memory, elements or listeners', async () => {
  const service = await startFastService(levelNames(10))
  const page = await openPage(service.url)
  const browser = await page.context().newCDPSession(page)
  await watch(page, service, HOUR)
  const before = await retained(browser)
  await watch(page, service, HOUR)
  const after = await retained(browser)
  // Five minutes by the second, and an hour by ten seconds.
  expect(await page.getByLabel('Now').getAttribute('data-retained-points')).toBe('660')
  expect(after.heapBytes - before.heapBytes).toBeLessThan(MB)
  expect(after.elements).toBeLessThanOrEqual(before.elements * 1.1)
  expect(after.listeners).toBeLessThanOrEqual(before.listeners * 1.1)
})

for (const levels of [10, 1_000])
  test(`a second of a busy service with ${levels} levels takes the main thread less than 200 ms`, async () => {
    const service = await startFastService(levelNames(levels))
    const page = await openPage(service.url)
    const browser = await page.context().newCDPSession(page)
    await watch(page, service, 300)
    const beganMs = await taskMs(browser)
    for (let second = 0; second < SECONDS; second++) await watch(page, service, 1)
    expect(((await taskMs(browser)) - beganMs) / SECONDS).toBeLessThan(200)
  })

function levelNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, level) => `level-${level}`)
}

/** Lets time pass until the page shows the end of it. */
async function watch(page: Page, service: FastService, seconds: number): Promise<void> {
  const end = await service.pass(seconds)
  await page.getByText(end.toISOString().slice(11, 19), { exact: true }).first().waitFor()
}

async function retained(browser: CDPSession): Promise<Record<'heapBytes' | 'elements' | 'listeners', number>> {
  // A first collection finalizes what a second one frees.
  for (const _ of [1, 2]) await browser.send('HeapProfiler.collectGarbage')
  const of = await metrics(browser)
  return { heapBytes: of('JSHeapUsedSize'), elements: of('Nodes'), listeners: of('JSEventListeners') }
}

/** How long the main thread has been busy. */
async function taskMs(browser: CDPSession): Promise<number> {
  const of = await metrics(browser)
  return of('TaskDuration') * 1_000
}

async function metrics(browser: CDPSession): Promise<(name: string) => number> {
  await browser.send('Performance.enable')
  const { metrics: all } = await browser.send('Performance.getMetrics')
  return (name) => all.find((metric) => metric.name === name)?.value ?? Number.NaN
}
