// Installs sluice-service into an empty folder, as a user does: packs both packages and installs the two files. Fails at 40
// packages, if a package runs a script when it is installed, or if the command does not run. The time is printed but not
// bounded, because it depends on the network. Then it tries the installation: the links of its documentation, the
// files of the page, `import` and `require` of every entry point, and TypeScript with the settings of docs/modules.md.
// With `--long` it also runs Jest and ts-jest, compiles the adapters beside older and newer frameworks, and packs in a fresh clone.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkClone } from './installation/clone.mjs'
import { checkDocuments } from './installation/documents.mjs'
import { checkFrameworks } from './installation/frameworks.mjs'
import { checkJest } from './installation/jest.mjs'
import { checkLoading, checkSettings } from './installation/modules.mjs'
import { checkPage } from './installation/page.mjs'
import { fail, runNode, runNpm } from './run-command.mjs'
import { readManifest, root } from './workspaces.mjs'

const TOO_MANY = 40

const folder = mkdtempSync(join(tmpdir(), 'sluice-installation-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
const packed = join(folder, 'packed')
const user = join(folder, 'user')
for (const each of [packed, user]) mkdirSync(each)
npm(['pack', './packages/sluice', './packages/service', '--pack-destination', packed], root)
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

const said = [`${names.length} packages in ${seconds} s`, `${checkDocuments(user)} pages`]
said.push(`${checkPage(user)} files of the page`)
said.push(`${checkLoading(user)} entry points`)
const { '@types/node': types } = readManifest('.').devDependencies
npm(['install', `@types/node@${types}`, '--prefer-offline', '--no-audit', '--no-fund'], user)
said.push(`${checkSettings(user)} settings of TypeScript`)
if (process.argv.includes('--long')) {
  said.push(`${checkJest(folder, files)} ways of Jest`)
  said.push(`${checkFrameworks(folder, files)} sets of frameworks`)
  said.push(`${checkClone(folder)} files from a fresh clone`)
}
console.log(said.join(', '))

function npm(args, cwd) {
  const { ok: isDone, output: text } = runNpm(args, { cwd })
  if (!isDone) fail(`npm ${args[0]} failed\n${text}`)
}
