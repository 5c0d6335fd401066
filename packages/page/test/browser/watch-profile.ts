import type { BrowserContext } from 'playwright-core'

/** Problems of the pages of a profile. The list grows as the pages run. */
export function watchProfile(profile: BrowserContext, origin: string): readonly string[] {
  const problems: string[] = []
  // Chromium also logs what a Content-Security-Policy forbids, and answers of 400 and above.
  profile.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} ${message.location().url}`)
  })
  profile.on('weberror', (thrown) => problems.push(`thrown: ${thrown.error().message}`))
  profile.on('request', (request) => {
    const { origin: asked, protocol, href } = new URL(request.url())
    if (asked !== origin && protocol !== 'data:' && protocol !== 'blob:') problems.push(`elsewhere: ${href}`)
  })
  return problems
}
