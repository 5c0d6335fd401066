import type { Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { browserProfile, type ProfileOptions } from './browser-profile.js'
import { watchProfile } from './watch-profile.js'

interface PageOptions extends ProfileOptions {
  /** Problems that the test is about. */
  readonly expected?: readonly RegExp[]
}

/**
 * Opens an address in a profile of its own. The test fails if the page throws, logs an error, breaks its
 * Content-Security-Policy or asks another origin for anything.
 */
export async function openPage(url: string, { expected = [], ...options }: PageOptions = {}): Promise<Page> {
  const profile = await browserProfile(options)
  const problems = watchProfile(profile, new URL(url).origin)
  onTestFinished(() => {
    const unexpected = problems.filter((problem) => !expected.some((each) => each.test(problem)))
    if (unexpected.length > 0) throw new Error(`the page has problems:\n${unexpected.join('\n')}`)
  })
  const page = await profile.newPage()
  const answer = await page.goto(url)
  if (!answer?.ok()) throw new Error(`${url} answers ${answer?.status()}`)
  return page
}
