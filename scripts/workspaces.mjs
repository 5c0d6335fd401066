// The repository's root and its packages, in the order in which they are built: the library first, because every other
// package imports it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

export function readManifest(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

/** Folders of the packages, relative to the root: `packages/sluice` first, the others by name. */
export function packageFolders() {
  const names = readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(root, 'packages', name, 'package.json')),
  )
  const others = names.filter((name) => name !== 'sluice').sort()
  return ['sluice', ...others].map((name) => `packages/${name}`)
}

/** The packages that npm users install. */
export function publishedFolders() {
  return packageFolders().filter((folder) => !readManifest(folder).private)
}
