// Installs sluice-service into an empty folder, as a user does: packs both packages and installs the two files. Fails at 40
// packages, if a package runs a script when it is installed, or if the command does not run. The time is printed but not
// bounded, because it depends on the network.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail, runNode, runNpm } from './run-command.mjs'
import { readManifest, root } from './workspaces.mjs'

const TOO_MANY = 40

const folder = mkdtempSync(join(tmpdir(), 'sluice-installation-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const packed = join(folder, 'packed')
const user = join(folder, 'user')
for (const each of [packed, user]) mkdirSync(each)
for (const each of ['packages/sluice', 'packages/service'])
  npm(['pack', `./${each}`, '--pack-destination', packed], root)
writeFileSync(join(user, 'package.json'), '{ "private": true }')

const startedMs = performance.now()
const files = readdirSync(packed).map((name) => join(packed, name))
npm(['install', ...files, '--prefer-offline', '--no-audit', '--no-fund'], user)
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)

const { packages } = JSON.parse(readFileSync(join(user, 'package-lock.json'), 'utf8'))
const installed = Object.entries(packages).filter(([place]) => place !== '')
const names = installed.map(([place]) => place.replace('node_modules/', ''))
const withScript = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => place)
if (names.length >= TOO_MANY) fail(`${names.length} packages, which must be under ${TOO_MANY}: ${names.join(', ')}`)
if (withScript.length) fail(`run a script when they are installed: ${withScript.join(', ')}`)
const { ok, output } = runNode([join(user, 'node_modules/sluice-service/bin/sluice.js'), '--version'], { cwd: user })
if (!ok || output !== readManifest('packages/service').version) fail(`sluice --version of the installation:\n${output}`)
console.log(`${names.length} packages in ${seconds} s`)

function npm(args, cwd) {
  const { ok, output } = runNpm(args, { cwd })
  if (!ok) fail(`npm ${args[0]} failed\n${output}`)
}
