import { expect, test } from 'vitest'
import { findBarriers } from './find-barriers.js'
import { openPage } from './open-page.js'
import { ADMIN_TOKEN, startPageService } from './page-service.js'

test('the admin token is tried when it is given: a wrong one is refused in words, the right one is kept for the tab', async () => {
  const { url } = await startPageService()
  const page = await openPage(url, { expected: [/401/] })
  await page.getByRole('button', { name: 'Viewer' }).click()
  await page.getByLabel('Admin token', { exact: true }).fill('a-token-that-is-wrong')
  await page.getByRole('button', { name: 'Give it' }).click()
  expect(await page.getByRole('alert').textContent()).toMatch(/not the admin token/)
  await page.getByLabel('Admin token', { exact: true }).fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Give it' }).click()
  await page.getByRole('button', { name: 'Admin' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Admin' }).click()
  await page.getByRole('button', { name: 'Forget the token' }).click()
  await page.getByRole('button', { name: 'Viewer' }).waitFor()
})

test('a link gives the token, and the address shows it no longer', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#token=${ADMIN_TOKEN}`)
  await page.getByRole('button', { name: 'Admin' }).waitFor()
  expect(page.url()).not.toContain(ADMIN_TOKEN)
})

test('a link gives the token also to a tab that shows the page already', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#inspect`)
  await page.getByRole('button', { name: 'Viewer' }).waitFor()
  await page.evaluate((token) => {
    location.hash = `#token=${token}`
  }, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Admin' }).waitFor()
  await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor({ state: 'attached' })
  expect(page.url()).not.toContain(ADMIN_TOKEN)
})

test('a page with a token of before does not lock out the person who has the right one', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#token=a-token-of-before`, { expected: [/401/] })
  await page.getByText('The service refuses the token.').waitFor()
  await page.getByRole('button', { name: 'Token refused' }).waitFor()
  let tries = 0
  page.on('request', (request) => {
    if (request.headers().authorization !== undefined) tries++
  })
  await page.clock.install()
  await page.getByRole('link', { name: 'Inspect' }).click()
  await page
    .getByText(/not the admin token/)
    .first()
    .waitFor()
  for (let second = 0; second < 30; second++) await page.clock.runFor(1_000)
  expect(tries).toBeLessThan(5)
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  expect((await fetch(`${url}/v1/admin/top-keys`, { headers })).status).toBe(200)
  await page.getByRole('button', { name: 'Token refused' }).click()
  expect(await findBarriers(page)).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Forget the token' }).click()
  await page.getByRole('button', { name: 'Viewer' }).waitFor()
})

test('the theme of the system holds until a person chooses another, which is kept', async () => {
  const { url } = await startPageService()
  const page = await openPage(url, { theme: 'dark' })
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const dark = await background()
  await page.getByRole('button', { name: /^Theme: Auto/ }).click()
  await page.getByRole('button', { name: /^Theme: Light/ }).waitFor()
  const light = await background()
  expect(light).not.toBe(dark)
  await page.reload()
  await page.getByRole('button', { name: /^Theme: Light/ }).waitFor()
  expect(await background()).toBe(light)
})

test('a dark page is printed light, and is dark again after', async () => {
  const { url } = await startPageService()
  const page = await openPage(url, { theme: 'dark' })
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  await page.evaluate(() => {
    addEventListener('beforeprint', () => {
      document.title = getComputedStyle(document.documentElement).colorScheme
    })
  })
  await page.pdf()
  expect(await page.title()).toBe('light')
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark')
})

test('the button "back" of the browser leads to the view before', async () => {
  const { url } = await startPageService()
  const page = await openPage(url)
  await page.getByRole('link', { name: 'Lab' }).click()
  await page.getByRole('heading', { level: 1, name: 'Lab' }).waitFor({ state: 'attached' })
  expect(await page.title()).toBe('Lab · Sluice')
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor({ state: 'attached' })
})

test('another view is shown from its top', async () => {
  const { url } = await startPageService()
  const page = await openPage(`${url}/#lab`)
  await page.getByRole('heading', { name: 'Code to copy' }).scrollIntoViewIfNeeded()
  expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0)
  await page.getByRole('link', { name: 'Inspect', exact: true }).click()
  await page.getByRole('heading', { name: 'Policy file' }).waitFor()
  expect(await page.evaluate(() => scrollY)).toBe(0)
})
