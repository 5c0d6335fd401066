/** Types of get-browser.mjs for the tests. */

/** How to launch the browser with playwright-core: `chromium.launch(browserLaunch())`. Throws if there is none. */
export function browserLaunch(): {
  readonly executablePath: string
  readonly args: string[]
  readonly env: Record<string, string>
}
