import type { Page } from 'playwright-core'

/** Pauses the live view when it has something of each kind: before that, it waits with the pause. A list of keys comes last. */
export async function pauseLive(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'Top keys' }).getByRole('listitem').first().waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('status').getByText('Paused').waitFor()
}
