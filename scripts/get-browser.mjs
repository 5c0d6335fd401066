// Chromium for the tests of the page and for its screenshots: the one on this system, or else Debian's, unpacked in
// node_modules. Without a browser the tests of the page fail, and no other.
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unpackedCommand, unpackPackage } from './unpack-packages.mjs'

const NAME = 'chromium'
/** The part of Chromium that needs no screen: it needs half of the libraries. */
const PROGRAM = 'usr/lib/chromium/chromium-headless-shell'
/** The others are fonts for a system without any. */
const PACKAGES = { package: 'chromium-headless-shell', more: ['fonts-dejavu-core'], program: PROGRAM }
const ON_THE_PATH = ['chromium', 'chromium-headless-shell', 'google-chrome']

const FLAGS = [
  // A container or root has no sandbox; the only pages are those of the tests.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The fonts of this system and the unpacked ones. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">root/usr/share/fonts</dir>
  <alias><family>sans-serif</family><default><family>DejaVu Sans</family></default></alias>
  <alias><family>monospace</family><default><family>DejaVu Sans Mono</family></default></alias>
  <cachedir prefix="relative">fonts-cache</cachedir>
</fontconfig>
`

/** Gets a browser, if this system has none. */
export function getBrowser() {
  if (findBrowser() !== undefined) return
  console.log('Getting Chromium ...')
  try {
    writeFileSync(fontsFile(unpackPackage(NAME, PACKAGES)), FONTS)
    if (findBrowser() === undefined) throw new Error(`${unpackedCommand(NAME, PROGRAM)} does not start.`)
  } catch (error) {
    console.error(`${error.message.trimEnd()}\nThe tests of the page in a browser will fail: put chromium on the PATH.`)
  }
}

/** How to launch the browser with playwright-core: `chromium.launch(browserLaunch())`. Throws if there is none. */
export function browserLaunch() {
  const executablePath = findBrowser()
  if (executablePath === undefined)
    throw new Error('there is no chromium on the PATH; on Debian, npm test gets it without installing it')
  const fonts = fontsFile(executablePath)
  const env = existsSync(fonts) ? { ...process.env, FONTCONFIG_FILE: fonts } : process.env
  return { executablePath, args: FLAGS, env }
}

function fontsFile(command) {
  return join(dirname(command), 'fonts.conf')
}

function findBrowser() {
  const unpacked = unpackedCommand(NAME, PROGRAM)
  const candidates = [...ON_THE_PATH, ...(existsSync(unpacked) ? [unpacked] : [])]
  const found = candidates.find((command) => spawnSync(command, ['--version']).status === 0)
  return found === undefined || found === unpacked ? found : pathOf(found)
}

/** playwright-core wants a path, not a name. */
function pathOf(name) {
  const folders = process.env.PATH.split(':')
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}
