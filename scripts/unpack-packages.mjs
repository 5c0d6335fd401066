// Programs of Debian and Ubuntu for tests, without installing them: the packages, and those of their libraries that this
// system lacks, are downloaded and unpacked in a folder of node_modules. Nothing is written outside of it, no package starts
// a server of its own, and no password is needed.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from './workspaces.mjs'

const DOWNLOAD_MS = 300_000

/** The command of an unpacked program: `unpackedCommand('nginx', 'usr/sbin/nginx')`. */
export function unpackedCommand(name, program) {
  return join(folderOf(name), basename(program))
}

/**
 * Unpacks a package, unless it is there already, and returns the command that starts its program. Throws if it cannot be had.
 * @param {string} name of the folder
 * @param {{ package: string, more?: string[], program: string, sources?: string }} wanted `program` is a path inside the
 * package; `more` are packages that it does not depend on; `sources` are the lines of a sources.list, if the system's own have
 * no such package
 */
export function unpackPackage(name, wanted) {
  const command = unpackedCommand(name, wanted.program)
  if (!existsSync(command)) unpack(folderOf(name), wanted)
  return command
}

function folderOf(name) {
  return join(root, 'node_modules/.cache', `sluice-${name}`)
}

/** Works in a folder of another name and renames it last, so that a download that was cut short is done again. */
function unpack(folder, { package: wanted, more = [], program, sources }) {
  const made = `${folder}.part`
  rmSync(made, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
  for (const each of ['lists/partial', 'archives/partial', 'root']) mkdirSync(join(made, each), { recursive: true })
  download(made, [...more, wanted], sources)
  const packages = readdirSync(join(made, 'archives')).filter((each) => each.endsWith('.deb'))
  for (const each of packages) run('dpkg-deb', ['-x', join(made, 'archives', each), join(made, 'root')])
  const command = join(made, basename(program))
  writeFileSync(command, startScript(join(made, 'root'), program))
  chmodSync(command, 0o755)
  for (const each of ['lists', 'archives']) rmSync(join(made, each), { recursive: true })
  renameSync(made, folder)
}

function download(made, wanted, sources) {
  const install = ['install', '-y', '--no-install-recommends', '--download-only', ...wanted]
  const own = [...aptOptions({ 'Dir::State::lists': join(made, 'lists') }), ...sourceOptions(made, sources)]
  const apt = (more, args) => run('apt-get', [...cacheOptions(made), ...more, ...args])
  if (sources === undefined) {
    try {
      return apt([], install)
    } catch {
      // The system's lists of packages are missing or old.
    }
  }
  apt(own, ['update'])
  apt(own, install)
}

function cacheOptions(made) {
  return aptOptions({
    'Dir::Cache': made,
    'Dir::Cache::archives': join(made, 'archives'),
    // Nothing of the system is written, so none of its locks is needed, nor the user that apt downloads as.
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': '',
    // Without a network, give up soon.
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '20',
  })
}

function sourceOptions(made, sources) {
  if (sources === undefined) return []
  const file = join(made, 'sources.list')
  writeFileSync(file, sources)
  return aptOptions({ 'Dir::Etc::sourcelist': file, 'Dir::Etc::sourceparts': '/dev/null' })
}

function aptOptions(settings) {
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
}

/** Becomes the program (`exec`), so that a signal to its process id reaches it. */
function startScript(unpacked, program) {
  const libraries = ['usr/lib', 'lib'].flatMap((path) => {
    const inside = existsSync(join(unpacked, path)) ? readdirSync(join(unpacked, path)) : []
    return inside
      .filter((each) => each.endsWith('-linux-gnu'))
      .flatMap((each) => [`${path}/${each}`, ...librariesInside(unpacked, `${path}/${each}`)])
      .map((each) => `$here/root/${each}`)
  })
  return [
    '#!/bin/sh',
    'here=$(dirname "$(readlink -f "$0")")',
    `export LD_LIBRARY_PATH="${[...libraries, '$LD_LIBRARY_PATH'].join(':')}"`,
    `exec "$here/root/${program}" "$@"`,
    '',
  ].join('\n')
}

/** Folders of libraries that a library looks up by their installed path, such as `pulseaudio`. */
function librariesInside(unpacked, path) {
  const folders = readdirSync(join(unpacked, path), { withFileTypes: true }).filter((each) => each.isDirectory())
  const inside = folders.map(({ name }) => `${path}/${name}`)
  return inside.filter((each) => readdirSync(join(unpacked, each)).some((name) => name.includes('.so')))
}

function run(program, args) {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: DOWNLOAD_MS })
  if (status !== 0) throw new Error(`${program} ${args.at(-1)} failed.\n${error?.message ?? stderr}`)
}
