import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { ServeProcess } from '../../../service/test/serve/serve-process.js'
import { openPage } from './open-page.js'
import { ADMIN_TOKEN } from './page-service.js'

const GOOD = `version: 1
levels:
  - name: merchant
    key: [merchant]
    limit: { algorithm: token-bucket, capacity: 10, refill: 1/s }
`
const BAD = GOOD.replace('capacity: 10', 'capacity: -4')

test('a policy file that is spoilt is shown with its problem underlined, until it is mended', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-page-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'policy.yaml')
  await writeFile(file, GOOD)
  const service = await ServeProcess.start(['--policy', file, '--admin-token', ADMIN_TOKEN])
  onTestFinished(() => service[Symbol.asyncDispose]())
  const page = await openPage(`${service.url}/#token=${ADMIN_TOKEN}`)
  await page.getByRole('link', { name: 'Inspect' }).click()
  const text = page.getByRole('region', { name: 'Text of policy.yaml' })
  await text.getByText('capacity').waitFor()
  expect(await text.locator('.underlined').count()).toBe(0)
  await writeFile(file, BAD)
  await page.getByText(/^The file on disk cannot be used/).waitFor()
  expect(await text.locator('.underlined').textContent()).toContain('-4')
  await page.getByRole('button', { name: 'Error in line 5' }).click()
  expect(await page.getByRole('list', { name: 'Problems of the policy' }).textContent()).toMatch(/capacity must be/)
  await writeFile(file, GOOD)
  await expect.poll(() => isMended(page), { timeout: 10_000 }).toBe(true)
  expect(await text.locator('.underlined').count()).toBe(0)
})

/** Opens the page anew: by itself it looks every five seconds. */
async function isMended(page: Page): Promise<boolean> {
  await page.reload()
  await page.getByRole('region', { name: 'Text of policy.yaml' }).waitFor()
  return !(await page.getByText(/^The file on disk cannot be used/).isVisible())
}
