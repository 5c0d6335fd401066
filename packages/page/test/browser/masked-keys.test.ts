import { expect, test } from 'vitest'
import { openPage } from './open-page.js'
import { ADMIN_TOKEN, startPageService } from './page-service.js'

const SECRET = 'acct_of_a_customer'
const REQUEST = { merchant: SECRET, method: 'POST', path: '/v1/charges' }

test('keys are masked on every view until the admin token is given, and then shown', async () => {
  const service = await startPageService()
  const page = await openPage(service.url)
  const recent = page.getByRole('link', { name: 'POST /v1/charges' }).first()
  await service.checkUntil(() => recent.isVisible(), REQUEST)
  await page
    .getByText(/^•••• /)
    .first()
    .waitFor()
  expect(await page.content()).not.toContain(SECRET)
  await recent.click()
  await page.getByText(/Its values are masked/).waitFor()
  await page.getByRole('article', { name: 'merchant' }).waitFor()
  expect(await page.content()).not.toContain(SECRET)
  await page.goto(`${service.url}/#live`)
  await page.getByRole('button', { name: 'Viewer' }).click()
  await page.getByLabel('Admin token', { exact: true }).fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Give it' }).click()
  await page.getByText(SECRET, { exact: true }).first().waitFor()
  expect(await page.getByText(/^•••• /).count()).toBe(0)
})
