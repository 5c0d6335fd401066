import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { commands } from '../../src/shell/commands.js'
import { findBarriers } from './find-barriers.js'
import { openPage } from './open-page.js'
import { startPageService } from './page-service.js'

const BIN = fileURLToPath(new URL('../../../../node_modules/.bin', import.meta.url))
const LEVELS = [
  { name: 'merchant', key: ['merchant'], limit: { algorithm: 'token-bucket', capacity: 10, refill: '1/1h' } },
]
/** A shell would run it, or end its text. */
const MERCHANT = `it's $(exit 1) "quoted" \\ \`exit 2\``

test('the dialog shows commands for this service, and Escape closes it', async () => {
  const { url } = await startPageService({ levels: LEVELS })
  const page = await openPage(url)
  const opener = page.getByRole('button', { name: 'Commands' })
  await opener.click()
  const dialog = page.getByRole('dialog', { name: 'Commands to copy' })
  expect(await dialog.locator('pre').allTextContents()).toEqual(commands(url, {}).map(({ text }) => text))
  expect(await findBarriers(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  expect(await opener.evaluate((each) => each === document.activeElement)).toBe(true)
})

test('a command that is copied runs in a shell, about the request that is inspected', async () => {
  const service = await startPageService({ levels: LEVELS })
  const asked = new URLSearchParams({ 'a.merchant': MERCHANT })
  const page = await openPage(`${service.url}/#inspect?${asked}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Commands' }).click()
  const left = async () => (await service.policy.peek({ merchant: MERCHANT })).levels[0].decision.remaining
  expect(JSON.parse(await run(await copied(page, 0))).allowed).toBe(true)
  expect(await left()).toBe(9)
  expect(await run(await copied(page, 1))).toContain('Allowed')
  expect(await left()).toBe(8)
})

/** Presses the button beside a command, and reads what it has copied. */
async function copied(page: Page, place: number): Promise<string> {
  const command = page.locator('.command').nth(place)
  await command.getByRole('button', { name: 'Copy' }).click()
  await command.getByText('Copied').waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

/** Runs a command as a person in a clone does. */
async function run(command: string): Promise<string> {
  const env = { ...process.env, PATH: `${BIN}:${process.env.PATH}` }
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env })
  return stdout
}
