import { readFileSync } from 'node:fs'

/** The installed version of each package, by name. */
export function versions(packages) {
  return Object.fromEntries(packages.map((name) => [name, versionOf(name)]))
}

function versionOf(name) {
  const manifest = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}
