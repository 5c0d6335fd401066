import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  const { file, service } = await serveFile()
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
  await page.getByText(/^The file on disk cannot be used/).waitFor({ state: 'hidden' })
  expect(await text.locator('.underlined').count()).toBe(0)
})

test('Live says that the policy file cannot be used, and leads an admin to its problems', async () => {
  const { file, service } = await serveFile()
  const page = await openPage(`${service.url}/#token=${ADMIN_TOKEN}`)
  const viewer = await openPage(service.url)
  await page.getByText('Live', { exact: true }).first().waitFor()
  await writeFile(file, BAD.replace('1/s', 'soon'))
  for (const each of [page, viewer])
    await each.getByText('The policy file was changed and cannot be used: 2 problems.').waitFor()
  expect(await viewer.getByRole('link', { name: 'See the problems' }).count()).toBe(0)
  await page.getByRole('link', { name: 'See the problems' }).click()
  await page
    .getByText(/capacity must be/)
    .first()
    .waitFor()
  await writeFile(file, GOOD)
  await viewer.getByText(/^The policy file was changed/).waitFor({ state: 'hidden' })
})

async function serveFile() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-page-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'policy.yaml')
  await writeFile(file, GOOD)
  const service = await ServeProcess.start(['--policy', file, '--admin-token', ADMIN_TOKEN])
  onTestFinished(() => service[Symbol.asyncDispose]())
  return { file, service }
}
