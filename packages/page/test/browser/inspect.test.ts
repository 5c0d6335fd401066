import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage } from './open-page.js'
import { ADMIN_TOKEN, type PageService, startPageService } from './page-service.js'

/** Units come back so slowly that none does during a test. */
const LEVELS = [
  { name: 'all', limit: { algorithm: 'token-bucket', capacity: 100, refill: '1/1h' } },
  { name: 'merchant', key: ['merchant'], limit: { algorithm: 'token-bucket', capacity: 10, refill: '1/1h' } },
  { name: 'daily', key: ['merchant'], limit: { algorithm: 'fixed-window', quota: 50, window: '1d' } },
  { name: 'reports', when: { path: '/reports' }, limit: { algorithm: 'token-bucket', capacity: 1, refill: '1/1h' } },
]
const MERCHANT = { merchant: 'acct_1' }
const WITHIN = { timeout: 10_000 }

test('a gauge has what the bucket has, and follows it', async () => {
  const service = await startPageService({ levels: LEVELS })
  await service.check(MERCHANT, 3)
  const page = await openPage(`${service.url}/#inspect?a.merchant=acct_1`)
  await expect.poll(() => gauges(page), WITHIN).toEqual(await buckets(service))
  expect(await gauges(page)).toEqual({ all: 97, merchant: 7, daily: 47 })
  await service.check(MERCHANT, 2)
  await expect.poll(() => gauges(page), WITHIN).toEqual({ all: 95, merchant: 5, daily: 45 })
  expect(await gauges(page)).toEqual(await buckets(service))
})

test('of attributes that are typed, the page says which level denies, when units are back, and why another one does not match', async () => {
  const service = await startPageService({ levels: LEVELS })
  expect(await service.check(MERCHANT, 12)).toBe(10)
  const page = await openPage(`${service.url}/#inspect`)
  await page.getByLabel('merchant', { exact: true }).fill('acct_1')
  await page.getByRole('heading', { name: 'Denied by merchant' }).waitFor()
  await page.getByText('merchant would have to give 1, and nothing is left.').waitFor()
  const card = page.getByRole('article', { name: 'merchant', exact: true })
  expect(await card.textContent()).toMatch(/0 of 10 left.*next unit in (60|59.9) min · whole again in 10 h$/)
  expect(await page.getByRole('region', { name: 'Levels that do not match (1)' }).textContent()).toMatch(
    /reports.*path/,
  )
})

test('a cost that cannot be used is not asked about, and the page does not say that it asks', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openPage(`${service.url}/#inspect?cost=-3`)
  await page.getByText('Waits for a cost that can be used.').waitFor()
  expect(await page.getByText('Asking the service').count()).toBe(0)
})

test('a refused token can be forgotten where it is told', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openPage(`${service.url}/#token=another-token-of-the-tests`, { expected: [/401/] })
  await page.goto(`${service.url}/#inspect?a.merchant=acct_1`)
  await page.getByRole('button', { name: 'Forget the token' }).click()
  await page.getByRole('heading', { name: 'Allowed' }).waitFor()
})

test('a request that was denied before the page was opened says so, and what would be decided now', async () => {
  const service = await startPageService({ levels: LEVELS })
  await service.check(MERCHANT, 11)
  await service.policy.reset(MERCHANT)
  const page = await openPage(service.url)
  await page
    .getByRole('link', { name: /denied/ })
    .first()
    .click()
  await page.getByRole('heading', { name: /^Denied by merchant at / }).waitFor()
  await page.getByText('Now it would pass, and take 1 from each of all, merchant and daily.').waitFor()
})

test('an override that is set on the page is in force for the next request, until it is removed', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openAsAdmin(service)
  const card = await openChanges(page, 'merchant', 'Override')
  await card.getByLabel('Capacity').fill('3')
  await card.getByLabel('Refill').fill('1/1h')
  await confirm(card, 'Override')
  await card.getByText('is in force').waitFor()
  expect(await service.check(MERCHANT, 5)).toBe(3)
  expect(await service.check({ merchant: 'acct_2' }, 5)).toBe(5)
  await page.getByRole('button', { name: /^Remove the override of/ }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText(/^The override of .* is removed\.$/).waitFor()
  expect((await service.policy.overrides()).length).toBe(0)
})

