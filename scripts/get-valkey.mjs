// Valkey for `npm run test:servers`. Debian 12 has it only in its backports, so the packages are downloaded with apt's
// own lists and caches in a folder of node_modules and unpacked there. Nothing is installed, no source is added to the
// system, and no password is needed.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from './run-command.mjs'
import { root } from './workspaces.mjs'

const MIRROR = 'http://deb.debian.org/debian'
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
const DOWNLOAD_MS = 300_000
const folder = join(root, 'node_modules/.cache/sluice-valkey')
const command = join(folder, 'valkey-server')

/** The command that starts Valkey: the one on the PATH, or one that is downloaded once and kept. */
export function getValkey() {
  if (spawnSync('valkey-server', ['--version']).status === 0) return 'valkey-server'
  if (!existsSync(command)) download()
  return command
}

/** Works in a folder of another name and renames it last, so that a download that was cut short is done again. */
function download() {
  console.log('Downloading valkey-server ...')
  const made = `${folder}.part`
  rmSync(made, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
  for (const each of ['lists/partial', 'archives/partial', 'root']) mkdirSync(join(made, each), { recursive: true })
  const suite = codename()
  const from = `deb [signed-by=${KEYRING}] ${MIRROR}`
  writeFileSync(join(made, 'sources.list'), `${from} ${suite} main\n${from} ${suite}-backports main\n`)
  const apt = (...args) => run('apt-get', [...aptOptions(made), ...args])
  apt('update')
  // The server and those of its libraries that this system lacks.
  apt('install', '-y', '--no-install-recommends', '--download-only', `valkey-server/${suite}-backports`)
  const packages = readdirSync(join(made, 'archives')).filter((name) => name.endsWith('.deb'))
  for (const name of packages) run('dpkg-deb', ['-x', join(made, 'archives', name), join(made, 'root')])
  writeFileSync(join(made, 'valkey-server'), startScript(join(made, 'root')))
  chmodSync(join(made, 'valkey-server'), 0o755)
  rmSync(join(made, 'lists'), { recursive: true })
  renameSync(made, folder)
}

function aptOptions(made) {
  const settings = {
    'Dir::Etc::sourcelist': join(made, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(made, 'lists'),
    'Dir::Cache': made,
    'Dir::Cache::archives': join(made, 'archives'),
    // Nothing of the system is written, so none of its locks is needed, nor the user that apt downloads as.
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': '',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
}

/** Becomes the server (`exec`), so that a signal to its process id reaches it. */
function startScript(unpacked) {
  const libraries = ['usr/lib', 'lib'].flatMap((path) => {
    const inside = existsSync(join(unpacked, path)) ? readdirSync(join(unpacked, path)) : []
    return inside.filter((name) => name.endsWith('-linux-gnu')).map((name) => `$here/root/${path}/${name}`)
  })
  return [
    '#!/bin/sh',
    'here=$(dirname "$(readlink -f "$0")")',
    `export LD_LIBRARY_PATH="${[...libraries, '$LD_LIBRARY_PATH'].join(':')}"`,
    'exec "$here/root/usr/bin/valkey-server" "$@"',
    '',
  ].join('\n')
}

function codename() {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  const isDebian = /^ID=debian$/m.test(release)
  const name = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1]
  if (!isDebian || !name) fail('Put valkey-server 8 on the PATH: it is downloaded only on Debian.')
  return name
}

function run(program, args) {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: DOWNLOAD_MS })
  if (status !== 0) fail(`${program} ${args.at(-1)} failed.\n${error?.message ?? stderr}`)
}
