import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectNoSidewaysScrolling } from './expect-no-sideways-scrolling.js'
import { startFastService } from './fast-service.js'
import { openPage } from './open-page.js'
import { ADMIN_TOKEN, startPageService } from './page-service.js'

/** Each would set `window.harmed` if the page took it for HTML, or break what keeps texts by name. */
const TEXTS = [
  '<img src=x onerror="window.harmed=1">',
  '"><script>window.harmed=1</script>',
  "javascript:window.harmed=1//'",
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '\u202Egnp.exe\u202C',
  '$& $1 %00 \\u0000 {{1+1}}',
]
const LONG = `key-${'0123456789'.repeat(1_000)}`
const LONGEST_NAME = 'x'.repeat(64)
/** A policy takes no other hostile names. */
const LEVELS = ['__proto__', 'constructor', 'hasOwnProperty', LONGEST_NAME].map((name) => ({
  name,
  key: ['merchant', 'path'],
  limit: { algorithm: 'token-bucket', capacity: 2, refill: '1/1h' },
}))
const WITHIN = { timeout: 10_000 }

test('keys and paths are texts on the live view, however they look', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openPage(`${service.url}/#token=${ADMIN_TOKEN}`)
  await page.getByRole('heading', { name: `Levels (${LEVELS.length})` }).waitFor()
  const waiting = new Set(TEXTS)
  const isShown = async () => {
    for (const text of waiting) {
      const link = page
        .getByRole('link')
        .filter({ hasText: text })
        .filter({ hasText: `/${text}` })
      if ((await link.count()) > 0) waiting.delete(text)
    }
    return waiting.size === 0
  }
  await service.checkUntil(isShown, ...TEXTS.map((text) => ({ merchant: text, path: `/${text}` })))
  await expectNoHarm(page)
  for (const { name } of LEVELS) {
    await page.goto(`${service.url}/#live?level=${name}`)
    await page.getByRole('heading', { name: `Level ${name}` }).waitFor()
    await expectNoHarm(page)
  }
})

test('a key of 10,000 characters is shown without pushing anything aside', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openPage(`${service.url}/#token=${ADMIN_TOKEN}`)
  await service.check({ merchant: LONG, path: '/' }, 5)
  await expect.poll(() => page.locator('main').textContent(), WITHIN).toContain(LONG.slice(0, 60))
  await expectNoHarm(page)
})

test('names of levels are texts on the live view, even those that no policy takes', async () => {
  const names = [...TEXTS, LONGEST_NAME]
  const service = await startFastService(names)
  const page = await openPage(service.url)
  await service.pass(10)
  for (const name of names) {
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name: `Level ${name}` }).waitFor()
    await expectNoHarm(page)
  }
})

test('attributes, their names and errors are texts on the view that inspects, however they look', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openPage(`${service.url}/#token=${ADMIN_TOKEN}`, { expected: [/ 400 /] })
  for (const text of [...TEXTS, LONG]) {
    const asked = new URLSearchParams({ 'a.merchant': text, [`a.${text}`]: text, 'a.path': `/${text}`, level: text })
    await page.goto(`${service.url}/#inspect?${asked}`)
    await expect.poll(() => page.getByLabel('merchant', { exact: true }).inputValue(), WITHIN).toBe(text)
    await page
      .getByText(/^Allowed|^No answer/)
      .first()
      .waitFor()
    await expectNoHarm(page)
  }
})

async function expectNoHarm(page: Page): Promise<void> {
  expect(await page.evaluate(() => 'harmed' in window)).toBe(false)
  expect(await page.locator('main img, main script').count()).toBe(0)
  await expectNoSidewaysScrolling(page)
}
