import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { browserLaunch } from '../../../../scripts/get-browser.mjs'

/** A person's screen and settings. */
export interface ProfileOptions {
  /** Default 1440. */
  readonly width?: number
  /** Default 900. */
  readonly height?: number
  /** Default `light`. */
  readonly theme?: 'light' | 'dark'
  /** Default false. */
  readonly reducedMotion?: boolean
}

/** The longest that an action of a test waits for the page. */
const LONGEST_WAIT_MS = 15_000

let launched: Promise<Browser> | undefined

/** A new profile of the browser, which has kept nothing. It is closed when the test has finished. */
export async function browserProfile(options: ProfileOptions = {}): Promise<BrowserContext> {
  const { width = 1440, height = 900, theme = 'light', reducedMotion = false } = options
  // The test files of a worker share the browser, which ends with the worker.
  launched ??= chromium.launch(browserLaunch())
  const browser = await launched
  const profile = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  profile.setDefaultTimeout(LONGEST_WAIT_MS)
  onTestFinished(() => profile.close())
  return profile
}
