// Compares each package.json with the built files: every target of `exports` and every entry of `files` exists, every
// public folder is exported, and all versions are equal.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'
import { fail } from './run-command.mjs'
import { publishedFolders, readManifest, root } from './workspaces.mjs'

const ofStores = ['redis', 'client', 'leased', 'shared', 'synced'].map((store) => `stores/${store}`)
const publicFolders = ['limits', ...ofStores, 'http', 'metrics', 'testing']

/** The problems of one package, given its package.json and a function that says whether a file of its folder exists. */
export function findExportProblems(manifest, exists) {
  const targets = targetsOf(manifest.exports)
  const listed = (manifest.files ?? []).filter((entry) => !/[!*]/.test(entry))
  const indexes = publicFolders.map((folder) => `./dist/${folder}/index.js`)
  return [
    ...targets.filter((target) => !exists(target)).map((target) => `exports ${target}, which does not exist`),
    ...listed.filter((entry) => !exists(entry)).map((entry) => `lists ${entry} in files, which does not exist`),
    ...indexes
      .filter((index) => exists(index) && !targets.includes(index))
      .map((index) => `has ${index}, which it does not export`),
  ]
}

/** The manifests whose version differs from the first one's. */
export function findVersionProblems([first, ...others]) {
  return others
    .filter(({ version }) => version !== first.version)
    .map(({ name, version }) => `${name} has version ${version}, ${first.name} has ${first.version}`)
}

function targetsOf(exports) {
  if (typeof exports === 'string') return [exports]
  return Object.values(exports ?? {}).flatMap(targetsOf)
}

if (isMain(import.meta.url)) {
  const folders = publishedFolders()
  const problems = folders.flatMap((folder) =>
    findExportProblems(readManifest(folder), (path) => existsSync(join(root, folder, path))).map(
      (problem) => `${folder}/package.json ${problem}`,
    ),
  )
  problems.push(...findVersionProblems(['.', ...folders].map(readManifest)))
  if (problems.length) fail(problems.join('\n'))
}