test('an override of the page ends when a person says, and then the limit of the policy is in force', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openAsAdmin(service)
  const card = await openChanges(page, 'merchant', 'Override')
  await card.getByLabel('Capacity').fill('3')
  await card.getByLabel('Until').selectOption('a time')
  const end = new Date(Math.ceil(Date.now() / 60_000 + 60) * 60_000).toISOString()
  await card.getByLabel('Time', { exact: true }).fill(end.slice(0, 16))
  await confirm(card, 'Override')
  await expect.poll(() => endOf(service), WITHIN).toBe(Date.parse(end))
  await expect.poll(() => gauges(page), WITHIN).toEqual({ all: 100, merchant: 3, daily: 50 })
  await page.getByText(`then 1/h, until ${end.slice(11, 19)}`).waitFor()
  await card.getByLabel('Until').selectOption('10 minutes')
  await confirm(card, 'Override')
  await expect.poll(() => endOf(service), WITHIN).toBeLessThanOrEqual(Date.now() + 600_000)
  expect(await endOf(service)).toBeGreaterThan(Date.now() + 500_000)
  const [{ level, key, limits }] = await service.policy.overrides()
  await service.policy.override(level, key, limits[0], { until: Date.now() + 1_000 })
  await page.getByText('None is in force.').waitFor()
  await expect.poll(() => gauges(page), WITHIN).toEqual({ all: 100, merchant: 10, daily: 50 })
  expect(await service.check(MERCHANT, 5)).toBe(5)
})

test('what is typed wrong is told beside its field, before the page asks for a confirmation', async () => {
  const service = await startPageService({ levels: LEVELS })
  const page = await openAsAdmin(service)
  const wrong = async (change: string, label: string, text: string) => {
    const card = await openChanges(page, 'merchant', change)
    await card.getByLabel(label).fill(text)
    await card.getByRole('button', { name: `${change}…` }).click()
    const field = card.getByLabel(label)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await card.getByRole('button', { name: change, exact: true }).count()).toBe(0)
    const told = await field.getAttribute('aria-describedby')
    return page.locator(`[id="${told}"]`).textContent()
  }
  expect(await wrong('Set', 'Units left', 'abc')).toBe(
    "Remaining must be a whole number from 0 to 10, the quota, got 'abc'.",
  )
  expect(await wrong('Block', 'For how long', '1y')).toBe("Duration must be in ms, s, m, h or d, got '1y'.")
  expect(await wrong('Override', 'Refill', '2/min')).toBe("Refill must be written '2/m', got '2/min'.")
})

test('without an admin token, the page does not ask for one', async () => {
  const service = await startPageService({ levels: LEVELS, values: { 'admin-token': undefined } })
  const page = await openPage(`${service.url}/#inspect?a.merchant=acct_1`)
  await page.getByText('Start the service with --admin-token to see the text of the policy.').waitFor()
  const card = page.getByRole('article', { name: 'merchant', exact: true })
  await card.getByRole('button', { name: 'Change merchant' }).click()
  await card.getByText('Start the service with --admin-token to change limits.').waitFor()
})

test('a block and a reset that are made on the page take effect at once', async () => {
  const service = await startPageService({ levels: LEVELS })
  await service.check(MERCHANT, 4)
  const page = await openAsAdmin(service)
  let card = await openChanges(page, 'merchant', 'Block')
  await confirm(card, 'Block')
  await card.getByText(/^Blocked /).waitFor()
  expect(await service.check(MERCHANT)).toBe(0)
  await page.getByRole('heading', { name: 'Denied by merchant' }).waitFor()
  card = await openChanges(page, 'merchant', 'Reset')
  await confirm(card, 'Reset')
  await card.getByText(/^Reset /).waitFor()
  await expect.poll(() => gauges(page), WITHIN).toEqual({ all: 96, merchant: 10, daily: 46 })
  expect(await service.check(MERCHANT)).toBe(1)
})

async function openAsAdmin({ url }: PageService): Promise<Page> {
  const page = await openPage(`${url}/#token=${ADMIN_TOKEN}`)
  await page.goto(`${url}/#inspect?a.merchant=acct_1`)
  return page
}

/** The card of a level, with one of its changes open. */
async function openChanges(page: Page, level: string, change: string) {
  const card = page.getByRole('article', { name: level, exact: true })
  await card.waitFor()
  const opener = card.getByRole('button', { name: new RegExp(`^(Change|Close) ${level}$`) })
  if ((await opener.getAttribute('aria-expanded')) === 'false') await opener.click()
  await card.getByText(change, { exact: true }).click()
  return card
}

async function endOf({ policy }: PageService): Promise<number | undefined> {
  const [override] = await policy.overrides()
  return override?.untilMs
}

async function confirm(card: ReturnType<Page['getByRole']>, verb: string): Promise<void> {
  await card.getByRole('button', { name: `${verb}…` }).click()
  await card.getByRole('button', { name: verb, exact: true }).click()
}

/** What the gauges show, by level. */
async function gauges(page: Page): Promise<Readonly<Record<string, number>>> {
  const shown = await page
    .getByRole('meter')
    .evaluateAll((meters) =>
      meters.map((meter) => [
        meter.closest('article')?.querySelector('h3')?.textContent ?? '',
        Number(meter.getAttribute('aria-valuenow')),
      ]),
    )
  return Object.fromEntries(shown)
}

/** What the policy says of the same request. */
async function buckets({ policy }: PageService): Promise<Readonly<Record<string, number>>> {
  const { levels } = await policy.peek(MERCHANT)
  return Object.fromEntries(levels.map(({ name, decision }) => [name, decision.remaining]))
}
