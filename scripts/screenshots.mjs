// `npm run screenshots`: takes the pictures of the page for the documentation, docs/pictures/*.png. It starts the service with
// its demo, and waits until the charts are full: a minute.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { browserLaunch } from './get-browser.mjs'
import { palettePng } from './palette-png.mjs'
import { fail } from './run-command.mjs'
import { setUp } from './set-up.mjs'
import { root } from './workspaces.mjs'

const FOLDER = join(root, 'docs/pictures')
const TRAFFIC_MS = 65_000
/** Frames, keys and requests of a new page come within this time. */
const SETTLE_MS = 4_000
const DESK = { width: 1440, height: 900 }
const PHONE = { width: 375, height: 812 }
const VIEWS = {
  live: '#live?window=1m',
  inspect: '#inspect?a.merchant=acct_cardtester&a.method=POST&a.path=%2Fv1%2Fcharges&cost=20',
  lab: '#lab',
}

setUp({ build: 'if changed', browser: true })
const service = startService()
try {
  const link = await service.link
  console.log(`The demo fills the charts for ${TRAFFIC_MS / 1_000} s ...`)
  await new Promise((resolve) => setTimeout(resolve, TRAFFIC_MS))
  await takePictures(link)
} finally {
  service.stop()
}

/** `link` resolves with the link that the service prints. It has the admin token behind `#`. */
function startService() {
  const command = join(root, 'packages/service/bin/sluice.js')
  const child = spawn(process.execPath, [command, 'serve', '--http', '127.0.0.1:0', '--log', 'off'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const link = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        said += text
        const [, found] = /Open (http\S+)\s/.exec(said) ?? []
        if (found !== undefined) resolve(found)
      })
  })
  child.once('exit', (code) => code !== null && fail(`the service has ended\n${said}`))
  return { link, stop: () => child.kill('SIGKILL') }
}

async function takePictures(link) {
  // Not installed yet when the scripts of a fresh clone are loaded.
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch(browserLaunch())
  for (const theme of ['light', 'dark'])
    for (const view of Object.keys(VIEWS)) await takePicture(browser, link, { view, theme, ...DESK })
  await takePicture(browser, link, { view: 'live', theme: 'light', name: 'live-phone', ...PHONE })
  await browser.close()
}

async function takePicture(browser, link, { view, theme, name = `${view}-${theme}`, ...viewport }) {
  // On a mobile device, scroll bars take no place.
  const look = { viewport, colorScheme: theme, isMobile: true, reducedMotion: 'reduce', timezoneId: 'UTC' }
  const profile = await browser.newContext(look)
  const page = await profile.newPage()
  // The first address gives the token, the second the view.
  await page.goto(link)
  await page.goto(new URL(VIEWS[view], link).href)
  await page.getByRole('button', { name: 'No, thanks' }).click()
  await page.waitForTimeout(SETTLE_MS)
  // A moment at which the merchant has spent its units.
  if (view === 'inspect') await page.getByRole('heading', { name: /^Denied/ }).waitFor()
  const png = await page.screenshot()
  await profile.close()
  writeFileSync(join(FOLDER, `${name}.png`), palettePng(await pixelsOf(browser, png)))
}

/** The browser can read its own pictures. */
async function pixelsOf(browser, png) {
  const page = await browser.newPage()
  const { width, height, text } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
    const picture = await createImageBitmap(new Blob([bytes]))
    const { width, height } = picture
    const drawing = new OffscreenCanvas(width, height).getContext('2d')
    drawing.drawImage(picture, 0, 0)
    const { data } = drawing.getImageData(0, 0, width, height)
    let text = ''
    for (let at = 0; at < data.length; at += 8_192) text += String.fromCharCode(...data.subarray(at, at + 8_192))
    return { width, height, text: btoa(text) }
  }, png.toString('base64'))
  await page.close()
  return { width, height, rgba: Buffer.from(text, 'base64') }
}
