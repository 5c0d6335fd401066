// Runtimes for `npm run test:runtimes`, from the npm registry: Node.js of any version, Bun and Deno. Each is installed once, in
// a folder of node_modules, and no script of its package runs.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fail, runNpm } from '../run-command.mjs'
import { root } from '../workspaces.mjs'

const { platform, arch } = process

/** The command of Node.js with this version: `'22'` is the newest 22. */
export function getNode(version) {
  const system = platform === 'win32' ? 'win' : platform
  const name = `node-${system}-${arch}`
  const folder = install(`node-${version}`, `${name}@${version}`)
  const installed = join(folder, 'node_modules', name)
  // Headers and manuals: two thirds of the size.
  for (const each of ['include', 'share']) rmSync(join(installed, each), { recursive: true, force: true })
  return join(installed, 'bin/node')
}

export function getBun() {
  const folder = install('bun', 'bun@1')
  const name = `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`
  return join(folder, 'node_modules', name, 'bin/bun')
}

const OF_DENO = {
  'linux-x64': '@deno/linux-x64-glibc/deno',
  'linux-arm64': '@deno/linux-arm64-glibc/deno',
  'darwin-x64': '@deno/darwin-x64/deno',
  'darwin-arm64': '@deno/darwin-arm64/deno',
}

/** Deno is a development dependency of the library, because `npm test` runs it too. */
export function getDeno() {
  const { resolve } = createRequire(
    createRequire(join(root, 'packages/sluice/package.json')).resolve('deno/package.json'),
  )
  return resolve(OF_DENO[`${platform}-${arch}`] ?? 'no package of Deno for this machine')
}

function install(name, wanted) {
  const folder = join(root, 'node_modules/.cache/sluice-runtimes', name)
  const isDone = join(folder, '.installed')
  if (existsSync(isDone)) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  console.log(`Getting ${wanted} ...`)
  const { ok, output } = runNpm(
    ['install', wanted, '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'],
    {
      cwd: folder,
    },
  )
  if (!ok) fail(`${output}\n${wanted} could not be installed.`)
  writeFileSync(isDone, '')
  return folder
}
