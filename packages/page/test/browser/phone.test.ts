import { expect, test } from 'vitest'
import { findSmall } from './find-small.js'
import { openPage } from './open-page.js'
import { ADMIN_TOKEN, startPageService } from './page-service.js'

const PHONE = { width: 375, height: 812 }
const WITHIN = { timeout: 10_000 }
const BUCKET = { algorithm: 'token-bucket', capacity: 10_000, refill: '10000/s' }

test.each(['live', 'inspect?a.merchant=acct_1', 'lab'])('on a phone a finger hits every control: %s', async (view) => {
  const service = await startPageService()
  const page = await openPage(`${service.url}/#token=${ADMIN_TOKEN}`, PHONE)
  await page.goto(`${service.url}/#${view}`)
  if (view === 'live') await page.getByRole('link', { name: 'charges', exact: true }).waitFor()
  if (view.startsWith('inspect')) await page.getByRole('button', { name: 'Change merchant' }).click()
  expect(await findSmall(page)).toEqual([])
})

test('on a phone the table of a thousand levels is as wide as its panel, and says a limit whole', async () => {
  const levels = Array.from({ length: 1_000 }, (_, place) => ({ name: `level-${place}-of-a-team`, limit: BUCKET }))
  const { url } = await startPageService({ levels })
  const page = await openPage(`${url}/#live`, PHONE)
  await page.getByRole('heading', { name: 'Levels (1,000)' }).waitFor()
  const isCut = (text: string) =>
    page
      .getByText(text)
      .first()
      .evaluate((element) => element.scrollWidth > element.clientWidth)
  await expect.poll(() => isCut('level-0-of-a-team'), WITHIN).toBe(false)
  expect(await isCut('token bucket: 10,000 at once, then 10,000/s')).toBe(false)
})
