// Makes a fresh clone ready, so that every npm script works right after `git clone`. A stamp in node_modules holds a hash
// of the installed packages; `npm ci` runs only if it no longer matches. The stamp is removed before an installation and
// written after it, so that an interrupted installation is done again. The record that npm itself leaves in node_modules is
// treated in the same way, and is as good as the stamp if it agrees with package-lock.json.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, buildIfChanged } from './build.mjs'
import { getBrowser } from './get-browser.mjs'
import { getProxies } from './get-proxies.mjs'
import { installRedis } from './install-redis.mjs'
import { isInstalled } from './is-installed.mjs'
import { fail, runNpm } from './run-command.mjs'
import { packageFolders, readManifest, root } from './workspaces.mjs'

const stamp = join(root, 'node_modules', '.sluice-set-up')
const recordOfNpm = join(root, 'node_modules', '.package-lock.json')

/** `build` is `'always'`, or `'if changed'` to skip the build of sources that are built already. */
export function setUp({
  build: wanted,
  redis: wantsRedis = false,
  proxies: wantsProxies = false,
  browser: wantsBrowser = false,
}) {
  checkNode()
  install()
  if (wantsRedis) installRedis()
  if (wantsProxies) getProxies()
  if (wantsBrowser) getBrowser()
  if (wanted === 'always') build()
  if (wanted === 'if changed') buildIfChanged()
}

function checkNode() {
  const wanted = readManifest('.').engines.node.replace('>=', '')
  const [wantedMajor, wantedMinor] = wanted.split('.').map(Number)
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return
  fail(`Sluice needs Node ${wanted} or newer; this is ${process.versions.node}.`)
}

function install() {
  const wanted = hashOfWanted()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  if (npmHasInstalled()) return writeFileSync(stamp, wanted)
  console.log('Installing packages ...')
  for (const file of [stamp, recordOfNpm]) rmSync(file, { force: true })
  const exact = npmInstall('ci')
  // npm ci also refuses a lockfile that lacks packages for other platforms; npm install accepts it.
  const lenient = exact.ok ? exact : npmInstall('install', '--no-save')
  if (!lenient.ok) fail(`${exact.output}\n${lenient.output}\nThe packages could not be installed.`)
  if (!exact.ok) console.log('npm ci refused package-lock.json, so npm install was used; run it by hand to see why.')
  writeFileSync(stamp, wanted)
}

/** False also if the record cannot be read: then the packages are installed. */
function npmHasInstalled() {
  try {
    const [lock, installed] = [join(root, 'package-lock.json'), recordOfNpm].map((file) =>
      JSON.parse(readFileSync(file, 'utf8')),
    )
    const manifests = packageFolders().map((folder) => [folder, readManifest(folder)])
    return isInstalled(lock, installed, { '': readManifest('.'), ...Object.fromEntries(manifests) })
  } catch {
    return false
  }
}

function npmInstall(...command) {
  return runNpm([...command, '--include=dev', '--no-audit', '--no-fund'])
}

function hashOfWanted() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`)
  hash.update(readFileSync(join(root, 'package-lock.json')))
  for (const folder of ['.', ...packageFolders()]) {
    const { name, bin, dependencies, devDependencies, optionalDependencies, peerDependencies } = readManifest(folder)
    hash.update(JSON.stringify([name, bin, dependencies, devDependencies, optionalDependencies, peerDependencies]))
  }
  return hash.digest('hex')
}
