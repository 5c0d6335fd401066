import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectNoSidewaysScrolling } from './expect-no-sideways-scrolling.js'
import { findBarriers } from './find-barriers.js'
import { findUnreachable } from './find-unreachable.js'
import { openPage } from './open-page.js'
import { ADMIN_TOKEN, startPageService } from './page-service.js'
import { pauseLive } from './pause-live.js'

const REQUEST = { merchant: 'acct_1', method: 'POST', path: '/v1/charges' }

interface View {
  readonly hash: string
  /** What the view has when it has something of each kind. */
  readonly shows: (page: Page) => Locator
  /** Opens more of it. */
  readonly more?: (page: Page) => Promise<void>
}

const recent = (page: Page) => page.getByRole('link', { name: /POST \/v1\/charges/ })
// A list that moves on takes the focus with it.
const VIEWS: Readonly<Record<string, View>> = {
  live: { hash: 'live', shows: recent, more: pauseLive },
  'live, one level': { hash: 'live?level=merchant', shows: recent, more: pauseLive },
  inspect: {
    hash: `inspect?${new URLSearchParams(Object.entries(REQUEST).map(([name, value]) => [`a.${name}`, value]))}`,
    shows: (page) => page.getByRole('meter', { name: /^charges/ }),
    more: async (page) => {
      await page.getByRole('button', { name: 'Change charges' }).click()
      await page.getByText('Override', { exact: true }).click()
      await page.getByLabel('Refill').waitFor()
    },
  },
  lab: { hash: 'lab', shows: (page) => page.getByRole('table', { name: /^What each limit did/ }) },
}

// To open a view takes longer than most checks, so one page has them all.
test.each(Object.entries(VIEWS))(
  '%s: no barrier light or dark, Tab leads everywhere, nothing scrolls sideways',
  async (_, view) => {
    const page = await open(view)
    expect(await findUnreachable(page)).toEqual([])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await findBarriers(page)).toEqual([])
    }
    await expectNoSidewaysScrolling(page)
  },
)

/** Opens a view as an admin, and lets requests come until it has something of each kind. */
async function open({ hash, shows, more }: View): Promise<Page> {
  const service = await startPageService()
  const page = await openPage(`${service.url}/#token=${ADMIN_TOKEN}`)
  await page.goto(`${service.url}/#${hash}`)
  await service.checkUntil(() => shows(page).first().isVisible(), REQUEST)
  await more?.(page)
  return page
}
